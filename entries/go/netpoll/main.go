// CloudWeGo netpoll in Go: pollers read ahead, and a pooled goroutine runs while there is input.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// echo, because netpoll reads on while a client does not read.
package main

import (
	"context"
	"runtime"

	"github.com/cloudwego/netpoll"
	"wirebench/entries/go/shared"
)

type counterKey struct{}

// prepare gives a connection what its requests share; netpoll hands it to each of them.
func prepare(netpoll.Connection) context.Context {
	return context.WithValue(context.Background(), counterKey{}, new(shared.HeadCounter))
}

// serveHello takes all that was read so far; netpoll calls it again as long as there is input.
func serveHello(ctx context.Context, connection netpoll.Connection) error {
	counter := ctx.Value(counterKey{}).(*shared.HeadCounter)
	reader, writer := connection.Reader(), connection.Writer()
	input, err := reader.Next(reader.Len())
	if err != nil {
		return err
	}
	heads := counter.Count(input)
	if err := reader.Release(); err != nil {
		return err
	}
	for heads > 0 {
		var output []byte
		output, heads = shared.Replies(heads)
		if _, err := writer.WriteBinary(output); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	options := shared.ParseOptions("hello")
	runtime.GOMAXPROCS(options.Workers)
	shared.Check(netpoll.Configure(netpoll.Config{PollerNum: options.Workers}))
	listener, err := netpoll.CreateListener(options.Network(), options.Address.String())
	shared.Check(err)
	loop, err := netpoll.NewEventLoop(serveHello, netpoll.WithOnPrepare(prepare))
	shared.Check(err)
	shared.Announce(listener.Addr())
	shared.Check(loop.Serve(listener))
}
