#pragma once
// Queues: commands of one device, in order. A device has one of its own; more of them run side by side.

#include <cstddef>
#include <memory>
#include <utility>

#include "balm/bound_kernel.hpp"
#include "balm/event.hpp"

namespace balm {

class device;

namespace runtime {
class device_state;
class queue_state;
}  // namespace runtime

namespace detail {

/// Launches a kernel of N dimensions on a queue; `local` and `offset` may be null. Throws usage_error for a
/// local size that does not divide the global one or does not fit the device.
event launch(const std::shared_ptr<runtime::queue_state>&, const bound_call&, int dimensions,
             const std::size_t* global, const std::size_t* local, const std::int64_t* offset,
             const wait_list&);

}  // namespace detail

/// An in-order queue of a device. A handle: copies are the same queue; it finishes its work when the last of
/// them goes. Commands on different queues run side by side, except that a command waits by itself for those
/// of other queues that it shares a buffer with.
///
///     balm::queue other = device.make_queue();
///     balm::event done = other.execute(scale(2.f, a, b), {n});
class queue {
public:
    explicit queue(std::shared_ptr<runtime::queue_state> state) : state_(std::move(state)) {}

    /// Runs a kernel over `global` work-items, after the events; the work-group's size is Balm's choice.
    template <int N, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, Waits&&... waits) {
        return pending(detail::launch(state_, kernel, N, global.data(), nullptr, nullptr,
                                      wait_list(std::forward<Waits>(waits)...)));
    }
    /// Runs a kernel over `global` work-items in work-groups of `local`, which divides it.
    template <int N, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const launch_size<N>& local,
                    Waits&&... waits) {
        return pending(detail::launch(state_, kernel, N, global.data(), local.data(), nullptr,
                                      wait_list(std::forward<Waits>(waits)...)));
    }
    /// Runs a kernel over so many work-groups of so many work-items: `execute(kernel(a), balm::groups(120,
    /// 256))`.
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const group_grid<M>& grid, Waits&&... waits) {
        detail::check_dimensions<N, M>();
        return pending(detail::launch(state_, kernel, N, grid.global().data(), grid.size.data(), nullptr,
                                      wait_list(std::forward<Waits>(waits)...)));
    }
    /// The same as over `global` where the grid begins at an offset: global_id runs from there.
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const grid_offset<M>& from,
                    Waits&&... waits) {
        detail::check_dimensions<N, M>();
        return pending(detail::launch(state_, kernel, N, global.data(), nullptr, from.start.data(),
                                      wait_list(std::forward<Waits>(waits)...)));
    }
    template <int N, int M, waitable... Waits>
    pending execute(const bound_kernel<N>& kernel, const launch_size<N>& global, const launch_size<N>& local,
                    const grid_offset<M>& from, Waits&&... waits) {
        detail::check_dimensions<N, M>();
        return pending(detail::launch(state_, kernel, N, global.data(), local.data(), from.start.data(),
                                      wait_list(std::forward<Waits>(waits)...)));
    }
    template <int N>
    BALM_REFUSED(BALM_WITHOUT_GRID)
    pending execute(const bound_kernel<N>& kernel);

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
    friend bool operator==(const queue&, const queue&) = default;

private:
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
