// cpprestsdk, the C++ REST SDK: its http_listener on its own thread pool with WORKERS threads.
// Variant `published`: the pool's default of 40 threads, and sockets without TCP_NODELAY.
//
// It is deliberately without a router: the listener's handler takes every GET below `/`.
#include "../shared/options.hpp"

#include <cpprest/http_listener.h>
#include <pplx/threadpool.h>

#include <iostream>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <semaphore>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace asio = boost::asio;
namespace http = web::http;
using asio::ip::tcp;
using http::experimental::listener::http_listener;
using http::experimental::listener::http_listener_config;

namespace {

constexpr int backlog = 4096;

bool leave_nagle_on = false;

void answer(const http::http_request &request) {
    request.reply(http::status_codes::OK, "Hello world!", "text/plain");
}

// The document's handler, which discards the outcome of the reply.
void answer_published(const http::http_request &request) {
    request.reply(http::status_codes::OK, "Hello world!").then([](pplx::task<void> replied) {
        try {
            replied.get();
        } catch (...) {
        }
    });
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
    leave_nagle_on = options.variant == "published";
    if (!leave_nagle_on)
        crossplat::threadpool::initialize_with_threads(options.workers);
    asio::io_context context;
    tcp::acceptor reserved =
        reserve_port(context, {asio::ip::make_address(options.host), options.port});
    std::ostringstream address;
    address << reserved.local_endpoint();
    http_listener_config config;
    config.set_backlog(backlog);
    http_listener listener("http://" + address.str() + "/", config);
    listener.support(http::methods::GET, leave_nagle_on ? answer_published : answer);
    listener.open().wait();
    reserved.close();
    std::cout << "listening " << address.str() << std::endl;
    // The pool serves; this thread has nothing to do until a signal ends the process.
    std::binary_semaphore never(0);
    never.acquire();
}

} // namespace

// Takes the place of the C library's function in this process. The listener of the document did not
// set TCP_NODELAY; release 2.10 always does and has no switch, so the variant drops that call.
extern "C" int setsockopt(int fd, int level, int name, const void *value,
                          socklen_t length) noexcept {
    if (leave_nagle_on && level == IPPROTO_TCP && name == TCP_NODELAY)
        return 0;
    return static_cast<int>(syscall(SYS_setsockopt, fd, level, name, value, length));
}

int main(int argc, char **argv) {
    return run(parse_options(argc, argv, {Scenario::hello}), serve);
}
