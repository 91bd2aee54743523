module wirebench/entries/go/net-http

go 1.19
