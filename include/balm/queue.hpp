#pragma once
// Queues: commands of one device, in order. A device has a default queue; additional ones run concurrently.

#include <memory>
#include <utility>

#include "balm/event.hpp"
#include "balm/launcher.hpp"
#include "balm/shared_state.hpp"

namespace balm {

class device;

namespace runtime {
class device_state;
class queue_state;
}  // namespace runtime

/// An in-order queue of a device. A handle: copies are the same queue, which waits for its commands when the
/// last copy is destroyed. Commands of different queues run concurrently, except that a command automatically
/// waits for commands of other queues that access the same memory.
///
///     balm::queue other = device.make_queue();
///     balm::event done = other.execute(scale(2.f, a, b), {n});
class queue : public launcher<queue> {
public:
    explicit queue(std::shared_ptr<runtime::queue_state> state) : state_(std::move(state)) {}

    /// Submits all commands so far to the device; does not wait.
    void flush();
    /// Waits until all commands so far have completed. Throws device_error if one failed.
    void finish();
    /// An event that completes once all commands so far, and the given events, have completed. Later commands
    /// wait for these events, too.
    ///
    ///     balm::event both = queue.record(other.record());
    template <waitable... Waits>
    event record(Waits&&... waits) {
        return record_after(wait_list(std::forward<Waits>(waits)...));
    }

    /// The device of the queue.
    balm::device device() const;

    const std::shared_ptr<runtime::queue_state>& state() const { return state_; }
    friend bool operator==(const queue& a, const queue& b) { return a.state_ == b.state_; }

private:
    friend launcher<queue>;
    event launch(const bound_call&, const detail::nd_range&, const wait_list&) const;
    event record_after(const wait_list&);

    detail::shared_state<runtime::queue_state> state_;
};

/// Makes a queue the default queue of its device for the current thread, as long as this object lives. It
/// receives every command that names no queue: array statements, reductions and algorithms, reads and writes
/// of vectors and buffers, `device.execute`. Scopes nest: of several for one device the innermost applies.
/// Scopes for different devices apply together, which selects the queues of a statement on vectors over
/// several devices. A scope must be destroyed on the thread that made it.
///
///     balm::queue other = device.make_queue();
///     {
///         balm::queue_scope on(other);
///         y = 2 * x + 1;                 // concurrent with the device's default queue
///     }
///     other.finish();
class [[nodiscard("Balm: the scope ends at once: name it, as in balm::queue_scope on(queue);")]] queue_scope {
public:
    explicit queue_scope(const queue& on);
    queue_scope(const queue_scope&) = delete;
    queue_scope& operator=(const queue_scope&) = delete;
    ~queue_scope();

private:
    friend class runtime::device_state;
    /// The queue that this thread's innermost scope for the device selects; null if there is none.
    static const std::shared_ptr<runtime::queue_state>* named_for(const runtime::device_state&) noexcept;

    std::shared_ptr<runtime::queue_state> queue_;
    queue_scope* outer_;
};

}  // namespace balm
