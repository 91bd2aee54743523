module wirebench/entries/go/net-http

go 1.19

require wirebench/entries/go/shared v0.0.0

replace wirebench/entries/go/shared => ../shared
