// One connection as async-bench measured it: no strand, and in `hello-timeout` two timers, each of
// which waits anew whenever its expiry moves.
//
// Without a strand, a timer's handler can run on another thread while the connection's handlers use
// the same objects. That is the document's design; a reply or a request is never affected by it.
#pragma once
#include "../shared/heads.hpp"
#include "../shared/options.hpp"
#include "replies.hpp"

#include <chrono>
#include <memory>
#include <utility>

class PublishedSession : public std::enable_shared_from_this<PublishedSession> {
  public:
    PublishedSession(tcp::socket socket, const Options &options)
        : socket_(std::move(socket)), read_deadline_(socket_.get_executor()),
          write_deadline_(socket_.get_executor()), options_(options) {}

    void start() {
        if (options_.scenario == Scenario::hello_timeout) {
            write_deadline_.expires_at(Timer::time_point::max());
            read_deadline_.expires_after(options_.timeout);
            watch(read_deadline_);
            watch(write_deadline_);
        }
        read();
    }

  private:
    using Timer = asio::steady_timer;

    void read() {
        move_deadline(read_deadline_);
        socket_.async_read_some(asio::buffer(buffer_), [self = shared_from_this()](
                                                           error_code error, std::size_t length) {
            if (error)
                return self->stop();
            self->write(reply.size() * self->heads_.count(self->buffer_, length));
        });
    }

    // A buffer has fewer heads than the block has replies.
    void write(std::size_t length) {
        static_assert(read_bytes / 4 <= replies_per_block);
        if (length == 0)
            return read();
        move_deadline(write_deadline_);
        asio::async_write(socket_, next_replies(0, length),
                          [self = shared_from_this()](error_code error, std::size_t) {
                              if (error)
                                  return self->stop();
                              self->read();
                          });
    }

    // Cancels the wait, whose handler then waits for the new expiry.
    void move_deadline(Timer &deadline) {
        if (options_.scenario == Scenario::hello_timeout)
            deadline.expires_after(options_.timeout);
    }

    void watch(Timer &deadline) {
        deadline.async_wait([self = shared_from_this(), &deadline](error_code) {
            if (!self->socket_.is_open())
                return;
            if (deadline.expiry() <= Timer::clock_type::now())
                self->stop();
            else
                self->watch(deadline);
        });
    }

    void stop() {
        error_code ignored;
        socket_.close(ignored);
        read_deadline_.cancel();
        write_deadline_.cancel();
    }

    static constexpr std::size_t read_bytes = 1024;

    tcp::socket socket_;
    Timer read_deadline_;
    Timer write_deadline_;
    const Options &options_;
    HeadCounter heads_;
    char buffer_[read_bytes];
};
