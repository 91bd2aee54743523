// RESTinio: a server on its thread pool with a request handler in C++. Variant `timers` guards each
// read, write and handling of a request by a time limit, variant `no-timers` has none. Variant
// `published-no-timers` has none either and answers before its handler returns.
//
// It is deliberately without RESTinio's routers: one handler looks at method and path.
#include "../shared/options.hpp"

#include <restinio/all.hpp>

#include <chrono>
#include <future>
#include <iostream>
#include <sys/resource.h>

namespace asio = restinio::asio_ns;

namespace {

// What the process needs beside its connections: standard streams, listener, epoll and the like.
constexpr std::size_t reserved_descriptors = 32;

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

  protected:
    static restinio::request_handling_status_t answer(restinio::request_t &request,
                                                      const char *server = "RESTinio",
                                                      const char *type = "text/plain") {
        return request.create_response()
            .append_header(restinio::http_field::server, server)
            .append_header(restinio::http_field::content_type, type)
            .set_body("Hello world!")
            .done();
    }

  private:
    asio::io_context *context_;
};

// The document's handler.
class PublishedHandler : private Handler {
  public:
    using Handler::Handler;

    restinio::request_handling_status_t operator()(restinio::request_handle_t request) const {
        if (request->header().method() != restinio::http_method_get() ||
            request->header().request_target() != "/")
            return restinio::request_rejected();
        return answer(*request, "RESTinio Benchmark", "text/plain; charset=utf-8");
    }
};

// Without the limit, an accept that fails for lack of descriptors would be the server's last.
template <class Timers, class Handles>
struct SharedTraits : restinio::traits_t<Timers, restinio::null_logger_t, Handles> {
    static constexpr bool use_connection_count_limiter = true;
};

// One thread needs neither strands nor locks.
template <class Timers, class Handles>
struct SingleTraits : restinio::single_thread_traits_t<Timers, restinio::null_logger_t, Handles> {
    static constexpr bool use_connection_count_limiter = true;
};

std::size_t connections_at_most() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= reserved_descriptors)
        return 1;
    return limit.rlim_cur - reserved_descriptors;
}

// In `hello` the limits are the default. With null_timer_manager_t are kept, but nothing watches
// them.
template <class Traits> void serve(const Options &options) {
    asio::io_context context(options.workers);
    const auto host = asio::ip::make_address(options.host);
    asio::ip::tcp::endpoint bound;
    restinio::http_server_t<Traits> server(
        restinio::external_io_context(context), [&](auto &settings) {
            settings.address(host)
                .protocol(host.is_v6() ? asio::ip::tcp::v6() : asio::ip::tcp::v4())
                .port(options.port)
                .request_handler(context)
                .acceptor_post_bind_hook([&bound](asio::ip::tcp::acceptor &acceptor) {
                    bound = acceptor.local_endpoint();
                })
                .socket_options_setter(
                    [no_delay = options.variant != "published-no-timers"](auto &socket) {
                        if (no_delay)
                            socket.set_option(asio::ip::tcp::no_delay(true));
                    })
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

template <class Timers, class Handles = Handler> void serve_with(const Options &options) {
    if (options.workers == 1)
        serve<SingleTraits<Timers, Handles>>(options);
    else
        serve<SharedTraits<Timers, Handles>>(options);
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options(argc, argv, {Scenario::hello, Scenario::hello_timeout});
    if (options.variant == "timers")
        return run(options, serve_with<restinio::asio_timer_manager_t>);
    if (options.scenario != Scenario::hello)
        refuse("only the variant timers has the scenario hello-timeout");
    if (options.variant == "published-no-timers")
        return run(options, serve_with<restinio::null_timer_manager_t, PublishedHandler>);
    if (options.variant != "no-timers")
        refuse("the variants are timers, no-timers and published-no-timers");
    return run(options, serve_with<restinio::null_timer_manager_t>);
}
