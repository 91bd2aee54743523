// Standalone Asio: reads the arguments, listens, and runs one io_context on all threads. How
// connections are served is in callbacks.cpp or coroutines.cpp, whichever is linked.
#include "server.hpp"

#include <iostream>
#include <thread>
#include <vector>

namespace {

constexpr int backlog = 4096;

tcp::acceptor listen_on(asio::io_context &context, const Options &options) {
    const tcp::endpoint endpoint(asio::ip::make_address(options.host), options.port);
    tcp::acceptor acceptor(context, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(backlog);
    return acceptor;
}

void serve(const Options &options) {
    // The number is a hint to Asio of how many threads will run the context.
    asio::io_context context(options.workers);
    tcp::acceptor acceptor = listen_on(context, options);
    accept_connections(context, acceptor, options);
    std::vector<std::thread> threads;
    for (int i = 1; i < options.workers; i++)
        threads.emplace_back([&context] { context.run(); });
    std::cout << "listening " << acceptor.local_endpoint() << std::endl;
    context.run();
    for (auto &thread : threads)
        thread.join();
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options(
        argc, argv, {Scenario::hello, Scenario::hello_timeout, Scenario::echo});
    if (options.variant == "single" && options.workers > 1)
        refuse("the variant single takes one worker only");
    return run(options, serve);
}
