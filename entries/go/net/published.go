// The form of the go-uring document's baseline: reads and writes that block an OS thread.

package main

import (
	"net"
	"time"
)

// publishedBytes is how much a connection of the document's server reads at once.
const publishedBytes = 2048

// servePublished asks for the number of the connection's descriptor, as the document's server does
// to select a buffer. That makes the socket blocking, so each waiting read takes an OS thread.
func servePublished(connection *net.TCPConn, _ time.Duration) error {
	// A duplicate, with its own entry in the poller. The document's server leaves it open, too.
	duplicate, err := connection.File()
	if err != nil {
		return err
	}
	defer duplicate.Close()
	_ = duplicate.Fd()
	buffer := make([]byte, publishedBytes)
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
