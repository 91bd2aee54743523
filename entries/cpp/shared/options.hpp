// What the C++ entries share: the command line SCENARIO HOST PORT WORKERS [TIMEOUT_MS [VARIANT]].
//
// It deliberately needs nothing but the standard library and sockets.
#pragma once
#include <arpa/inet.h>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

enum class Scenario { hello, hello_timeout, echo, mutex, channel, skewed, handoff };

// Whether the target of a request is its work.
constexpr bool has_work(Scenario scenario) {
    return scenario != Scenario::hello && scenario != Scenario::hello_timeout &&
           scenario != Scenario::echo;
}

struct Options {
    Scenario scenario;
    std::string host;
    unsigned short port;
    int workers;
    // The default in every scenario but `hello-timeout`.
    std::chrono::milliseconds timeout{5000};
    // Empty for an entry that has only one.
    std::string variant;
};

// Ends the program because of an argument that it cannot use.
[[noreturn]] inline void refuse(const std::string &reason) {
    std::cerr << reason << '\n';
    std::exit(2);
}

inline int parse_number(const std::string &name, std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        refuse(name + " must be a number from " + std::to_string(least) + " to " +
               std::to_string(most) + ", not " + std::string(text));
    return value;
}

// `scenarios` are those that the server knows.
template <std::size_t count>
Scenario parse_scenario(std::string_view text, const Scenario (&scenarios)[count]) {
    static constexpr std::string_view names[] = {"hello",   "hello-timeout", "echo",   "mutex",
                                                 "channel", "skewed",        "handoff"};
    for (const Scenario scenario : scenarios)
        if (text == names[static_cast<std::size_t>(scenario)])
            return scenario;
    refuse("unknown scenario " + std::string(text));
}

template <std::size_t count>
Options parse_options(int argc, char **argv, const Scenario (&scenarios)[count]) {
    if (argc < 5 || argc > 7)
        refuse("usage: server SCENARIO HOST PORT WORKERS [TIMEOUT_MS [VARIANT]]");
    Options options;
    options.scenario = parse_scenario(argv[1], scenarios);
    options.host = argv[2];
    in6_addr ignored;
    if (inet_pton(AF_INET, argv[2], &ignored) != 1 && inet_pton(AF_INET6, argv[2], &ignored) != 1)
        refuse("HOST must be an IPv4 or IPv6 address, not " + options.host);
    options.port = static_cast<unsigned short>(parse_number("PORT", argv[3], 0, 65535));
    options.workers = parse_number("WORKERS", argv[4], 1, 1024);
    const std::chrono::milliseconds timeout(
        argc > 5 ? parse_number("TIMEOUT_MS", argv[5], 1, INT_MAX) : options.timeout.count());
    if (options.scenario == Scenario::hello_timeout)
        options.timeout = timeout;
    options.variant = argc > 6 ? argv[6] : "";
    return options;
}

// Runs a server, which ends only when it fails, and returns the exit code.
template <class Serve> int run(const Options &options, Serve serve) {
    try {
        serve(options);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
