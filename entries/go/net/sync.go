// The scenarios in which goroutines wait for each other: mutex, channel, skewed and handoff.

package main

import (
	"net"
	"sync"
	"time"

	"wirebench/entries/go/shared"
)

const (
	channelRoom = 64
	handoffRoom = 1
)

// request is what a connection sends to the answering goroutine.
type request struct {
	work   time.Duration
	answer chan<- struct{}
}

// serveWork does the work of each request by step. Like serveHello, it answers all requests of one
// read at once.
func serveWork(connection *net.TCPConn, step func(time.Duration)) error {
	var reader shared.WorkReader
	buffer := make([]byte, shared.ReadBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		heads := 0
		for reader.Feed(buffer[:length]); reader.Next(); heads++ {
			step(reader.Work())
		}
		for heads > 0 {
			var output []byte
			output, heads = shared.Replies(heads)
			if _, err := connection.Write(output); err != nil {
				return err
			}
		}
	}
}

func serveSkewed(connection *net.TCPConn, _ time.Duration) error {
	return serveWork(connection, shared.Work)
}

// newServeMutex makes the lock that all connections share.
func newServeMutex() serveFunction {
	var lock sync.Mutex
	step := func(work time.Duration) {
		lock.Lock()
		shared.Work(work)
		lock.Unlock()
	}
	return func(connection *net.TCPConn, _ time.Duration) error {
		return serveWork(connection, step)
	}
}

// newServeChannel starts the only goroutine that answers requests.
func newServeChannel() serveFunction {
	requests := make(chan request, channelRoom)
	go func() {
		for request := range requests {
			shared.Work(request.work)
			request.answer <- struct{}{}
		}
	}()
	return func(connection *net.TCPConn, _ time.Duration) error {
		// A connection waits for one answer at a time. With room for it, the answering goroutine
		// never waits for a connection.
		answer := make(chan struct{}, 1)
		return serveWork(connection, func(work time.Duration) {
			requests <- request{work, answer}
			<-answer
		})
	}
}

// serveHandoff has a second goroutine write the replies, and returns when that one has ended too.
func serveHandoff(connection *net.TCPConn, _ time.Duration) error {
	requests := make(chan struct{}, handoffRoom)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		writeReplies(connection, requests)
	}()
	err := passRequests(connection, requests, ended)
	// At the end of the stream, the second goroutine still writes the replies that are due.
	close(requests)
	<-ended
	return err
}

// passRequests passes each request on before it works.
func passRequests(connection *net.TCPConn, requests chan<- struct{}, ended <-chan struct{}) error {
	var reader shared.WorkReader
	buffer := make([]byte, shared.ReadBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return err
		}
		for reader.Feed(buffer[:length]); reader.Next(); {
			select {
			case requests <- struct{}{}:
				shared.Work(reader.Work())
			case <-ended:
				// The connection is broken: without a writer, a full channel would block for ever.
				return net.ErrClosed
			}
		}
	}
}

func writeReplies(connection *net.TCPConn, requests <-chan struct{}) {
	reply, _ := shared.Replies(1)
	for range requests {
		if _, err := connection.Write(reply); err != nil {
			// Otherwise the other goroutine could wait in a read for a peer that is gone.
			connection.Close()
			return
		}
	}
}
