// Restbed: a resource with one handler on the service's worker threads, which share one io_context.
//
// It is deliberately without filters, rules and authentication: one path, one method, one reply.
#include <arpa/inet.h>
#include <charconv>
#include <chrono>
#include <climits>
#include <iostream>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <vector>

#include <restbed>

namespace {

constexpr int backlog = 4096;
// The listening socket is among the first descriptors: nothing has connected yet.
constexpr int descriptors_searched = 64;
constexpr int default_timeout_ms = 5000;

using SharedSession = std::shared_ptr<restbed::Session>;

struct Options {
    std::string host;
    std::uint16_t port;
    unsigned workers;
    std::chrono::milliseconds timeout;
};

void answer(const SharedSession session) {
    session->yield(
        restbed::OK, "Hello world!",
        {{"Content-Type", "text/plain"}, {"Content-Length", "12"}, {"Connection", "keep-alive"}});
}

// The end of the stream comes here as well, and needs no reply.
void close_session(const int, const std::exception &, const SharedSession session) {
    if (session != nullptr && session->is_open())
        session->close();
}

// Restbed neither sets TCP_NODELAY nor gives access to its sockets. Linux lets accepted sockets
// inherit it from the listening one, which is the only one of this process.
void set_no_delay() {
    for (int fd = 0; fd < descriptors_searched; fd++) {
        int listens = 0;
        socklen_t length = sizeof listens;
        const int on = 1;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0)
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
}

void serve(const Options &options) {
    auto resource = std::make_shared<restbed::Resource>();
    resource->set_path("/");
    resource->set_method_handler("GET", answer);
    auto settings = std::make_shared<restbed::Settings>();
    settings->set_bind_address(options.host);
    settings->set_port(options.port);
    settings->set_worker_limit(options.workers);
    settings->set_connection_limit(backlog);
    settings->set_connection_timeout(options.timeout);
    restbed::Service service;
    service.publish(resource);
    service.set_error_handler(close_session);
    service.set_ready_handler([host = options.host](restbed::Service &ready) {
        set_no_delay();
        const bool bracketed = host.find(':') != std::string::npos;
        std::cout << "listening " << (bracketed ? "[" + host + "]" : host) << ':'
                  << ready.get_http_uri()->get_port() << std::endl;
    });
    service.start(settings);
}

std::optional<int> parse_number(std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

bool is_address(const std::string &host) {
    in6_addr ignored;
    return inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
           inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
}

// Restbed always has a timeout; `hello` keeps to the default.
std::optional<Options> parse_options(const std::vector<std::string> &arguments) {
    if (arguments.size() < 4 || arguments.size() > 5)
        return std::nullopt;
    const bool with_timeout = arguments[0] == "hello-timeout";
    if ((!with_timeout && arguments[0] != "hello") || !is_address(arguments[1]))
        return std::nullopt;
    const auto port = parse_number(arguments[2], 0, 65535);
    const auto workers = parse_number(arguments[3], 1, 1024);
    const auto timeout_ms =
        arguments.size() == 5 ? parse_number(arguments[4], 1, INT_MAX) : default_timeout_ms;
    if (!port || !workers || !timeout_ms)
        return std::nullopt;
    return Options{arguments[1], static_cast<std::uint16_t>(*port), static_cast<unsigned>(*workers),
                   std::chrono::milliseconds(with_timeout ? *timeout_ms : default_timeout_ms)};
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        std::cerr << "usage: " << argv[0]
                  << " hello|hello-timeout HOST PORT WORKERS [TIMEOUT_MS]\n";
        return 2;
    }
    try {
        serve(*options);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
