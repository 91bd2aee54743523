// One goroutine per connection: a beginning that does what `hello` asks.
//
// It is deliberately no HTTP server: it only looks for the end of each request head.
package main

import (
	"bytes"
	"fmt"
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
	terminator  = "\r\n\r\n"
	readBytes   = 16 * 1024
	acceptRetry = 50 * time.Millisecond
)

// headCounter counts ends of heads; a terminator may be split over any number of reads.
type headCounter struct {
	seen int
}

func (counter *headCounter) count(input []byte) int {
	heads := 0
	for _, current := range input {
		switch current {
		case terminator[counter.seen]:
			counter.seen++
		case '\r':
			counter.seen = 1
		default:
			counter.seen = 0
		}
		if counter.seen == len(terminator) {
			counter.seen = 0
			heads++
		}
	}
	return heads
}

func serve(connection net.Conn) {
	defer connection.Close()
	var counter headCounter
	buffer := make([]byte, readBytes)
	for {
		length, err := connection.Read(buffer)
		if err != nil {
			return
		}
		heads := counter.count(buffer[:length])
		if _, err := connection.Write(bytes.Repeat([]byte(reply), heads)); err != nil {
			return
		}
	}
}

func parse(words []string) (address netip.AddrPort, workers int, err error) {
	if len(words) < 4 || words[0] != "hello" {
		return address, 0, fmt.Errorf("usage: server hello HOST PORT WORKERS [TIMEOUT_MS]")
	}
	host, err := netip.ParseAddr(words[1])
	if err != nil {
		return address, 0, fmt.Errorf("HOST must be an IPv4 or IPv6 address: %w", err)
	}
	port, err := strconv.ParseUint(words[2], 10, 16)
	if err != nil {
		return address, 0, fmt.Errorf("PORT must be a number up to 65535: %w", err)
	}
	workers, err = strconv.Atoi(words[3])
	if err != nil || workers < 1 {
		return address, 0, fmt.Errorf("WORKERS must be a number from 1 on, not %s", words[3])
	}
	return netip.AddrPortFrom(host, uint16(port)), workers, nil
}

func main() {
	address, workers, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(workers)
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(address))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening %s\n", listener.Addr())
	for {
		connection, err := listener.Accept()
		if err != nil {
			// Out of descriptors or memory: the next accept would fail at once as well.
			time.Sleep(acceptRetry)
			continue
		}
		go serve(connection)
	}
}
