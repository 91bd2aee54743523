package shared

import (
	"bytes"
	"time"
)

const (
	// A target follows "GET ", so its digits begin after the slash and are six at most.
	digitsStart = len("GET /")
	digitsEnd   = digitsStart + 6
)

// WorkReader finds the ends of heads as HeadCounter does, and reads the work that each head asks
// for: the target `/100` means 100 us, and a target without digits none. A head may be split over
// any number of reads at any byte.
type WorkReader struct {
	input []byte
	// index is the position in the head, and stays at digitsEnd once the digits are over.
	index int
	seen  int
	// micros has the digits so far of a head that has not ended.
	micros int
	work   time.Duration
}

// Feed takes the input of one read, which follows the input of the call before. Next must have
// returned false since, or the rest of that input is lost; the reader does not copy it.
func (reader *WorkReader) Feed(input []byte) {
	reader.input = input
}

// Next goes on to the next head that ends in the input. It returns false if there is none.
func (reader *WorkReader) Next() bool {
	for i := 0; i < len(reader.input); i++ {
		if reader.index == digitsEnd && reader.seen == 0 {
			skip := bytes.IndexByte(reader.input[i:], '\r')
			if skip < 0 {
				break
			}
			i += skip
		}
		current := reader.input[i]
		reader.readDigit(current)
		switch current {
		case terminator[reader.seen]:
			reader.seen++
		case '\r':
			reader.seen = 1
		default:
			reader.seen = 0
		}
		if reader.seen == len(terminator) {
			reader.input = reader.input[i+1:]
			reader.work = time.Duration(reader.micros) * time.Microsecond
			reader.index, reader.seen, reader.micros = 0, 0, 0
			return true
		}
	}
	reader.input = nil
	return false
}

// Work returns the work of the head that Next found.
func (reader *WorkReader) Work() time.Duration {
	return reader.work
}

func (reader *WorkReader) readDigit(current byte) {
	switch {
	case reader.index == digitsEnd:
	case reader.index < digitsStart:
		reader.index++
	case current >= '0' && current <= '9':
		reader.micros = reader.micros*10 + int(current-'0')
		reader.index++
	default:
		reader.index = digitsEnd
	}
}

// Work keeps the CPU busy for the duration. It never yields, because a request that works is meant
// to take its worker away from all others.
func Work(duration time.Duration) {
	if duration <= 0 {
		return
	}
	// Both functions read the monotonic clock, so a change of the time of day has no effect.
	for start := time.Now(); time.Since(start) < duration; {
	}
}
