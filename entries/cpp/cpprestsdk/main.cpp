// cpprestsdk, the C++ REST SDK: its http_listener on its own thread pool with WORKERS threads.
//
// It is deliberately without a router: the listener's handler takes every GET below `/`.
#include <cpprest/http_listener.h>
#include <pplx/threadpool.h>

#include <charconv>
#include <iostream>
#include <optional>
#include <semaphore>
#include <string_view>
#include <sys/socket.h>
#include <vector>

namespace asio = boost::asio;
namespace http = web::http;
using asio::ip::tcp;
using http::experimental::listener::http_listener;
using http::experimental::listener::http_listener_config;

namespace {

constexpr int backlog = 4096;

struct Options {
    tcp::endpoint endpoint;
    std::size_t workers;
};

void answer(const http::http_request &request) {
    request.reply(http::status_codes::OK, "Hello world!", "text/plain");
}

// The listener does not tell which port the kernel chose. So the kernel chooses one for this
// socket; it never listens, and while it lives only a socket with SO_REUSEADDR, such as the
// listener's, can have the port.
tcp::acceptor reserve_port(asio::io_context &context, const tcp::endpoint &endpoint) {
    tcp::acceptor reserved(context, endpoint.protocol());
    reserved.set_option(tcp::acceptor::reuse_address(true));
    reserved.bind(endpoint);
    return reserved;
}

void serve(const Options &options) {
    crossplat::threadpool::initialize_with_threads(options.workers);
    asio::io_context context;
    tcp::acceptor reserved = reserve_port(context, options.endpoint);
    std::ostringstream address;
    address << reserved.local_endpoint();
    http_listener_config config;
    config.set_backlog(backlog);
    http_listener listener("http://" + address.str() + "/", config);
    listener.support(http::methods::GET, answer);
    listener.open().wait();
    reserved.close();
    std::cout << "listening " << address.str() << std::endl;
    // The pool serves; this thread has nothing to do until a signal ends the process.
    std::binary_semaphore never(0);
    never.acquire();
}

std::optional<int> parse_number(std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

std::optional<Options> parse_options(const std::vector<std::string_view> &arguments) {
    if (arguments.size() < 4 || arguments.size() > 5 || arguments[0] != "hello")
        return std::nullopt;
    boost::system::error_code error;
    const auto host = asio::ip::make_address(arguments[1], error);
    const auto port = parse_number(arguments[2], 0, 65535);
    const auto workers = parse_number(arguments[3], 1, 1024);
    if (error || !port || !workers)
        return std::nullopt;
    return Options{{host, static_cast<unsigned short>(*port)}, static_cast<std::size_t>(*workers)};
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        std::cerr << "usage: " << argv[0] << " hello HOST PORT WORKERS\n";
        return 2;
    }
    try {
        serve(*options);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
