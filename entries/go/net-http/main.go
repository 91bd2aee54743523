// The HTTP server of the standard library of Go: one goroutine per connection, its own parser.
//
// It is deliberately not package net by hand, which is the entry go/net, and it has no echo.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"time"
)

const body = "Hello world!"

type options struct {
	server  *http.Server
	address netip.AddrPort
	workers int
}

func hello(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Content-Type", "text/plain")
	// An error is how a connection ends that is reset or times out: there is nobody to tell.
	_, _ = io.WriteString(writer, body)
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
	listener, err := net.Listen(network, options.address.String())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening", listener.Addr())
	fmt.Fprintln(os.Stderr, options.server.Serve(listener))
	os.Exit(1)
}
