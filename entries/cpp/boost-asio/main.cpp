// Boost.Asio with callbacks. Variant `shared`: one io_context that all threads run, a strand per
// connection. Variant `prefork`: one io_context and one SO_REUSEPORT acceptor per thread. Variant
// `published`: the document's sessions without a strand.
//
// It is deliberately not Boost.Beast: it only looks for the end of each request head.
#include "../shared/heads.hpp"
#include "../shared/options.hpp"
#include "published.hpp"
#include "replies.hpp"
#include "work_session.hpp"

#include <chrono>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

namespace {

constexpr int backlog = 4096;
constexpr auto accept_retry = std::chrono::milliseconds(50);

// One connection. Socket and timer have the same executor, a strand where threads share the
// io_context, so no two handlers of a connection ever run at the same time.
template <class Executor> class Session : public std::enable_shared_from_this<Session<Executor>> {
  public:
    using Socket = asio::basic_stream_socket<tcp, Executor>;

    Session(Socket socket, const Options &options)
        : socket_(std::move(socket)), timer_(socket_.get_executor()), options_(options) {}

    // The acceptor's handler runs outside the strand, so the first operation has to enter it.
    void start() {
        asio::dispatch(socket_.get_executor(), [self = this->shared_from_this()] { self->read(); });
    }

  private:
    using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

    void read() {
        arm_timer();
        socket_.async_read_some(asio::buffer(buffer_), [self = this->shared_from_this()](
                                                           error_code error, std::size_t length) {
            if (error)
                return self->stop();
            self->answer(length);
        });
    }

    void answer(std::size_t length) {
        offset_ = 0;
        owed_bytes_ = options_.scenario == Scenario::echo
                          ? length
                          : reply.size() * heads_.count(buffer_, length);
        write();
    }

    // Not asio::async_write, because the deadline holds for each step that makes progress.
    void write() {
        if (owed_bytes_ == 0)
            return read();
        arm_timer();
        socket_.async_write_some(
            next_output(), [self = this->shared_from_this()](error_code error, std::size_t length) {
                if (error)
                    return self->stop();
                self->owed_bytes_ -= length;
                self->offset_ += length;
                self->write();
            });
    }

    asio::const_buffer next_output() {
        if (options_.scenario == Scenario::echo)
            return asio::buffer(buffer_ + offset_, owed_bytes_);
        return next_replies(offset_, owed_bytes_);
    }

    // Setting a new expiry cancels the wait before. A handler that was queued already when that
    // happened comes without an error, so it looks at the expiry that holds now.
    void arm_timer() {
        if (options_.scenario != Scenario::hello_timeout)
            return;
        timer_.expires_after(options_.timeout);
        timer_.async_wait([self = this->shared_from_this()](error_code error) {
            error_code ignored;
            if (!error && self->timer_.expiry() <= Clock::now())
                self->socket_.close(ignored);
        });
    }

    // The pending wait would keep the session and its socket alive until it expires.
    void stop() { timer_.cancel(); }

    Socket socket_;
    Timer timer_;
    const Options &options_;
    HeadCounter heads_;
    std::size_t owed_bytes_ = 0;
    std::size_t offset_ = 0;
    char buffer_[read_bytes];
};

tcp::acceptor listen_on(asio::io_context &context, const Options &options) {
    const tcp::endpoint endpoint(asio::ip::make_address(options.host), options.port);
    tcp::acceptor acceptor(context, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    const int on = 1;
    if (options.variant == "prefork" && options.workers > 1 &&
        setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) < 0)
        throw boost::system::system_error(errno, boost::system::system_category(), "SO_REUSEPORT");
    acceptor.bind(endpoint);
    acceptor.listen(backlog);
    return acceptor;
}

// Accepts connections and gives each the executor that `make_executor` returns. `lock` is the one
// of the scenario `mutex`.
template <class MakeExecutor, class Lock> class Server {
  public:
    Server(tcp::acceptor acceptor, MakeExecutor make_executor, Lock &lock, const Options &options)
        : acceptor_(std::move(acceptor)), retry_(acceptor_.get_executor()),
          make_executor_(make_executor), lock_(lock), options_(options) {
        accept();
    }

  private:
    using Executor = decltype(std::declval<MakeExecutor>()());
    using Socket = typename Session<Executor>::Socket;

    void accept() {
        acceptor_.async_accept(make_executor_(), [this](error_code error, Socket socket) {
            if (error)
                return accept_later();
            if constexpr (std::is_same_v<Executor, asio::any_io_executor>) {
                std::make_shared<PublishedSession>(std::move(socket), options_)->start();
            } else {
                socket.set_option(tcp::no_delay(true), error);
                start_session(std::move(socket));
            }
            accept();
        });
    }

    void start_session(Socket socket) {
        if (has_work(options_.scenario))
            std::make_shared<WorkSession<Executor, Lock>>(std::move(socket), options_, lock_)
                ->start();
        else
            std::make_shared<Session<Executor>>(std::move(socket), options_)->start();
    }

    // Out of file descriptors or memory: the next accept would fail at once as well.
    void accept_later() {
        retry_.expires_after(accept_retry);
        retry_.async_wait([this](error_code) { accept(); });
    }

    tcp::acceptor acceptor_;
    asio::steady_timer retry_;
    MakeExecutor make_executor_;
    Lock &lock_;
    const Options &options_;
};

// Runs `work(0)` to `work(workers - 1)`, the first one on the calling thread.
template <class Work>
void run_on_threads(const Options &options, const tcp::endpoint &bound, Work work) {
    std::vector<std::thread> threads;
    for (int i = 1; i < options.workers; i++)
        threads.emplace_back(work, i);
    std::cout << "listening " << bound << std::endl;
    work(0);
    for (auto &thread : threads)
        thread.join();
}

void serve_shared(const Options &options) {
    asio::io_context context(options.workers);
    auto acceptor = listen_on(context, options);
    const auto bound = acceptor.local_endpoint();
    Strand lock = asio::make_strand(context);
    Server server(
        std::move(acceptor), [&context] { return asio::make_strand(context); }, lock, options);
    run_on_threads(options, bound, [&context](int) { context.run(); });
}

// The executor of `tcp::socket`, which selects the session of the document.
void serve_published(const Options &options) {
    asio::io_context context(options.workers);
    auto acceptor = listen_on(context, options);
    const auto bound = acceptor.local_endpoint();
    std::mutex unused;
    Server server(
        std::move(acceptor), [&context] { return asio::any_io_executor(context.get_executor()); },
        unused, options);
    run_on_threads(options, bound, [&context](int) { context.run(); });
}

void serve_prefork(Options options) {
    // Each context has one thread only, so its executor is as good as a strand.
    std::deque<asio::io_context> contexts;
    std::vector<tcp::acceptor> acceptors;
    // A strand belongs to one context, so it would move all work to one thread.
    std::mutex lock;
    for (int i = 0; i < options.workers; i++) {
        acceptors.push_back(listen_on(contexts.emplace_back(1), options));
        options.port = acceptors.front().local_endpoint().port();
    }
    run_on_threads(options, acceptors.front().local_endpoint(), [&](int index) {
        auto &context = contexts[index];
        Server server(
            std::move(acceptors[index]), [&context] { return context.get_executor(); }, lock,
            options);
        context.run();
    });
}

} // namespace

int main(int argc, char **argv) {
    const auto options = parse_options(argc, argv,
                                       {Scenario::hello, Scenario::hello_timeout, Scenario::echo,
                                        Scenario::mutex, Scenario::skewed, Scenario::handoff});
    if (options.variant == "shared")
        return run(options, serve_shared);
    if (options.variant == "prefork")
        return run(options, serve_prefork);
    if (options.variant == "published" &&
        (options.scenario == Scenario::hello || options.scenario == Scenario::hello_timeout))
        return run(options, serve_published);
    refuse("unknown variant " + options.variant +
           ": use shared, prefork or published, which has hello and hello-timeout");
}
