#pragma once
// Queues: commands of one device, in order. A device has one of its own; more of them run side by side.

#include <memory>
#include <utility>

#include "balm/event.hpp"
#include "balm/launcher.hpp"

namespace balm {

class device;

namespace runtime {
class device_state;
class queue_state;
}  // namespace runtime

/// An in-order queue of a device. A handle: copies are the same queue; it finishes its work when the last of
/// them goes. Commands on different queues run side by side, except that a command waits by itself for those
/// of other queues that it shares a buffer with.
///
///     balm::queue other = device.make_queue();
///     balm::event done = other.execute(scale(2.f, a, b), {n});
class queue : public launcher<queue> {
public:
    explicit queue(std::shared_ptr<runtime::queue_state> state) : state_(std::move(state)) {}

    /// Hands all commands so far to the device; does not wait.
    void flush();
    /// Waits until all commands so far are done. Throws device_error if one failed.
    void finish();
    /// The point that all commands so far, and the events, have reached. Commands behind it come after these
    /// events, too.
    ///
    ///     balm::event both = queue.record(other.record());
    template <waitable... Waits>
    event record(Waits&&... waits) {
        return record_after(wait_list(std::forward<Waits>(waits)...));
    }

    /// The device that it belongs to.
    balm::device device() const;

    const std::shared_ptr<runtime::queue_state>& state() const { return state_; }
    friend bool operator==(const queue& a, const queue& b) { return a.state_ == b.state_; }

private:
    friend launcher<queue>;
    event launch(const bound_call&, const detail::nd_range&, const wait_list&) const;
    event record_after(const wait_list&);

    std::shared_ptr<runtime::queue_state> state_;
};

/// While it lives, everything that its thread gives to the queue's device without naming a queue goes to this
/// queue instead of the device's own: array statements, reductions and algorithms, reads and writes of
/// vectors and buffers, `device.execute`. Scopes nest: of several of one device the innermost counts, and
/// those of different devices count together, which is how a statement of vectors over several devices has
/// its queues chosen. It is destroyed on the thread that made it.
///
///     balm::queue other = device.make_queue();
///     {
///         balm::queue_scope on(other);
///         y = 2 * x + 1;                 // beside what the device's own queue does
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
    /// The queue of the device that this thread's innermost scope of it names; null where none does.
    static const std::shared_ptr<runtime::queue_state>* named_for(const runtime::device_state&) noexcept;

    std::shared_ptr<runtime::queue_state> queue_;
    queue_scope* outer_;
};

}  // namespace balm
