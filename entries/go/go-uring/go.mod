module wirebench/entries/go/go-uring

go 1.20

require (
	github.com/godzie44/go-uring v0.0.0-20250501163612-d16a9e597639
	wirebench/entries/go/shared v0.0.0
)

require (
	github.com/libp2p/go-sockaddr v0.1.1 // indirect
	golang.org/x/sys v0.0.0-20210921065528-437939a70204 // indirect
)

replace wirebench/entries/go/shared => ../shared
