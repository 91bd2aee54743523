// The HTTP server of the standard library of Go: one goroutine per connection, its own parser.
//
// It is deliberately not package net by hand, which is the entry go/net, and it has no echo.
package main

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"wirebench/entries/go/shared"
)

func hello(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Content-Type", "text/plain")
	// An error is how a connection ends that is reset or times out: it needs no report.
	_, _ = io.WriteString(writer, shared.Body)
}

// newServer makes a server without time limits if timeout is zero.
func newServer(timeout time.Duration) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/", hello)
	return &http.Server{
		Handler:      mux,
		ReadTimeout:  timeout,
		WriteTimeout: timeout,
		IdleTimeout:  timeout,
	}
}

func main() {
	options := shared.ParseOptions("hello", "hello-timeout")
	runtime.GOMAXPROCS(options.Workers)
	listener, err := net.Listen(options.Network(), options.Address.String())
	shared.Check(err)
	shared.Announce(listener.Addr())
	shared.Check(newServer(options.Timeout).Serve(listener))
}
