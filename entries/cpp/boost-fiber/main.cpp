// Boost.Fiber: one fiber per connection, run by worker threads that each wait in an epoll instance.
// The variants are the scheduling algorithms of Boost.Fiber: `sharing` is shared_work, `stealing`
// is work_stealing, and `prefork` is round_robin with a SO_REUSEPORT listener per thread.
//
// Boost.Fiber has no sockets: the entry adds them, and a poller to each scheduling algorithm.
#include "../shared/options.hpp"
#include "connection.hpp"
#include "poller.hpp"
#include "polling.hpp"
#include "socket.hpp"

#include <boost/fiber/all.hpp>
#include <cerrno>
#include <deque>
#include <functional>
#include <iostream>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/socket.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace fibers = boost::fibers;

namespace {

constexpr int backlog = 4096;
constexpr auto accept_retry = std::chrono::milliseconds(50);

void check(int result, const char *what) {
    if (result < 0)
        throw std::system_error(errno, std::generic_category(), what);
}

void turn_on(int fd, int level, int option) {
    const int on = 1;
    check(setsockopt(fd, level, option, &on, sizeof on), "setsockopt");
}

// Port 0 lets the kernel choose: the port in `options` becomes that of the listener.
int listen_on(Options &options, bool reuse_port) {
    addrinfo hints = {};
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo *address;
    if (getaddrinfo(options.host.c_str(), std::to_string(options.port).c_str(), &hints, &address))
        refuse("HOST must be an IPv4 or IPv6 address, not " + options.host);
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    check(fd, "socket");
    turn_on(fd, SOL_SOCKET, SO_REUSEADDR);
    // Accepted sockets inherit it.
    turn_on(fd, IPPROTO_TCP, TCP_NODELAY);
    if (reuse_port)
        turn_on(fd, SOL_SOCKET, SO_REUSEPORT);
    check(bind(fd, address->ai_addr, address->ai_addrlen), "bind");
    freeaddrinfo(address);
    check(listen(fd, backlog), "listen");
    sockaddr_in6 bound;
    socklen_t length = sizeof bound;
    check(getsockname(fd, reinterpret_cast<sockaddr *>(&bound), &length), "getsockname");
    // The port is at the same place in both families.
    options.port = ntohs(bound.sin6_port);
    return fd;
}

void start_connection(int fd, const Options &options) {
    const bool timed = options.scenario == Scenario::hello_timeout;
    try {
        Socket socket(fd, timed ? options.timeout : std::chrono::milliseconds::zero());
        fibers::fiber([socket = std::move(socket), scenario = options.scenario]() mutable {
            serve_connection(socket, scenario);
        }).detach();
    } catch (const std::exception &) {
        // Out of memory for its stack: the connection is closed.
    }
}

void accept_connections(int fd, const Options &options) {
    Socket listener(fd);
    for (;;) {
        const int connection = listener.accept();
        if (connection >= 0)
            start_connection(connection, options);
        else // Out of descriptors or memory: the next accept would fail at once as well.
            boost::this_fiber::sleep_for(accept_retry);
    }
}

// In this thread, fibers are run by the algorithm of the variant.
void use_algorithm(const Options &options) {
    if (options.variant == "sharing")
        fibers::use_scheduling_algorithm<Polling<fibers::algo::shared_work>>();
    else if (options.variant == "stealing" && options.workers > 1)
        fibers::use_scheduling_algorithm<Polling<fibers::algo::work_stealing>>(options.workers);
    else // A single worker of work_stealing would look for another one without end.
        fibers::use_scheduling_algorithm<Polling<fibers::algo::round_robin>>();
}

void serve(Options options) {
    const bool prefork = options.variant == "prefork";
    std::vector<int> listeners;
    for (int i = 0; i < (prefork ? options.workers : 1); i++)
        listeners.push_back(listen_on(options, prefork && options.workers > 1));
    std::deque<Poller> pollers(options.workers);
    const auto work = [&](std::size_t index) {
        pollers[index].enter();
        use_algorithm(options);
        if (index == 0)
            prepare_scenario(options.scenario);
        if (index < listeners.size())
            fibers::fiber(accept_connections, listeners[index], std::cref(options)).detach();
        // The thread runs the other fibers while its own one waits.
        fibers::promise<void> never;
        never.get_future().wait();
    };
    std::vector<std::thread> threads;
    for (int i = 1; i < options.workers; i++)
        threads.emplace_back(work, i);
    const bool ipv6 = options.host.find(':') != std::string::npos;
    std::cout << "listening " << (ipv6 ? "[" + options.host + "]" : options.host) << ':'
              << options.port << std::endl;
    work(0);
}

} // namespace

int main(int argc, char **argv) {
    const auto options =
        parse_options(argc, argv,
                      {Scenario::hello, Scenario::hello_timeout, Scenario::echo, Scenario::mutex,
                       Scenario::channel, Scenario::skewed, Scenario::handoff});
    if (options.variant != "prefork" && options.variant != "sharing" &&
        options.variant != "stealing")
        refuse("unknown variant " + options.variant + ": use prefork, sharing or stealing");
    return run(options, serve);
}
