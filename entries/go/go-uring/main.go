// go-uring in Go: one goroutine per connection, reads and writes wait for a ring instead of epoll.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// timeouts, because go-uring does not keep what the kernel reads of a deadline.
package main

import (
	"log"
	"net"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"time"

	uringnet "github.com/godzie44/go-uring/net"
	"github.com/godzie44/go-uring/reactor"
	"github.com/godzie44/go-uring/uring"
	"wirebench/entries/go/shared"
)

const (
	ringEntries = uring.MaxEntries >> 3
	pollIdle    = 100 * time.Millisecond
)

type serveFunction func(*uringnet.Conn) error

// logger writes what go-uring reports to standard error.
type logger struct{}

func (logger) Log(pairs ...interface{}) {
	log.Println(pairs...)
}

func serveHello(connection *uringnet.Conn) error {
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
			if err := writeAll(connection, output); err != nil {
				return err
			}
		}
	}
}

func serveEcho(connection *uringnet.Conn) error {
	buffer := make([]byte, shared.ReadBytes)
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

// accept never returns. go-uring leaves TCP_NODELAY as it is, hence off.
func accept(listener *uringnet.Listener, serve serveFunction) {
	for {
		accepted, err := listener.Accept()
		if err != nil {
			// Out of file descriptors or memory: the next accept would fail at once as well.
			time.Sleep(shared.AcceptRetry)
			continue
		}
		connection := accepted.(*uringnet.Conn)
		fd := int(connection.Fd())
		_ = syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		go func() {
			defer connection.Close()
			// An error is how every connection ends: the end of the stream, a reset.
			_ = serve(connection)
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

func newReactor(
	ringCount, poolCount int, setup ...uring.SetupOption,
) (*reactor.NetworkReactor, error) {
	rings, _, err := uring.CreateMany(ringCount, ringEntries, poolCount, setup...)
	if err != nil {
		return nil, err
	}
	return reactor.NewNet(rings, reactor.WithLogger(logger{}))
}

func listenOn(wanted netip.AddrPort, loops *reactor.NetworkReactor) (*uringnet.Listener, error) {
	reservation, address, err := reserve(wanted)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(reservation)
	return uringnet.NewListener(net.ListenConfig{}, address.String(), loops)
}

// start listens and returns what serves each connection.
func start(options shared.Options) (*uringnet.Listener, serveFunction, error) {
	var setup []uring.SetupOption
	switch options.Variant {
	case "plain", "amd64_atomic": // The tag amd64_atomic is a matter of the build.
	case "sq_poll":
		setup = append(setup, uring.WithSQPoll(pollIdle))
	case "published", "published-amd64_atomic", "published-rings", "published-sq_poll":
		if options.Scenario != "echo" {
			shared.Refuse("the variant %q has only the scenario echo", options.Variant)
		}
		return startPublished(options)
	default:
		shared.Refuse("unknown variant %q", options.Variant)
	}
	// Two for each ring: one that waits in the kernel must not hold up the others.
	runtime.GOMAXPROCS(2 * options.Workers)
	loops, err := newReactor(options.Workers, options.Workers, setup...)
	if err != nil {
		return nil, nil, err
	}
	listener, err := listenOn(options.Address, loops)
	if options.Scenario == "echo" {
		return listener, serveEcho, err
	}
	return listener, serveHello, err
}

func main() {
	options := shared.ParseOptions("hello", "echo")
	if !options.Address.Addr().Is4() {
		shared.Refuse("HOST must be an IPv4 address, go-uring knows no other: %v", options.Address.Addr())
	}
	listener, serve, err := start(options)
	shared.Check(err)
	// The first timer makes the runtime open its own poller, for which no descriptor may be left
	// when accept has to wait for one: the runtime would end the program.
	time.Sleep(time.Nanosecond)
	shared.Announce(listener.Addr())
	accept(listener, serve)
}
