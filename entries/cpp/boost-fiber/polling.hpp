// Makes a scheduling algorithm of Boost.Fiber wait for sockets: whenever no fiber is ready, the
// worker sleeps in its poller instead of in a condition variable.
#pragma once
#include "poller.hpp"

#include <algorithm>
#include <boost/fiber/all.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/scheduler.hpp>
#include <boost/version.hpp>
#include <chrono>
#include <climits>
#include <type_traits>

template <class Base> class Polling : public Base {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Context = boost::fibers::context;

    template <class... Arguments>
    explicit Polling(Arguments... arguments) : Base(arguments...), poller_(Poller::here()) {}

    // The algorithms leave it to their users to wake a worker that could take the fiber.
    void awakened(Context *fiber) noexcept override {
        if (shares && must_stay(fiber))
            return fiber->ready_link(local_);
        Base::awakened(fiber);
        if (shares && !takes_itself())
            Poller::wake_another();
    }

    // The fibers of the algorithm come first. The dispatcher, which looks for remote wake-ups and
    // timeouts, is in the other queue, and runs when they are all done.
    Context *pick_next() noexcept override {
        made_ready_ = false;
        if (local_.empty() || Base::has_ready_fibers())
            if (Context *fiber = Base::pick_next())
                return fiber;
        if (local_.empty())
            return nullptr;
        Context *fiber = &local_.front();
        local_.pop_front();
        return fiber;
    }

    bool has_ready_fibers() const noexcept override {
        return !local_.empty() || Base::has_ready_fibers();
    }

    void suspend_until(const TimePoint &deadline) noexcept override {
        const bool sleeps = poller_.fall_asleep() && !has_come();
        poller_.poll(sleeps ? milliseconds_until(deadline) : 0);
    }

    void notify() noexcept override { poller_.wake(); }

  private:
    // Whether fibers may move to other workers.
    static constexpr bool shares = !std::is_same_v<Base, boost::fibers::algo::round_robin>;

    // Pinned fibers must not be in the queue of work_stealing: other workers take only the fiber at
    // its front, and would give up there although others are ready behind it.
    static bool must_stay(const Context *fiber) noexcept {
        if (fiber->is_context(boost::fibers::type::pinned_context))
            return true;
#if BOOST_VERSION < 107500
        // A fiber whose wait timed out is still in a list of waiting fibers, and must not move.
        return fiber->wait_is_linked();
#else
        return false;
#endif
    }

    // The dispatcher, which has nothing else to do, runs the first fiber that it makes ready.
    bool takes_itself() noexcept {
        const auto dispatcher = boost::fibers::type::dispatcher_context;
        const bool first = !made_ready_ && Context::active()->is_context(dispatcher);
        made_ready_ = true;
        return first;
    }

    // Whether a fiber became ready elsewhere before this worker counted as asleep. It stays ready.
    bool has_come() noexcept {
        Context *fiber = shares ? Base::pick_next() : nullptr;
        if (fiber != nullptr)
            Base::awakened(fiber);
        return fiber != nullptr;
    }

    // Rounded up, so that a deadline has passed when the worker wakes. -1 if there is none.
    static int milliseconds_until(const TimePoint &deadline) {
        if (deadline == TimePoint::max())
            return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        return static_cast<int>(std::clamp<long long>(left.count(), 0, INT_MAX));
    }

    Poller &poller_;
    bool made_ready_ = false;
    // Ready fibers that only this worker may run.
    boost::fibers::scheduler::ready_queue_type local_;
};
