// Accepts and serves connections with callbacks: each handler starts the next operation.
#include "server.hpp"

#include <memory>
#include <vector>

namespace {

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, const Options &options)
        : socket_(std::move(socket)), timer_(socket_.get_executor()), options_(options),
          buffer_(buffer_bytes(options)) {}

    // The acceptor's handler runs outside a strand, so the first operation has to enter it.
    void start() {
        asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->read(); });
    }

  private:
    void read() {
        arm_timer();
        socket_.async_read_some(asio::buffer(buffer_),
                                [self = shared_from_this()](error_code error, std::size_t length) {
                                    if (error)
                                        return self->stop();
                                    self->write(self->answer(length));
                                });
    }

    asio::const_buffer answer(std::size_t length) {
        if (options_.scenario == Scenario::echo)
            return asio::buffer(buffer_.data(), length);
        return replies(heads_.count(buffer_.data(), length));
    }

    void write(asio::const_buffer output) {
        if (output.size() == 0)
            return read();
        asio::async_write(
            socket_, output,
            [this](error_code error, std::size_t written) {
                return continue_write(error, written);
            },
            [self = shared_from_this()](error_code error, std::size_t) {
                if (error)
                    return self->stop();
                self->read();
            });
    }

    // Asio asks it before each step of a write: every step that was made is progress, so the
    // timer is armed again.
    std::size_t continue_write(error_code error, std::size_t written) {
        if (!error)
            arm_timer();
        return asio::transfer_all()(error, written);
    }

    // Setting a new expiry cancels the wait before. A handler that was queued already when that
    // happened comes without an error, so it looks at the expiry that holds now.
    void arm_timer() {
        if (options_.scenario != Scenario::hello_timeout)
            return;
        timer_.expires_after(options_.timeout);
        timer_.async_wait([self = shared_from_this()](error_code error) {
            error_code ignored;
            if (!error && self->timer_.expiry() <= asio::steady_timer::clock_type::now())
                self->socket_.close(ignored);
        });
    }

    // The pending wait would keep the session and its socket alive until it expires.
    void stop() { timer_.cancel(); }

    tcp::socket socket_;
    asio::steady_timer timer_;
    const Options &options_;
    HeadCounter heads_;
    std::vector<char> buffer_;
};

// Out of file descriptors or memory: the next accept would fail at once as well.
void accept_later(asio::io_context &context, tcp::acceptor &acceptor, const Options &options) {
    auto timer = std::make_shared<asio::steady_timer>(context, accept_retry);
    timer->async_wait([&context, &acceptor, &options, timer](error_code) {
        accept_connections(context, acceptor, options);
    });
}

} // namespace

void accept_connections(asio::io_context &context, tcp::acceptor &acceptor,
                        const Options &options) {
    acceptor.async_accept(connection_executor(context, options),
                          [&](error_code error, tcp::socket socket) {
                              if (error)
                                  return accept_later(context, acceptor, options);
                              socket.set_option(tcp::no_delay(true), error);
                              std::make_shared<Session>(std::move(socket), options)->start();
                              accept_connections(context, acceptor, options);
                          });
}
