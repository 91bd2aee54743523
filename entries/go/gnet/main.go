// gnet in Go: event loops with callbacks over epoll, one loop accepts for all of them.
//
// It is deliberately no HTTP server: it only looks for the end of each request head. It has no
// echo, because gnet cannot stop reading while a client does not read.
package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"

	"github.com/panjf2000/gnet/v2"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"
	"wirebench/entries/go/shared"
)

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
	shared.Announce(netip.AddrPortFrom(server.host, port))
	return gnet.None
}

func (server *server) OnOpen(connection gnet.Conn) ([]byte, gnet.Action) {
	connection.SetContext(new(shared.HeadCounter))
	return nil, gnet.None
}

func (server *server) OnTraffic(connection gnet.Conn) gnet.Action {
	input, err := connection.Next(-1)
	if err != nil {
		return gnet.Close
	}
	heads := connection.Context().(*shared.HeadCounter).Count(input)
	for heads > 0 {
		var output []byte
		output, heads = shared.Replies(heads)
		// What the socket does not take, gnet keeps and sends later.
		if _, err := connection.Write(output); err != nil {
			return gnet.Close
		}
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

func main() {
	options := shared.ParseOptions("hello")
	runtime.GOMAXPROCS(options.Workers)
	// gnet itself would log to standard output; this one is zap's, on standard error.
	logger, err := zap.NewProduction()
	shared.Check(err)
	shared.Check(gnet.Run(
		&server{host: options.Address.Addr()},
		options.Network()+"://"+options.Address.String(),
		gnet.WithNumEventLoop(options.Workers),
		gnet.WithReuseAddr(true),
		gnet.WithLogger(logger.Sugar()),
	))
}
