// The form of the go-uring document: its settings, and the ring of a connection chosen as its
// revision ff79373 does.
//
// What the reactor and the listener do has not changed since, except for that choice.

package main

import (
	"io"
	"os"
	"runtime"

	uringnet "github.com/godzie44/go-uring/net"
	"github.com/godzie44/go-uring/reactor"
	"github.com/godzie44/go-uring/uring"
	"wirebench/entries/go/shared"
)

const (
	publishedRings       = 6
	publishedRingsSQPoll = 2
	publishedPools       = 2
	// publishedBytes is how much a connection of the document's server reads at once.
	publishedBytes = 2048
	// granule is how many descriptors in a row the reactor gives to one ring.
	granule = 75
)

// keyed is an operation with a key in place of its descriptor. The reactor selects the ring, and
// the place of the callback, by that number; the kernel gets the descriptor itself.
type keyed struct {
	uring.Operation
	key int
}

func (operation keyed) Fd() int {
	return operation.key
}

// keyFor returns a number of its own for each descriptor, which the reactor maps to the ring
// `fd % rings`.
func keyFor(fd, rings int) int {
	ring, place := fd%rings, fd/rings
	return (place/granule*rings+ring)*granule + place%granule
}

// startPublished listens with the settings of the document. Only `published-rings` heeds WORKERS, as
// its number of rings, and GOMAXPROCS.
func startPublished(options shared.Options) (*uringnet.Listener, serveFunction, error) {
	rings := publishedRings
	var setup []uring.SetupOption
	switch options.Variant {
	case "published-rings":
		rings = options.Workers
	case "published-sq_poll":
		rings = publishedRingsSQPoll
		setup = append(setup, uring.WithSQPoll(pollIdle))
	}
	if options.Variant != "published-rings" || os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2 * runtime.NumCPU())
	}
	pools := publishedPools
	if rings%pools != 0 {
		pools = 1 // The library refuses pools of different numbers of rings.
	}
	loops, err := newReactor(rings, pools, setup...)
	if err != nil {
		return nil, nil, err
	}
	listener, err := listenOn(options.Address, loops)
	return listener, echoPublished(loops, rings), err
}

// echoPublished returns what serves a connection on one of the rings: uringnet.Conn would let the
// reactor choose by the descriptor.
func echoPublished(loops *reactor.NetworkReactor, rings int) serveFunction {
	return func(connection *uringnet.Conn) error {
		fd := connection.Fd()
		key := keyFor(int(fd), rings)
		buffer := make([]byte, publishedBytes)
		receive, send := uring.Recv(fd, buffer, 0), uring.Send(fd, nil, 0)
		// Interfaces, so that they are not made anew for each operation.
		var receiveKeyed, sendKeyed reactor.NetOperation = keyed{receive, key}, keyed{send, key}
		completed := make(chan uring.CQEvent)
		for {
			length, err := wait(loops, receiveKeyed, completed)
			if err != nil {
				return err
			}
			for output := buffer[:length]; len(output) > 0; output = output[length:] {
				send.SetBuffer(output)
				if length, err = wait(loops, sendKeyed, completed); err != nil {
					return err
				}
			}
		}
	}
}

// wait queues an operation and returns how many bytes it has moved, which is never none.
func wait(
	loops *reactor.NetworkReactor, operation reactor.NetOperation, completed chan uring.CQEvent,
) (int, error) {
	loops.Queue(operation, func(event uring.CQEvent) {
		completed <- event
	})
	event := <-completed
	if err := event.Error(); err != nil {
		return 0, err
	}
	if event.Res == 0 {
		return 0, io.EOF
	}
	return int(event.Res), nil
}
