// Accepts and serves connections with C++20 coroutines: one for each connection.
#include "server.hpp"

#include <asio/experimental/awaitable_operators.hpp>
#include <utility>
#include <vector>

using asio::awaitable;
using asio::redirect_error;
using asio::use_awaitable;

namespace {

class Session {
  public:
    Session(tcp::socket socket, const Options &options)
        : socket_(std::move(socket)), timer_(socket_.get_executor()), options_(options),
          buffer_(buffer_bytes(options)) {}

    // The end of the stream and a timeout are ordinary ends of a connection, hence no exceptions.
    awaitable<void> run() {
        while (const std::size_t length = co_await read())
            if (!co_await write(answer(length)))
                break;
    }

  private:
    awaitable<std::size_t> read() {
        error_code error;
        const std::size_t length = co_await within_timeout(
            socket_.async_read_some(asio::buffer(buffer_), redirect_error(use_awaitable, error)),
            error);
        co_return error ? 0 : length;
    }

    asio::const_buffer answer(std::size_t length) {
        if (options_.scenario == Scenario::echo)
            return asio::buffer(buffer_.data(), length);
        return replies(heads_.count(buffer_.data(), length));
    }

    // A timeout is about progress, so it applies to each step and not to the whole of the output.
    awaitable<bool> write(asio::const_buffer output) {
        error_code error;
        while (output.size() > 0) {
            output += co_await within_timeout(
                socket_.async_write_some(output, redirect_error(use_awaitable, error)), error);
            if (error)
                co_return false;
        }
        co_return true;
    }

    // Whichever ends first cancels the other; an operation that is cancelled fails.
    awaitable<std::size_t> within_timeout(awaitable<std::size_t> operation, error_code &error) {
        using namespace asio::experimental::awaitable_operators;
        if (options_.scenario != Scenario::hello_timeout)
            co_return co_await std::move(operation);
        timer_.expires_after(options_.timeout);
        const auto first = co_await (std::move(operation) || timer_.async_wait(use_awaitable));
        if (first.index() == 0)
            co_return std::get<0>(first);
        error = asio::error::timed_out;
        co_return 0;
    }

    tcp::socket socket_;
    asio::steady_timer timer_;
    const Options &options_;
    HeadCounter heads_;
    std::vector<char> buffer_;
};

awaitable<void> serve_connection(tcp::socket socket, const Options &options) {
    Session session(std::move(socket), options);
    co_await session.run();
}

awaitable<void> accept_all(asio::io_context &context, tcp::acceptor &acceptor,
                           const Options &options) {
    asio::steady_timer retry(context);
    for (;;) {
        error_code error;
        tcp::socket socket = co_await acceptor.async_accept(connection_executor(context, options),
                                                            redirect_error(use_awaitable, error));
        if (error) {
            // Out of file descriptors or memory: the next accept would fail at once as well.
            retry.expires_after(accept_retry);
            co_await retry.async_wait(use_awaitable);
            continue;
        }
        socket.set_option(tcp::no_delay(true), error);
        const auto executor = socket.get_executor();
        asio::co_spawn(executor, serve_connection(std::move(socket), options), asio::detached);
    }
}

} // namespace

void accept_connections(asio::io_context &context, tcp::acceptor &acceptor,
                        const Options &options) {
    asio::co_spawn(context, accept_all(context, acceptor, options), asio::detached);
}
