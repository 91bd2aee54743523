// Fiber in Go: its router over fasthttp.
package main

import (
	"context"
	"errors"
	"net"
	"runtime"
	"time"

	"github.com/gofiber/fiber/v3"
	"wirebench/entries/go/shared"
)

// patientListener keeps the server alive: fasthttp ends at the first accept that fails.
type patientListener struct {
	net.Listener
}

func (listener patientListener) Accept() (net.Conn, error) {
	for {
		connection, err := listener.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return connection, err
		}
		// Out of file descriptors or memory: the next accept would fail at once as well.
		time.Sleep(shared.AcceptRetry)
	}
}

// newApp makes an application without time limits if timeout is zero.
func newApp(timeout time.Duration) *fiber.App {
	app := fiber.New(fiber.Config{
		ReadTimeout:  timeout,
		WriteTimeout: timeout,
		IdleTimeout:  timeout,
		// The longest head that is taken, too.
		ReadBufferSize: shared.ReadBytes,
	})
	app.Get("/", func(ctx fiber.Ctx) error {
		return ctx.SendString(shared.Body)
	})
	return app
}

func main() {
	options := shared.ParseOptions("hello", "hello-timeout")
	runtime.GOMAXPROCS(options.Workers)
	// Plain TCP: newer versions of Go would try Multipath TCP first.
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), options.Network(), options.Address.String())
	shared.Check(err)
	shared.Announce(listener.Addr())
	quiet := fiber.ListenConfig{DisableStartupMessage: true}
	shared.Check(newApp(options.Timeout).Listener(patientListener{listener}, quiet))
}
