// gnet in Go: event loops with callbacks over epoll, one loop accepts for all of them.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// echo, because gnet cannot stop reading while a client does not read.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"runtime"
	"strconv"

	"github.com/panjf2000/gnet/v2"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
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

// server has the callbacks; those that it does not name do nothing.
type server struct {
	gnet.BuiltinEventEngine
	host netip.Addr
}

// OnBoot finds the listener open already: what connects from now on waits for the loops at most.
func (server *server) OnBoot(engine gnet.Engine) gnet.Action {
	port, err := listeningPort(engine)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return gnet.Shutdown
	}
	fmt.Println("listening", netip.AddrPortFrom(server.host, port))
	return gnet.None
}

func (server *server) OnOpen(connection gnet.Conn) ([]byte, gnet.Action) {
	connection.SetContext(new(headCounter))
	return nil, gnet.None
}

func (server *server) OnTraffic(connection gnet.Conn) gnet.Action {
	input, err := connection.Next(-1)
	if err != nil {
		return gnet.Close
	}
	for heads := connection.Context().(*headCounter).count(input); heads > 0; {
		batch := smaller(heads, repliesPerWrite)
		// What the socket does not take, gnet keeps and sends later.
		if _, err := connection.Write(replyBlock[:batch*len(reply)]); err != nil {
			return gnet.Close
		}
		heads -= batch
	}
	return gnet.None
}

// listeningPort asks the kernel, because gnet only knows the port that it was told.
func listeningPort(engine gnet.Engine) (uint16, error) {
	fd, err := engine.Dup()
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	address, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	switch address := address.(type) {
	case *unix.SockaddrInet4:
		return uint16(address.Port), nil
	case *unix.SockaddrInet6:
		return uint16(address.Port), nil
	}
	return 0, errors.New("the listener is no TCP socket")
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
	// `tcp` would turn 0.0.0.0 into both families; HOST says which one is meant.
	network := "tcp4"
	if options.address.Addr().Is6() {
		network = "tcp6"
	}
	// gnet itself would log to standard output; this one is zap's, on standard error.
	logger, err := zap.NewProduction()
	if err != nil {
		return err
	}
	return gnet.Run(
		&server{host: options.address.Addr()},
		network+"://"+options.address.String(),
		gnet.WithNumEventLoop(options.workers),
		gnet.WithReuseAddr(true),
		gnet.WithLogger(logger.Sugar()),
	)
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
