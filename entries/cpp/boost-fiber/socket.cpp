// Tries each call first, and suspends the fiber only if the socket refuses.
#include "socket.hpp"
#include "poller.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace {

// After this many, other fibers have their turn.
constexpr int full_reads_in_a_row = 16;

std::mutex unused_mutex;
Waiter *unused_waiters = nullptr;

// The calls return a negative error number. They are never inline: a fiber may go on in another
// thread, and the compiler would otherwise look up the address of `errno` only once.
[[gnu::noinline]] ssize_t receive_now(int fd, char *buffer, std::size_t size) {
    const ssize_t result = recv(fd, buffer, size, 0);
    return result < 0 ? -errno : result;
}

[[gnu::noinline]] ssize_t send_now(int fd, const char *bytes, std::size_t length) {
    const ssize_t result = send(fd, bytes, length, MSG_NOSIGNAL);
    return result < 0 ? -errno : result;
}

[[gnu::noinline]] int accept_now(int listener) {
    const int result = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    return result < 0 ? -errno : result;
}

} // namespace

Waiter *Waiter::take() {
    std::lock_guard lock(unused_mutex);
    if (unused_waiters == nullptr)
        return new Waiter;
    return std::exchange(unused_waiters, unused_waiters->next_unused_);
}

void Waiter::give_back() {
    {
        std::lock_guard lock(mutex_);
        poller_ = nullptr;
        calls_[readable] = calls_[writable] = 0;
    }
    std::lock_guard lock(unused_mutex);
    next_unused_ = std::exchange(unused_waiters, this);
}

bool Waiter::watch(int fd, bool follow, bool anew) {
    Poller &here = Poller::here();
    std::lock_guard lock(mutex_);
    if (poller_ == &here || (poller_ != nullptr && !follow))
        return !anew || poller_->rearm(fd, *this);
    if (poller_ != nullptr)
        poller_->remove(fd);
    poller_ = &here;
    return here.add(fd, *this);
}

bool Waiter::wait(Direction direction, std::chrono::milliseconds timeout) {
    std::unique_lock lock(mutex_);
    const auto signalled = [this, direction] { return calls_[direction] > 0; };
    if (timeout.count() == 0)
        changed_[direction].wait(lock, signalled);
    else if (!changed_[direction].wait_for(lock, timeout, signalled))
        return false;
    calls_[direction]--;
    return true;
}

// An end of stream is good for two reads: one takes the bytes before it, one finds the end.
void Waiter::deliver(std::uint32_t events) noexcept {
    const bool ended = events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    if (ended || events & EPOLLIN)
        signal(readable, ended ? 2 : 1);
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        signal(writable, 1);
}

void Waiter::signal(Direction direction, int calls) noexcept {
    {
        std::lock_guard lock(mutex_);
        calls_[direction] = std::max(calls_[direction], calls);
    }
    changed_[direction].notify_one();
}

Socket::Socket(int fd, std::chrono::milliseconds timeout) try
    : fd_(fd), waiter_(Waiter::take()), timeout_(timeout) {
} catch (...) {
    close(fd);
}

Socket::Socket(Socket &&other)
    : fd_(std::exchange(other.fd_, -1)), waiter_(std::exchange(other.waiter_, nullptr)),
      timeout_(other.timeout_) {}

Socket::~Socket() {
    if (fd_ < 0)
        return;
    close(fd_);
    waiter_->give_back();
}

// The fiber waits in the poller of the worker that runs it, so that the event makes it ready there.
bool Socket::wait_readable(bool anew) {
    return waiter_->watch(fd_, true, anew) && waiter_->wait(Waiter::readable, timeout_);
}

int Socket::accept() {
    for (;;) {
        const int result = accept_now(fd_);
        if (result == -EAGAIN && !wait_readable())
            return -ENOMEM;
        if (result != -EAGAIN && result != -EINTR && result != -ECONNABORTED)
            return result;
    }
}

ssize_t Socket::read(char *buffer, std::size_t size) {
    for (;;) {
        if (full_reads_ == full_reads_in_a_row) {
            full_reads_ = 0;
            if (!wait_readable(true))
                return -1;
        } else if (empty_ && !wait_readable()) {
            return -1;
        }
        const ssize_t length = receive_now(fd_, buffer, size);
        empty_ = length < static_cast<ssize_t>(size);
        full_reads_ = empty_ ? 0 : full_reads_ + 1;
        if (length != -EAGAIN)
            return length;
    }
}

bool Socket::write(const char *bytes, std::size_t length) {
    while (length > 0) {
        const ssize_t sent = send_now(fd_, bytes, length);
        if (sent == -EAGAIN) {
            if (!waiter_->watch(fd_, false, false) || !waiter_->wait(Waiter::writable, timeout_))
                return false;
        } else if (sent < 0) {
            return false;
        } else {
            bytes += sent;
            length -= sent;
        }
    }
    return true;
}

void Socket::shut_down() {
    shutdown(fd_, SHUT_RDWR);
}
