// What main.cpp and the files that serve connections have in common: options, replies and heads.
//
// It is deliberately no HTTP parser: it only looks for the end of each request head.
#pragma once
#include <asio.hpp>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

using asio::ip::tcp;
using std::error_code;

enum class Scenario { hello, hello_timeout, echo };

struct Options {
    Scenario scenario;
    tcp::endpoint endpoint;
    int workers;
    std::chrono::milliseconds timeout;
};

constexpr auto accept_retry = std::chrono::milliseconds(50);
constexpr std::size_t hello_bytes = 16 * 1024;
// The echo server that this entry repeats reads so much at once.
constexpr std::size_t echo_bytes = 65534;

inline std::size_t buffer_bytes(const Options &options) {
    return options.scenario == Scenario::echo ? echo_bytes : hello_bytes;
}

// What the handlers of one connection run on. With a timer there are two chains of handlers, which
// threads that share the io_context must not run at once; without one there is never more than one
// handler to run, and a strand would guard nothing.
inline asio::any_io_executor connection_executor(asio::io_context &context,
                                                 const Options &options) {
    if (options.scenario == Scenario::hello_timeout && options.workers > 1)
        return asio::make_strand(context);
    return context.get_executor();
}

// Counts ends of heads; a terminator may be split over any number of reads.
class HeadCounter {
  public:
    std::size_t count(const char *bytes, std::size_t length) {
        const char *end = bytes + length;
        std::size_t heads = 0;
        for (; bytes < end; bytes++) {
            if (seen_ == 0) {
                bytes = static_cast<const char *>(std::memchr(bytes, '\r', end - bytes));
                if (bytes == nullptr)
                    break;
            }
            if (*bytes == "\r\n\r\n"[seen_])
                seen_++;
            else
                seen_ = *bytes == '\r' ? 1 : 0;
            if (seen_ == 4) {
                seen_ = 0;
                heads++;
            }
        }
        return heads;
    }

  private:
    unsigned seen_ = 0;
};

// The replies to so many heads as one buffer. A head has at least the four bytes that end it, so
// one block answers all that a read can bring.
inline asio::const_buffer replies(std::size_t heads) {
    static constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                              "Content-Length: 12\r\n\r\nHello world!";
    static const std::string block = [] {
        std::string block;
        for (std::size_t i = 0; i < hello_bytes / 4; i++)
            block += reply;
        return block;
    }();
    return asio::buffer(block.data(), heads * reply.size());
}

// Serves until the io_context ends. callbacks.cpp and coroutines.cpp each define it.
void accept_connections(asio::io_context &context, tcp::acceptor &acceptor, const Options &options);
