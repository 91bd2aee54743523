module wirebench/entries/go/net

go 1.19
