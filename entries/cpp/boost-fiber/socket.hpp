// Sockets for fibers: calls that suspend the fiber instead of blocking its thread.
#pragma once
#include <boost/fiber/all.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <sys/types.h>

class Poller;

// Where the fibers of a socket wait for its events. Waiters are reused and never freed, because a
// worker may deliver an event after another one has closed the socket. Events that come too late
// are harmless: whoever waits tries the call again.
class Waiter {
  public:
    enum Direction { readable, writable };

    static Waiter *take();
    void give_back();

    // Makes a poller report the socket: the one of this thread if `follow` is set or none does yet.
    // With `anew`, it reports also what it has reported before.
    bool watch(int fd, bool follow, bool anew);
    // Waits for an event of this direction. False if none comes before the timeout, if there is
    // one.
    bool wait(Direction direction, std::chrono::milliseconds timeout);
    // Called by a poller.
    void deliver(std::uint32_t events) noexcept;

  private:
    void signal(Direction direction, int calls) noexcept;

    // Not a mutex of Boost.Fiber: a poller locks it outside of fibers, which cannot be suspended.
    std::mutex mutex_;
    Poller *poller_ = nullptr;
    // For each direction, how many calls are worth a try.
    int calls_[2] = {};
    boost::fibers::condition_variable_any changed_[2];
    Waiter *next_unused_ = nullptr;
};

class Socket {
  public:
    // Takes over the descriptor. A timeout of zero is none.
    explicit Socket(int fd, std::chrono::milliseconds timeout = std::chrono::milliseconds::zero());
    Socket(Socket &&other);
    ~Socket();

    // Returns the new descriptor, or a negative error number.
    int accept();
    // Returns 0 at the end of the stream and a negative number if the socket is of no use any more.
    ssize_t read(char *buffer, std::size_t size);
    // Writes all bytes. False if the socket is of no use any more.
    bool write(const char *bytes, std::size_t length);
    // Ends the calls of other fibers.
    void shut_down();

  private:
    bool wait_readable(bool anew = false);

    int fd_;
    Waiter *waiter_;
    std::chrono::milliseconds timeout_;
    // Whether the last read took all that there was, so the next one has to wait first.
    bool empty_ = false;
    int full_reads_ = 0;
};
