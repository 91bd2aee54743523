module server

go 1.19
