// The standard library of Go: one goroutine per connection over package net.
//
// It is deliberately not net/http: it only looks for the end of each request head, and for the
// work in its target in the scenarios that sync.go has.
package main

import (
	"errors"
	"net"
	"os"
	"runtime"
	"time"

	"wirebench/entries/go/shared"
)

type serveFunction func(*net.TCPConn, time.Duration) error

// choose sets the number of threads and returns what serves each connection.
func choose(options shared.Options) serveFunction {
	switch {
	case options.Variant == "":
		runtime.GOMAXPROCS(options.Workers)
		return newServe(options.Scenario)
	case options.Variant == "published" && options.Scenario == "echo":
		// GOMAXPROCS keeps its default, the number of CPUs.
		return servePublished
	default:
		shared.Refuse("unknown variant %q for scenario %q", options.Variant, options.Scenario)
		return nil
	}
}

// newServe makes what the connections of a scenario share, and returns what serves each of them.
func newServe(scenario string) serveFunction {
	switch scenario {
	case "hello":
		return serveHello
	case "hello-timeout":
		return serveHelloTimeout
	case "echo":
		return serveEcho
	case "mutex":
		return newServeMutex()
	case "channel":
		return newServeChannel()
	case "skewed":
		return serveSkewed
	default:
		return serveHandoff
	}
}

func serveHello(connection *net.TCPConn, _ time.Duration) error {
	var counter shared.HeadCounter
	buffer := make([]byte, shared.ReadBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for heads := counter.Count(buffer[:length]); heads > 0; {
			var output []byte
			output, heads = shared.Replies(heads)
			if _, err := connection.Write(output); err != nil {
				return err
			}
		}
	}
}

func serveHelloTimeout(connection *net.TCPConn, timeout time.Duration) error {
	var counter shared.HeadCounter
	buffer := make([]byte, shared.ReadBytes)
	for {
		if err := connection.SetReadDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for heads := counter.Count(buffer[:length]); heads > 0; {
			var output []byte
			output, heads = shared.Replies(heads)
			if err := writeTimeout(connection, output, timeout); err != nil {
				return err
			}
		}
	}
}

// writeTimeout goes on after a deadline that passed in the middle: some bytes are progress.
func writeTimeout(connection *net.TCPConn, output []byte, timeout time.Duration) error {
	for len(output) > 0 {
		if err := connection.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		length, err := connection.Write(output)
		if err != nil && (length == 0 || !errors.Is(err, os.ErrDeadlineExceeded)) {
			return err
		}
		output = output[length:]
	}
	return nil
}

// serveEcho reads and writes by itself: io.Copy would splice through a pipe per connection.
func serveEcho(connection *net.TCPConn, _ time.Duration) error {
	buffer := make([]byte, shared.ReadBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		if _, err := connection.Write(buffer[:length]); err != nil {
			return err
		}
	}
}

// accept never returns; package net has set TCP_NODELAY on what it accepts.
func accept(listener *net.TCPListener, serve serveFunction, timeout time.Duration) {
	for {
		connection, err := listener.AcceptTCP()
		if err != nil {
			// Out of file descriptors or memory: the next accept would fail at once as well.
			time.Sleep(shared.AcceptRetry)
			continue
		}
		go func() {
			defer connection.Close()
			// An error is how every connection ends: the end of the stream, a reset, a timeout.
			_ = serve(connection, timeout)
		}()
	}
}

func main() {
	options := shared.ParseOptions(
		"hello", "hello-timeout", "echo", "mutex", "channel", "skewed", "handoff")
	serve := choose(options)
	listener, err := net.ListenTCP(options.Network(), net.TCPAddrFromAddrPort(options.Address))
	shared.Check(err)
	shared.Announce(listener.Addr())
	accept(listener, serve, options.Timeout)
}
