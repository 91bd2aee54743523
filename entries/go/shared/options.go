// Package shared has what the Go entries share: the command line, the listeners, the `listening`
// line, the ends of heads and the work of requests.
//
// It deliberately serves no connection: that is the part of each entry's framework.
package shared

import (
	"fmt"
	"math"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// ReadBytes is how much a connection reads at once.
	ReadBytes = 16 * 1024
	// AcceptRetry is the pause after an accept that failed for lack of descriptors or memory.
	AcceptRetry = 50 * time.Millisecond

	defaultTimeoutMs = 5000
	workersMost      = 1024
)

// Options is what the command line asks for.
type Options struct {
	Scenario string
	Address  netip.AddrPort
	Workers  int
	// Timeout limits each step of a connection in the scenario hello-timeout; else it is zero.
	Timeout time.Duration
	// Variant is empty for an entry that has only one.
	Variant string
}

// ParseOptions reads SCENARIO HOST PORT WORKERS [TIMEOUT_MS [VARIANT]]. It ends the program if it
// cannot use an argument; scenarios are those that the server knows.
func ParseOptions(scenarios ...string) Options {
	arguments := os.Args[1:]
	if len(arguments) < 4 || len(arguments) > 6 {
		names := strings.Join(scenarios, "|")
		Refuse("usage: server %s HOST PORT WORKERS [TIMEOUT_MS [VARIANT]]", names)
	}
	host, err := netip.ParseAddr(arguments[1])
	if err != nil {
		Refuse("HOST must be an IPv4 or IPv6 address: %v", err)
	}
	options := Options{
		Scenario: arguments[0],
		Address:  netip.AddrPortFrom(host, uint16(parse(arguments[2], "PORT", 0, math.MaxUint16))),
		Workers:  parse(arguments[3], "WORKERS", 1, workersMost),
	}
	timeoutMs := defaultTimeoutMs
	if len(arguments) > 4 {
		timeoutMs = parse(arguments[4], "TIMEOUT_MS", 1, math.MaxInt32)
	}
	if options.Scenario == "hello-timeout" {
		options.Timeout = time.Duration(timeoutMs) * time.Millisecond
	}
	if len(arguments) > 5 {
		options.Variant = arguments[5]
	}
	for _, scenario := range scenarios {
		if scenario == options.Scenario {
			return options
		}
	}
	Refuse("unknown scenario %q: use %s", options.Scenario, strings.Join(scenarios, " or "))
	return options
}

// Network is the one of Address: `tcp` would turn 0.0.0.0 into both families.
func (options Options) Network() string {
	if options.Address.Addr().Is6() {
		return "tcp6"
	}
	return "tcp4"
}

// Announce reports that the server accepts connections.
func Announce(address fmt.Stringer) {
	fmt.Println("listening", address)
}

// Refuse ends the program because of an argument that it cannot use.
func Refuse(format string, values ...interface{}) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(2)
}

// Check ends the program if something failed.
func Check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func parse(text, name string, least, most int) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < least || value > most {
		Refuse("%s must be a number from %d to %d, not %q", name, least, most, text)
	}
	return value
}
