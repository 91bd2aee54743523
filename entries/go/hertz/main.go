// Hertz in Go: its router over CloudWeGo netpoll, which is its default transport on Linux.
package main

import (
	"context"
	"net"
	"runtime"
	"time"

	"github.com/cloudwego/hertz/pkg/app"
	"github.com/cloudwego/hertz/pkg/app/server"
	"github.com/cloudwego/hertz/pkg/common/hlog"
	"github.com/cloudwego/netpoll"
	"wirebench/entries/go/shared"
)

// keepAlive is practically unlimited: the default closes a silent connection after three minutes,
// and zero closes it after a request.
const keepAlive = 24 * time.Hour

func hello(_ context.Context, request *app.RequestContext) {
	request.String(200, shared.Body)
}

func main() {
	options := shared.ParseOptions("hello")
	runtime.GOMAXPROCS(options.Workers)
	shared.Check(netpoll.Configure(netpoll.Config{PollerNum: options.Workers}))
	hlog.SetLevel(hlog.LevelFatal)
	listener, err := net.Listen(options.Network(), options.Address.String())
	shared.Check(err)
	engine := server.New(
		server.WithListener(listener),
		server.WithDisablePrintRoute(true),
		server.WithIdleTimeout(keepAlive),
	)
	engine.GET("/", hello)
	shared.Announce(listener.Addr())
	// Not Spin, which waits for connections when it is told to end.
	shared.Check(engine.Run())
}
