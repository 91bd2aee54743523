// Serves one connection in the scenarios `mutex`, `skewed` and `handoff`.
#pragma once
#include "../shared/options.hpp"
#include "../shared/work.hpp"
#include "replies.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

using ContextExecutor = asio::io_context::executor_type;
using Strand = asio::strand<ContextExecutor>;

// Handlers that must run next to those of the connection's strand, run on its io_context itself.
inline ContextExecutor outside(const Strand &strand) {
    return strand.get_inner_executor();
}
inline ContextExecutor outside(const ContextExecutor &executor) {
    return executor;
}

// `Lock` is the one lock of `mutex`: a strand to post the work to, or a mutex.
template <class Executor, class Lock>
class WorkSession : public std::enable_shared_from_this<WorkSession<Executor, Lock>> {
  public:
    using Socket = asio::basic_stream_socket<tcp, Executor>;

    WorkSession(Socket socket, const Options &options, Lock &lock)
        : socket_(std::move(socket)), scenario_(options.scenario), lock_(lock) {}

    // The acceptor's handler runs outside the strand, so the first operation has to enter it.
    void start() {
        asio::dispatch(socket_.get_executor(), [self = this->shared_from_this()] { self->read(); });
    }

  private:
    using Microseconds = std::chrono::microseconds;

    void read() {
        socket_.async_read_some(asio::buffer(buffer_), [self = this->shared_from_this()](
                                                           error_code error, std::size_t length) {
            if (error)
                return;
            self->input_ = std::string_view(self->buffer_, length);
            self->take_requests();
        });
    }

    // Works on the requests of a read, until all are done or one goes on in another handler.
    void take_requests() {
        while (const auto work = works_.next(input_)) {
            if (scenario_ == Scenario::handoff) {
                if (!hand_over(*work) || broken_)
                    return;
                continue;
            }
            if (scenario_ == Scenario::mutex) {
                if (!work_with(lock_, *work))
                    return;
            } else {
                work_for(*work);
            }
            owed_bytes_ += reply.size();
        }
        write();
    }

    bool work_with(std::mutex &lock, Microseconds work) {
        std::lock_guard held(lock);
        work_for(work);
        return true;
    }

    // The handler holds the lock while it runs. The connection goes on when it has its own strand.
    bool work_with(Strand &lock, Microseconds work) {
        asio::post(lock, [self = this->shared_from_this(), work] {
            work_for(work);
            asio::post(self->socket_.get_executor(), [self] {
                self->owed_bytes_ += reply.size();
                self->take_requests();
            });
        });
        return false;
    }

    void write() {
        if (owed_bytes_ == 0)
            return read();
        socket_.async_write_some(
            next_replies(offset_, owed_bytes_),
            [self = this->shared_from_this()](error_code error, std::size_t length) {
                if (error)
                    return;
                self->owed_bytes_ -= length;
                self->offset_ += length;
                self->write();
            });
    }

    // Passes a reply to the second chain of handlers and works. Whichever chain ends last takes the
    // next request, so one reply at most is on its way, and only one chain uses the socket.
    bool hand_over(Microseconds work) {
        running_chains_ = 2;
        reply_sent_ = 0;
        asio::post(outside(socket_.get_executor()),
                   [self = this->shared_from_this()] { self->write_one(); });
        work_for(work);
        return running_chains_.fetch_sub(1) == 1;
    }

    // The second chain: its handlers are bound to the io_context, since the first one may work.
    void write_one() {
        socket_.async_write_some(
            next_replies(reply_sent_, reply.size() - reply_sent_),
            asio::bind_executor(
                outside(socket_.get_executor()),
                [self = this->shared_from_this()](error_code error, std::size_t length) {
                    self->reply_sent_ += length;
                    self->broken_ = bool(error);
                    if (!error && self->reply_sent_ < reply.size())
                        return self->write_one();
                    if (self->running_chains_.fetch_sub(1) == 1 && !error)
                        asio::post(self->socket_.get_executor(), [self] { self->take_requests(); });
                }));
    }

    Socket socket_;
    const Scenario scenario_;
    Lock &lock_;
    WorkReader works_;
    std::string_view input_;
    std::size_t owed_bytes_ = 0;
    std::size_t offset_ = 0;
    // In `handoff`, both chains use these, one after the other.
    std::atomic<int> running_chains_ = 0;
    std::size_t reply_sent_ = 0;
    bool broken_ = false;
    char buffer_[read_bytes];
};
