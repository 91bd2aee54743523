// RESTinio: a server on its thread pool with a request handler in C++. Variant `timers` guards each
// read, write and handling of a request by a time limit, variant `no-timers` has none.
//
// It is deliberately without RESTinio's routers: one handler looks at method and path.
#include <restinio/all.hpp>

#include <charconv>
#include <chrono>
#include <climits>
#include <future>
#include <iostream>
#include <optional>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace asio = restinio::asio_ns;

namespace {

constexpr int default_timeout_ms = 5000;
// What the process needs beside its connections: standard streams, listener, epoll and the like.
constexpr std::size_t reserved_descriptors = 32;

enum class Variant { timers, no_timers };

struct Options {
    Variant variant;
    asio::ip::address host;
    unsigned short port;
    std::size_t workers;
    std::chrono::milliseconds timeout;
};

// Answers from a task of its own, as RESTinio's asynchronous handlers do. A handler that answers
// before it returns lets RESTinio read on before the write has ended, and then read once more after
// it; where many requests are pipelined, one is too many, and RESTinio closes the connection.
class Handler {
  public:
    explicit Handler(asio::io_context &context) : context_(&context) {}

    restinio::request_handling_status_t operator()(restinio::request_handle_t request) const {
        if (request->header().method() != restinio::http_method_get() ||
            request->header().request_target() != "/")
            return restinio::request_rejected();
        asio::post(*context_, [request = std::move(request)] { answer(*request); });
        return restinio::request_accepted();
    }

  private:
    static void answer(restinio::request_t &request) {
        request.create_response()
            .append_header(restinio::http_field::server, "RESTinio")
            .append_header(restinio::http_field::content_type, "text/plain")
            .set_body("Hello world!")
            .done();
    }

    asio::io_context *context_;
};

// Without the limit, an accept that fails for lack of descriptors would be the server's last.
template <class Timers>
struct SharedTraits : restinio::traits_t<Timers, restinio::null_logger_t, Handler> {
    static constexpr bool use_connection_count_limiter = true;
};

// One thread needs neither strands nor locks.
template <class Timers>
struct SingleTraits : restinio::single_thread_traits_t<Timers, restinio::null_logger_t, Handler> {
    static constexpr bool use_connection_count_limiter = true;
};

std::size_t connections_at_most() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= reserved_descriptors)
        return 1;
    return limit.rlim_cur - reserved_descriptors;
}

// With null_timer_manager_t the time limits are kept, but nothing watches them.
template <class Traits> void serve(const Options &options) {
    asio::io_context context(options.workers);
    asio::ip::tcp::endpoint bound;
    restinio::http_server_t<Traits> server(
        restinio::external_io_context(context), [&](auto &settings) {
            settings.address(options.host)
                .protocol(options.host.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4())
                .port(options.port)
                .request_handler(context)
                .acceptor_post_bind_hook([&bound](asio::ip::tcp::acceptor &acceptor) {
                    bound = acceptor.local_endpoint();
                })
                .socket_options_setter(
                    [](auto &socket) { socket.set_option(asio::ip::tcp::no_delay(true)); })
                .max_parallel_connections(connections_at_most())
                .read_next_http_message_timelimit(options.timeout)
                .write_http_response_timelimit(options.timeout)
                .handle_request_timeout(options.timeout);
        });
    std::promise<void> failure;
    restinio::on_pool_runner_t<restinio::http_server_t<Traits>> runner(options.workers, server);
    runner.start([&bound]() noexcept { std::cout << "listening " << bound << std::endl; },
                 [&failure](std::exception_ptr error) noexcept { failure.set_exception(error); });
    failure.get_future().get();
}

template <class Timers> void serve_with(const Options &options) {
    if (options.workers == 1)
        serve<SingleTraits<Timers>>(options);
    else
        serve<SharedTraits<Timers>>(options);
}

std::optional<int> parse_number(std::string_view text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
        return std::nullopt;
    return value;
}

// In `hello`, the variant `timers` has the default timeout as its limits.
std::optional<Options> parse_options(const std::vector<std::string_view> &arguments) {
    if (arguments.size() < 5 || arguments.size() > 6)
        return std::nullopt;
    const bool timers = arguments[0] == "timers";
    const bool with_timeout = timers && arguments[1] == "hello-timeout";
    if ((!timers && arguments[0] != "no-timers") || (!with_timeout && arguments[1] != "hello"))
        return std::nullopt;
    asio::error_code error;
    const auto host = asio::ip::make_address(arguments[2], error);
    const auto port = parse_number(arguments[3], 0, 65535);
    const auto workers = parse_number(arguments[4], 1, 1024);
    const auto timeout_ms =
        arguments.size() == 6 ? parse_number(arguments[5], 1, INT_MAX) : default_timeout_ms;
    if (error || !port || !workers || !timeout_ms)
        return std::nullopt;
    return Options{timers ? Variant::timers : Variant::no_timers, host,
                   static_cast<unsigned short>(*port), static_cast<std::size_t>(*workers),
                   std::chrono::milliseconds(with_timeout ? *timeout_ms : default_timeout_ms)};
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options({argv + 1, argv + argc});
    if (!options) {
        std::cerr << "usage: " << argv[0]
                  << " timers|no-timers hello|hello-timeout HOST PORT WORKERS [TIMEOUT_MS]\n"
                     "The variant no-timers has no scenario hello-timeout.\n";
        return 2;
    }
    try {
        if (options->variant == Variant::timers)
            serve_with<restinio::asio_timer_manager_t>(*options);
        else
            serve_with<restinio::null_timer_manager_t>(*options);
    } catch (const std::exception &error) {
        std::cerr << error.what() << '\n';
    }
    return 1;
}
