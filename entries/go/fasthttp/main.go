// fasthttp in Go: an HTTP server of its own over package net, with goroutines and requests reused.
//
// It is deliberately without a router: fasthttp has none, and one handler answers every path.
package main

import (
	"context"
	"errors"
	"net"
	"runtime"
	"time"

	"github.com/valyala/fasthttp"
	"wirebench/entries/go/shared"
)

// patientListener keeps the server alive: fasthttp ends at the first accept that fails.
type patientListener struct {
	net.Listener
}

func (listener patientListener) Accept() (net.Conn, error) {
	for {
		connection, err := listener.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return connection, err
		}
		// Out of file descriptors or memory: the next accept would fail at once as well.
		time.Sleep(shared.AcceptRetry)
	}
}

func hello(request *fasthttp.RequestCtx) {
	request.SetContentType("text/plain")
	request.SetBodyString(shared.Body)
}

// newServer makes a server without time limits if timeout is zero.
func newServer(timeout time.Duration) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:      hello,
		ReadTimeout:  timeout,
		WriteTimeout: timeout,
		IdleTimeout:  timeout,
		// The longest head that is taken, too.
		ReadBufferSize: shared.ReadBytes,
	}
}

func main() {
	options := shared.ParseOptions("hello", "hello-timeout")
	runtime.GOMAXPROCS(options.Workers)
	// Plain TCP: newer versions of Go would try Multipath TCP first.
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), options.Network(), options.Address.String())
	shared.Check(err)
	shared.Announce(listener.Addr())
	shared.Check(newServer(options.Timeout).Serve(patientListener{listener}))
}
