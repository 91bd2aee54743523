package shared

import "bytes"

const (
	// Reply is the reply to each request.
	Reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" +
		"Content-Length: 12\r\n\r\n" + Body
	// Body is its last part.
	Body = "Hello world!"

	terminator      = "\r\n\r\n"
	repliesPerWrite = 256
)

var replyBlock = bytes.Repeat([]byte(Reply), repliesPerWrite)

// HeadCounter counts ends of heads; a terminator may be split over any number of reads.
type HeadCounter struct {
	seen int
}

// Count returns how many heads end in input, which follows the input of the call before.
func (counter *HeadCounter) Count(input []byte) int {
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

// Replies returns the replies to as many heads as one write serves, and how many heads are left.
func Replies(heads int) (output []byte, left int) {
	batch := heads
	if batch > repliesPerWrite {
		batch = repliesPerWrite
	}
	return replyBlock[:batch*len(Reply)], heads - batch
}
