// The standard library of Go: one goroutine per connection over package net.
//
// It is deliberately not net/http: it only looks for the end of each request head.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"time"
)

const (
	reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 12\r\n\r\nHello world!"
	terminator      = "\r\n\r\n"
	repliesPerWrite = 256
	readBytes       = 16 * 1024
	acceptRetry     = 50 * time.Millisecond
)

var replyBlock = bytes.Repeat([]byte(reply), repliesPerWrite)

type options struct {
	serve   func(*net.TCPConn, time.Duration) error
	address netip.AddrPort
	workers int
	timeout time.Duration
}

// headCounter counts ends of heads; a terminator may be split over any number of reads.
type headCounter struct {
	seen int
}

func (counter *headCounter) count(input []byte) int {
	heads, seen := 0, counter.seen
	for i := 0; i < len(input); i++ {
		if seen == 0 {
			skip := bytes.IndexByte(input[i:], '\r')
			if skip < 0 {
				break
			}
			i += skip
		}
		switch input[i] {
		case terminator[seen]:
			seen++
		case '\r':
			seen = 1
		default:
			seen = 0
		}
		if seen == len(terminator) {
			seen = 0
			heads++
		}
	}
	counter.seen = seen
	return heads
}

func serveHello(connection *net.TCPConn, _ time.Duration) error {
	var counter headCounter
	buffer := make([]byte, readBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for heads := counter.count(buffer[:length]); heads > 0; {
			batch := smaller(heads, repliesPerWrite)
			if _, err := connection.Write(replyBlock[:batch*len(reply)]); err != nil {
				return err
			}
			heads -= batch
		}
	}
}

func serveHelloTimeout(connection *net.TCPConn, timeout time.Duration) error {
	var counter headCounter
	buffer := make([]byte, readBytes)
	for {
		if err := connection.SetReadDeadline(time.Now().Add(timeout)); err != nil {
			return err
		}
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for heads := counter.count(buffer[:length]); heads > 0; {
			batch := smaller(heads, repliesPerWrite)
			if err := writeTimeout(connection, replyBlock[:batch*len(reply)], timeout); err != nil {
				return err
			}
			heads -= batch
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
	buffer := make([]byte, readBytes)
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

func smaller(left, right int) int {
	if left < right {
		return left
	}
	return right
}

// accept never returns; package net has set TCP_NODELAY on what it accepts.
func accept(listener *net.TCPListener, options options) {
	for {
		connection, err := listener.AcceptTCP()
		if err != nil {
			// Out of file descriptors or memory: the next accept would fail at once as well.
			time.Sleep(acceptRetry)
			continue
		}
		go func() {
			defer connection.Close()
			// An error is how every connection ends: the end of the stream, a reset, a timeout.
			_ = options.serve(connection, options.timeout)
		}()
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
	parsed := options{timeout: 5 * time.Second}
	if len(arguments) < 4 || len(arguments) > 5 {
		return parsed, errors.New("usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
	}
	switch arguments[0] {
	case "hello":
		parsed.serve = serveHello
	case "hello-timeout":
		parsed.serve = serveHelloTimeout
	case "echo":
		parsed.serve = serveEcho
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
	if parsed.workers, err = parseNumber(arguments[3], "WORKERS", 1, 1024); err != nil {
		return parsed, err
	}
	if len(arguments) == 5 {
		timeoutMs, err := parseNumber(arguments[4], "TIMEOUT_MS", 1, math.MaxInt32)
		if err != nil {
			return parsed, err
		}
		parsed.timeout = time.Duration(timeoutMs) * time.Millisecond
	}
	return parsed, nil
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
	listener, err := net.ListenTCP(network, net.TCPAddrFromAddrPort(options.address))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("listening", listener.Addr())
	accept(listener, options)
}
