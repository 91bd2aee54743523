// ZAB: C++20 coroutines over io_uring, one ring and one thread per worker. One acceptor deals the
// connections out to the workers in turn, as in the echo server of ZAB's own benchmark.
//
// It is deliberately no HTTP parser: it only looks for the end of each request head.
#include <arpa/inet.h>
#include <netinet/tcp.h>

#include <charconv>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "zab/async_function.hpp"
#include "zab/engine.hpp"
#include "zab/engine_enabled.hpp"
#include "zab/event_loop.hpp"
#include "zab/strong_types.hpp"
#include "zab/tcp_networking.hpp"
#include "zab/tcp_stream.hpp"

namespace {

constexpr std::string_view reply = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                   "Content-Length: 12\r\n\r\nHello world!";
constexpr std::size_t hello_bytes = 16 * 1024;
// The echo server that this entry repeats reads so much at once.
constexpr std::size_t echo_bytes = 65534;
constexpr int backlog = 4096;
constexpr std::uint64_t accept_retry_ms = 50;

enum class Scenario { hello, echo };

struct Options {
    Scenario scenario;
    sockaddr_storage address;
    std::uint16_t workers;
};

// A head has at least the four bytes that end it, so one block answers all that a read can bring.
const std::string reply_block = [] {
    std::string block;
    for (std::size_t i = 0; i < hello_bytes / 4; i++)
        block += reply;
    return block;
}();

// Counts ends of heads; a terminator may be split over any number of reads.
class HeadCounter {
  public:
    std::size_t count(std::span<const std::byte> bytes) {
        std::size_t heads = 0;
        for (const std::byte byte : bytes) {
            const char character = static_cast<char>(byte);
            if (character == "\r\n\r\n"[seen_])
                seen_++;
            else
                seen_ = character == '\r' ? 1 : 0;
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

class Server : public zab::engine_enabled<Server> {
  public:
    static constexpr std::uint16_t kDefaultThread = 0;

    Server(zab::engine &engine, int listener, std::string_view ready, const Options &options)
        : acceptor_(&engine), ready_(ready), options_(options) {
        acceptor_.set_descriptor(listener);
        register_engine(engine);
    }

    // The engine calls it on the first worker once all of them run.
    void initialise() noexcept {
        accept_all();
        std::cout << ready_ << std::endl;
    }

  private:
    zab::async_function<> accept_all() noexcept {
        for (std::size_t number = 0;; number++) {
            auto stream = co_await acceptor_.accept<std::byte>(nullptr, nullptr);
            if (stream)
                serve(number, std::move(*stream));
            else
                // Out of file descriptors or memory: the next accept would fail at once as well.
                co_await yield(zab::order::in_milli(accept_retry_ms));
        }
    }

    zab::async_function<> serve(std::size_t number, zab::tcp_stream<std::byte> stream) noexcept {
        co_await yield(
            zab::thread_t{static_cast<std::uint16_t>(number % engine_->number_of_workers())});
        HeadCounter heads;
        std::vector<std::byte> buffer(options_.scenario == Scenario::echo ? echo_bytes
                                                                          : hello_bytes);
        for (;;) {
            const int length = co_await stream.read_some(buffer);
            if (length <= 0)
                break;
            const auto output = answer(heads, {buffer.data(), static_cast<std::size_t>(length)});
            // ZAB reports a write of no bytes as a failure.
            if (!output.empty() &&
                co_await stream.write(output) != static_cast<long long>(output.size()))
                break;
        }
        co_await stream.close();
    }

    std::span<const std::byte> answer(HeadCounter &heads, std::span<const std::byte> input) const {
        if (options_.scenario == Scenario::echo)
            return input;
        return std::as_bytes(std::span(reply_block).first(heads.count(input) * reply.size()));
    }

    zab::tcp_acceptor acceptor_;
    const std::string_view ready_;
    const Options &options_;
};

// ZAB's own listen() takes a port only, and no address.
int listen_on(sockaddr_storage &address) {
    const int on = 1;
    socklen_t length = address.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // Linux lets accepted sockets inherit TCP_NODELAY.
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        bind(fd, generic, length) < 0 || listen(fd, backlog) < 0 ||
        getsockname(fd, generic, &length) < 0)
        throw std::system_error(errno, std::generic_category(), "listen");
    return fd;
}

sockaddr_in &ipv4(sockaddr_storage &address) {
    return reinterpret_cast<sockaddr_in &>(address);
}

sockaddr_in6 &ipv6(sockaddr_storage &address) {
    return reinterpret_cast<sockaddr_in6 &>(address);
}

std::string ready_line(const std::string &host, sockaddr_storage &address) {
    if (address.ss_family == AF_INET6)
        return "listening [" + host + "]:" + std::to_string(ntohs(ipv6(address).sin6_port));
    return "listening " + host + ":" + std::to_string(ntohs(ipv4(address).sin_port));
}

std::optional<int> parse_number(std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

std::optional<sockaddr_storage> parse_address(const std::string &host, std::uint16_t port) {
    sockaddr_storage address{};
    if (inet_pton(AF_INET, host.c_str(), &ipv4(address).sin_addr) == 1) {
        address.ss_family = AF_INET;
        ipv4(address).sin_port = htons(port);
        return address;
    }
    if (inet_pton(AF_INET6, host.c_str(), &ipv6(address).sin6_addr) == 1) {
        address.ss_family = AF_INET6;
        ipv6(address).sin6_port = htons(port);
        return address;
    }
    return std::nullopt;
}

std::optional<Options> parse_options(const std::vector<std::string> &arguments) {
    if (arguments.size() < 4 || arguments.size() > 5 ||
        (arguments[0] != "hello" && arguments[0] != "echo"))
        return std::nullopt;
    const auto port = parse_number(arguments[2], 0, 65535);
    const auto workers = parse_number(arguments[3], 1, 1024);
    if (!port || !workers)
        return std::nullopt;
    const auto address = parse_address(arguments[1], static_cast<std::uint16_t>(*port));
    if (!address)
        return std::nullopt;
    return Options{arguments[0] == "echo" ? Scenario::echo : Scenario::hello, *address,
                   static_cast<std::uint16_t>(*workers)};
}

} // namespace

int main(int argc, char **argv) {
    auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        std::cerr << "usage: " << argv[0] << " hello|echo HOST PORT WORKERS\n";
        return 2;
    }
    try {
        const int listener = listen_on(options->address);
        const std::string ready = ready_line(argv[2], options->address);
        zab::engine engine({.threads_ = options->workers,
                            .opt_ = zab::engine::configs::kExact,
                            .affinity_set_ = false});
        Server server(engine, listener, ready, *options);
        engine.start();
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
