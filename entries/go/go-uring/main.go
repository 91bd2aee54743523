// go-uring in Go: one goroutine per connection, reads and writes wait for a ring instead of epoll.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// timeouts, because go-uring does not keep what the kernel reads of a deadline.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"math"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	uringnet "github.com/godzie44/go-uring/net"
	"github.com/godzie44/go-uring/reactor"
	"github.com/godzie44/go-uring/uring"
)

const (
	reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 12\r\n\r\nHello world!"
	terminator      = "\r\n\r\n"
	repliesPerWrite = 256
	readBytes       = 16 * 1024
	acceptRetry     = 50 * time.Millisecond
	ringEntries     = uring.MaxEntries >> 3
	pollIdle        = 100 * time.Millisecond
)

var replyBlock = bytes.Repeat([]byte(reply), repliesPerWrite)

type options struct {
	rings   []uring.SetupOption
	serve   func(*uringnet.Conn) error
	address netip.AddrPort
	workers int
}

// logger writes what go-uring reports to standard error.
type logger struct{}

func (logger) Log(pairs ...interface{}) {
	log.Println(pairs...)
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

func serveHello(connection *uringnet.Conn) error {
	var counter headCounter
	buffer := make([]byte, readBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for heads := counter.count(buffer[:length]); heads > 0; {
			batch := smaller(heads, repliesPerWrite)
			if err := writeAll(connection, replyBlock[:batch*len(reply)]); err != nil {
				return err
			}
			heads -= batch
		}
	}
}

func serveEcho(connection *uringnet.Conn) error {
	buffer := make([]byte, readBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		if err := writeAll(connection, buffer[:length]); err != nil {
			return err
		}
	}
}

// writeAll goes on after a short write, which go-uring reports as it comes.
func writeAll(connection *uringnet.Conn, output []byte) error {
	for len(output) > 0 {
		length, err := connection.Write(output)
		if err != nil {
			return err
		}
		output = output[length:]
	}
	return nil
}

func smaller(left, right int) int {
	if left < right {
		return left
	}
	return right
}

// accept never returns. go-uring leaves TCP_NODELAY as it is, hence off.
func accept(listener *uringnet.Listener, options options) {
	for {
		accepted, err := listener.Accept()
		if err != nil {
			// Out of file descriptors or memory: the next accept would fail at once as well.
			time.Sleep(acceptRetry)
			continue
		}
		connection := accepted.(*uringnet.Conn)
		fd := int(connection.Fd())
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		go func() {
			defer connection.Close()
			// An error is how every connection ends: the end of the stream, a reset.
			_ = options.serve(connection)
		}()
	}
}

// reserve binds without listening: go-uring's listener, which is bound with SO_REUSEADDR as well,
// may take the same port, and does not tell which one the kernel has chosen.
func reserve(address netip.AddrPort) (int, netip.AddrPort, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fd, address, os.NewSyscallError("socket", err)
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err != nil {
		return fd, address, os.NewSyscallError("setsockopt", err)
	}
	wanted := &syscall.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}
	if err := syscall.Bind(fd, wanted); err != nil {
		return fd, address, os.NewSyscallError("bind", err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		return fd, address, os.NewSyscallError("getsockname", err)
	}
	port := bound.(*syscall.SockaddrInet4).Port
	return fd, netip.AddrPortFrom(address.Addr(), uint16(port)), nil
}

func listenOn(options options) (*uringnet.Listener, error) {
	rings, _, err := uring.CreateMany(
		options.workers, ringEntries, options.workers, options.rings...)
	if err != nil {
		return nil, err
	}
	loops, err := reactor.NewNet(rings, reactor.WithLogger(logger{}))
	if err != nil {
		return nil, err
	}
	reservation, address, err := reserve(options.address)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(reservation)
	return uringnet.NewListener(net.ListenConfig{}, address.String(), loops)
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
	if len(arguments) < 5 || len(arguments) > 6 {
		return parsed, errors.New("usage: server VARIANT SCENARIO HOST PORT WORKERS [TIMEOUT_MS]")
	}
	switch arguments[0] {
	case "plain", "amd64_atomic": // The tag amd64_atomic is a matter of the build.
	case "sq_poll":
		parsed.rings = append(parsed.rings, uring.WithSQPoll(pollIdle))
	default:
		return parsed, fmt.Errorf("unknown variant %q", arguments[0])
	}
	switch arguments[1] {
	case "hello":
		parsed.serve = serveHello
	case "echo":
		parsed.serve = serveEcho
	default:
		return parsed, fmt.Errorf("unknown scenario %q", arguments[1])
	}
	host, err := netip.ParseAddr(arguments[2])
	if err != nil {
		return parsed, fmt.Errorf("HOST must be an IPv4 address: %w", err)
	}
	if !host.Is4() {
		return parsed, fmt.Errorf("HOST must be an IPv4 address, go-uring knows no other: %v", host)
	}
	port, err := parseNumber(arguments[3], "PORT", 0, math.MaxUint16)
	if err != nil {
		return parsed, err
	}
	parsed.address = netip.AddrPortFrom(host, uint16(port))
	if parsed.workers, err = parseNumber(arguments[4], "WORKERS", 1, 1024); err != nil {
		return parsed, err
	}
	if len(arguments) == 6 { // Accepted like everywhere, although no scenario here uses it.
		_, err = parseNumber(arguments[5], "TIMEOUT_MS", 1, math.MaxInt32)
	}
	return parsed, err
}

func main() {
	options, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	// Two for each ring: one that waits in the kernel must not hold up the others.
	runtime.GOMAXPROCS(2 * options.workers)
	listener, err := listenOn(options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// The first timer makes the runtime open its own poller, for which no descriptor may be left
	// when accept has to wait for one: the runtime would end the program.
	time.Sleep(time.Nanosecond)
	fmt.Println("listening", listener.Addr())
	accept(listener, options)
}
