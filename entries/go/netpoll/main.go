// CloudWeGo netpoll in Go: pollers read ahead, and a pooled goroutine runs while there is input.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// echo, because netpoll reads on while a client does not read.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"runtime"
	"strconv"

	"github.com/cloudwego/netpoll"
)

const (
	reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 12\r\n\r\nHello world!"
	terminator      = "\r\n\r\n"
	repliesPerWrite = 256
)

var replyBlock = bytes.Repeat([]byte(reply), repliesPerWrite)

type options struct {
	address netip.AddrPort
	workers int
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

type counterKey struct{}

// prepare gives a connection what its requests share; netpoll hands it to each of them.
func prepare(netpoll.Connection) context.Context {
	return context.WithValue(context.Background(), counterKey{}, new(headCounter))
}

// serveHello takes all that was read so far; netpoll calls it again as long as there is input.
func serveHello(ctx context.Context, connection netpoll.Connection) error {
	counter := ctx.Value(counterKey{}).(*headCounter)
	reader, writer := connection.Reader(), connection.Writer()
	input, err := reader.Next(reader.Len())
	if err != nil {
		return err
	}
	heads := counter.count(input)
	if err := reader.Release(); err != nil {
		return err
	}
	for heads > 0 {
		batch := smaller(heads, repliesPerWrite)
		if _, err := writer.WriteBinary(replyBlock[:batch*len(reply)]); err != nil {
			return err
		}
		if err := writer.Flush(); err != nil {
			return err
		}
		heads -= batch
	}
	return nil
}

func smaller(left, right int) int {
	if left < right {
		return left
	}
	return right
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
	if arguments[0] != "hello" {
		return parsed, fmt.Errorf("unknown scenario %q: this server knows hello", arguments[0])
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
	if len(arguments) == 5 { // Accepted like everywhere, although no scenario here uses it.
		_, err = parseNumber(arguments[4], "TIMEOUT_MS", 1, math.MaxInt32)
	}
	return parsed, err
}

func serve(options options) error {
	runtime.GOMAXPROCS(options.workers)
	if err := netpoll.Configure(netpoll.Config{PollerNum: options.workers}); err != nil {
		return err
	}
	// `tcp` would turn 0.0.0.0 into both families; HOST says which one is meant.
	network := "tcp4"
	if options.address.Addr().Is6() {
		network = "tcp6"
	}
	listener, err := netpoll.CreateListener(network, options.address.String())
	if err != nil {
		return err
	}
	loop, err := netpoll.NewEventLoop(serveHello, netpoll.WithOnPrepare(prepare))
	if err != nil {
		return err
	}
	fmt.Println("listening", listener.Addr())
	return loop.Serve(listener)
}

func main() {
	options, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	fmt.Fprintln(os.Stderr, serve(options))
	os.Exit(1)
}
