module wirebench/entries/go/netpoll

go 1.20

require (
	github.com/cloudwego/netpoll v0.7.2
	wirebench/entries/go/shared v0.0.0
)

require (
	github.com/bytedance/gopkg v0.1.1 // indirect
	github.com/cloudwego/gopkg v0.1.4 // indirect
)

replace wirebench/entries/go/shared => ../shared
