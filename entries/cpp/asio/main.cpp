// Standalone Asio: reads the arguments, listens, and runs one io_context on all threads. How
// connections are served is in callbacks.cpp or coroutines.cpp, whichever is linked.
#include "server.hpp"

#include <charconv>
#include <climits>
#include <iostream>
#include <map>
#include <optional>
#include <thread>
#include <vector>

namespace {

constexpr int backlog = 4096;
constexpr int default_timeout_ms = 5000;
constexpr int max_workers = 1024;

tcp::acceptor listen_on(asio::io_context &context, const tcp::endpoint &endpoint) {
    tcp::acceptor acceptor(context, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(backlog);
    return acceptor;
}

void serve(const Options &options) {
    // The number is a hint to Asio of how many threads will run the context.
    asio::io_context context(options.workers);
    tcp::acceptor acceptor = listen_on(context, options.endpoint);
    accept_connections(context, acceptor, options);
    std::vector<std::thread> threads;
    for (int i = 1; i < options.workers; i++)
        threads.emplace_back([&context] { context.run(); });
    std::cout << "listening " << acceptor.local_endpoint() << std::endl;
    context.run();
    for (auto &thread : threads)
        thread.join();
}

std::optional<int> parse_number(std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

std::optional<Scenario> parse_scenario(std::string_view text) {
    static const std::map<std::string_view, Scenario> scenarios = {
        {"hello", Scenario::hello},
        {"hello-timeout", Scenario::hello_timeout},
        {"echo", Scenario::echo}};
    const auto found = scenarios.find(text);
    return found == scenarios.end() ? std::nullopt : std::optional(found->second);
}

// The first argument is the variant's name: `single` takes one worker only.
std::optional<Options> parse_options(const std::vector<std::string_view> &arguments) {
    if (arguments.size() < 5 || arguments.size() > 6)
        return std::nullopt;
    const auto scenario = parse_scenario(arguments[1]);
    error_code error;
    const auto host = asio::ip::make_address(arguments[2], error);
    const auto port = parse_number(arguments[3], 0, 65535);
    const auto workers = parse_number(arguments[4], 1, arguments[0] == "single" ? 1 : max_workers);
    const auto timeout_ms =
        arguments.size() == 6 ? parse_number(arguments[5], 1, INT_MAX) : default_timeout_ms;
    if (!scenario || error || !port || !workers || !timeout_ms)
        return std::nullopt;
    const tcp::endpoint endpoint(host, static_cast<unsigned short>(*port));
    return Options{*scenario, endpoint, *workers, std::chrono::milliseconds(*timeout_ms)};
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        std::cerr << "usage: " << argv[0]
                  << " VARIANT hello|hello-timeout|echo HOST PORT WORKERS [TIMEOUT_MS]\n"
                     "The variant single takes one worker only.\n";
        return 2;
    }
    try {
        serve(*options);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
