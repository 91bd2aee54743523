// fasthttp in Go: an HTTP server of its own over package net, with goroutines and requests reused.
//
// It is deliberately without a router: fasthttp has none, and one handler answers every path.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

const (
	body        = "Hello world!"
	readBytes   = 16 * 1024
	acceptRetry = 50 * time.Millisecond
)

type options struct {
	server  *fasthttp.Server
	address netip.AddrPort
	workers int
}

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
		time.Sleep(acceptRetry)
	}
}

func hello(request *fasthttp.RequestCtx) {
	request.SetContentType("text/plain")
	request.SetBodyString(body)
}

// newServer makes a server without time limits if timeout is zero.
func newServer(timeout time.Duration) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:      hello,
		ReadTimeout:  timeout,
		WriteTimeout: timeout,
		IdleTimeout:  timeout,
		// The longest head that is taken, too.
		ReadBufferSize: readBytes,
	}
}

func parseNumber(text, name string, least, most int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < least || value > most {
		return 0, fmt.Errorf("%s must be a number from %d to %d, not %q", name, least, most, text)
	}
	return value, nil
}

func parseOptions(arguments []string) (options, error) {
	var parsed options
	if len(arguments) < 4 || len(arguments) > 5 {
		return parsed, errors.New("usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
	}
	timeout := 5 * time.Second
	if len(arguments) == 5 {
		timeoutMs, err := parseNumber(arguments[4], "TIMEOUT_MS", 1, math.MaxInt32)
		if err != nil {
			return parsed, err
		}
		timeout = time.Duration(timeoutMs) * time.Millisecond
	}
	switch arguments[0] {
	case "hello":
		parsed.server = newServer(0)
	case "hello-timeout":
		parsed.server = newServer(timeout)
	default:
		return parsed, fmt.Errorf("unknown scenario %q", arguments[0])
	}
	host, err := netip.ParseAddr(arguments[1])
	if err != nil {
		return parsed, fmt.Errorf("HOST must be an IPv4 or IPv6 address: %w", err)
	}
	port, err := parseNumber(arguments[2], "PORT", 0, math.MaxUint16)
	if err != nil {
		return parsed, err
	}
	parsed.address = netip.AddrPortFrom(host, uint16(port))
	parsed.workers, err = parseNumber(arguments[3], "WORKERS", 1, 1024)
	return parsed, err
}

func main() {
	options, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(options.workers)
	// `tcp` would turn 0.0.0.0 into both families; HOST says which one is meant.
	network := "tcp4"
	if options.address.Addr().Is6() {
		network = "tcp6"
	}
	// Plain TCP: newer versions of Go would try Multipath TCP first.
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), network, options.address.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening", listener.Addr())
	fmt.Fprintln(os.Stderr, options.server.Serve(patientListener{listener}))
	os.Exit(1)
}
