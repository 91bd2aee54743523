module wirebench/entries/go/shared

go 1.19
