// Sleeps in epoll_wait, wakes, and passes events on.
#include "poller.hpp"
#include "socket.hpp"

#include <cerrno>
#include <iterator>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace {

thread_local Poller *poller_of_thread = nullptr;

} // namespace

// The event that wakes has no waiter. It is edge-triggered, so it is never read.
Poller::Poller()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (epoll_ < 0 || wake_event_ < 0 || !control(EPOLL_CTL_ADD, wake_event_, nullptr))
        throw std::system_error(errno, std::generic_category(), "epoll");
    all_.push_back(this);
}

Poller &Poller::here() {
    return *poller_of_thread;
}

void Poller::enter() {
    poller_of_thread = this;
}

bool Poller::control(int operation, int fd, Waiter *waiter) {
    epoll_event event = {};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.ptr = waiter;
    return epoll_ctl(epoll_, operation, fd, &event) == 0;
}

// Counted before, so that a worker that does not see the count has made its fiber ready before.
bool Poller::fall_asleep() noexcept {
    State expected = awake;
    sleepers_++;
    if (state_.compare_exchange_strong(expected, asleep))
        return true;
    sleepers_--;
    return false;
}

void Poller::poll(int timeout_ms) noexcept {
    const int count = epoll_wait(epoll_, events_, std::size(events_), timeout_ms);
    if (state_.exchange(awake) == asleep)
        sleepers_--;
    for (int i = 0; i < count; i++)
        if (events_[i].data.ptr != nullptr)
            static_cast<Waiter *>(events_[i].data.ptr)->deliver(events_[i].events);
}

void Poller::wake() noexcept {
    if (state_.exchange(notified) == asleep)
        interrupt();
}

void Poller::wake_another() noexcept {
    if (sleepers_ == 0)
        return;
    for (Poller *poller : all_) {
        State expected = asleep;
        if (poller->state_.compare_exchange_strong(expected, notified))
            return poller->interrupt();
    }
}

void Poller::interrupt() noexcept {
    sleepers_--;
    eventfd_write(wake_event_, 1);
}
