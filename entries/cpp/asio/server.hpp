// What main.cpp and the files that serve connections have in common: replies and executors.
//
// It is deliberately no HTTP parser: it only looks for the end of each request head.
#pragma once
#include "../shared/heads.hpp"
#include "../shared/options.hpp"

#include <asio.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

using asio::ip::tcp;
using std::error_code;

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
