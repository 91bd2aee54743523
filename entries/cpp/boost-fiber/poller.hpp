// The epoll instance of one worker thread, in which the worker sleeps while it has no fiber to run.
#pragma once
#include <atomic>
#include <sys/epoll.h>
#include <vector>

class Waiter;

class Poller {
  public:
    Poller();
    Poller(const Poller &) = delete;

    // The poller of the calling thread. Never inline: a fiber may go on in another thread, and the
    // compiler would otherwise look up the thread only once.
    [[gnu::noinline]] static Poller &here();
    // Becomes the poller of the calling thread.
    void enter();

    // Reports each change of a socket to the waiter, edge-triggered.
    bool add(int fd, Waiter &waiter) { return control(EPOLL_CTL_ADD, fd, &waiter); }
    // Reports anew what holds already.
    bool rearm(int fd, Waiter &waiter) { return control(EPOLL_CTL_MOD, fd, &waiter); }
    void remove(int fd) { control(EPOLL_CTL_DEL, fd, nullptr); }

    // From now on, `wake` ends the next `poll`. False if it was called already.
    bool fall_asleep() noexcept;
    // Passes events to their waiters. Ends at the first events, the timeout or `wake`.
    void poll(int timeout_ms) noexcept;

    // May be called from any thread.
    void wake() noexcept;
    // Wakes one worker if one is asleep.
    static void wake_another() noexcept;

  private:
    enum State { awake, asleep, notified };

    bool control(int operation, int fd, Waiter *waiter);
    void interrupt() noexcept;

    static inline std::vector<Poller *> all_;
    static inline std::atomic<int> sleepers_ = 0;

    int epoll_;
    int wake_event_;
    std::atomic<State> state_ = awake;
    epoll_event events_[256];
};
