// Boost.Beast: HTTP with its parser and serializer over Boost.Asio, after the asynchronous server
// among its own examples: one io_context that all threads run, a strand per connection. Variant
// `published`: the document's sessions.
//
// It is deliberately without routes and files: every request gets the same reply.
#include "../shared/options.hpp"
#include "published.hpp"

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using beast::error_code;

namespace {

constexpr int backlog = 4096;
constexpr auto accept_retry = std::chrono::milliseconds(50);

class Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, const Options &options)
        : stream_(std::move(socket)), options_(options) {}

    // The acceptor's handler runs outside the strand, so the first operation has to enter it.
    void start() {
        asio::dispatch(stream_.get_executor(),
                       beast::bind_front_handler(&Session::read_request, shared_from_this()));
    }

  private:
    void read_request() {
        parser_.emplace();
        read_some();
    }

    // Not http::async_read, because the timeout holds for each step that makes progress.
    void read_some() {
        arm_timer();
        http::async_read_some(stream_, buffer_, *parser_,
                              beast::bind_front_handler(&Session::on_read, shared_from_this()));
    }

    void on_read(error_code error, std::size_t) {
        if (error == http::error::end_of_stream)
            return close();
        if (error)
            return;
        if (!parser_->is_done())
            return read_some();
        answer(parser_->get());
    }

    void answer(const http::request<http::string_body> &request) {
        response_ = {http::status::ok, request.version()};
        response_.set(http::field::server, BOOST_BEAST_VERSION_STRING);
        response_.set(http::field::content_type, "text/plain");
        response_.keep_alive(request.keep_alive());
        response_.body() = "Hello world!";
        response_.prepare_payload();
        arm_timer();
        http::async_write(stream_, response_,
                          beast::bind_front_handler(&Session::on_write, shared_from_this()));
    }

    void on_write(error_code error, std::size_t) {
        if (error)
            return;
        if (response_.need_eof())
            return close();
        read_request();
    }

    void arm_timer() {
        if (options_.scenario == Scenario::hello_timeout)
            stream_.expires_after(options_.timeout);
    }

    void close() {
        error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    std::optional<http::request_parser<http::string_body>> parser_;
    http::response<http::string_body> response_;
    const Options &options_;
};

class Listener {
  public:
    Listener(asio::io_context &context, const Options &options)
        : context_(context), acceptor_(context), retry_(context), options_(options) {
        const tcp::endpoint wanted(asio::ip::make_address(options.host), options.port);
        acceptor_.open(wanted.protocol());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(wanted);
        acceptor_.listen(backlog);
        accept();
    }

    tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

  private:
    void accept() {
        if (options_.variant == "published")
            return acceptor_.async_accept(
                beast::bind_front_handler(&Listener::on_accept_published, this));
        acceptor_.async_accept(asio::make_strand(context_),
                               beast::bind_front_handler(&Listener::on_accept, this));
    }

    void on_accept(error_code error, tcp::socket socket) {
        if (error)
            return accept_later();
        socket.set_option(tcp::no_delay(true), error);
        std::make_shared<Session>(std::move(socket), options_)->start();
        accept();
    }

    // Without a strand and without TCP_NODELAY.
    void on_accept_published(error_code error, tcp::socket socket) {
        if (error)
            return accept_later();
        std::make_shared<PublishedSession>(std::move(socket))->read();
        accept();
    }

    // Out of file descriptors or memory: the next accept would fail at once as well.
    void accept_later() {
        retry_.expires_after(accept_retry);
        retry_.async_wait([this](error_code) { accept(); });
    }

    asio::io_context &context_;
    tcp::acceptor acceptor_;
    asio::steady_timer retry_;
    const Options &options_;
};

void serve(const Options &options) {
    asio::io_context context(options.workers);
    const Listener listener(context, options);
    std::vector<std::thread> threads;
    for (int i = 1; i < options.workers; i++)
        threads.emplace_back([&context] { context.run(); });
    std::cout << "listening " << listener.endpoint() << std::endl;
    context.run();
    for (auto &thread : threads)
        thread.join();
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options(argc, argv, {Scenario::hello, Scenario::hello_timeout});
    if (options.variant == "published" && options.scenario != Scenario::hello)
        refuse("the variant published has no scenario but hello");
    return run(options, serve);
}
