#pragma once
// Recordings: a program of statements that is recorded once and replayed.

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "balm/context.hpp"
#include "balm/shared_state.hpp"

namespace balm {

namespace runtime {
class command_list;
class recording_scope;
}  // namespace runtime

/// Commands that were recorded, see balm::record. A handle: copies are the same recording. Replays may come
/// from several threads, and run one after the other where they use the same memory. It keeps the memory that
/// its commands use, also that of vectors whose names are gone; destroying it does not wait for replays in
/// flight.
class recording {
public:
    /// Use balm::record.
    explicit recording(std::shared_ptr<runtime::command_list> commands);

    /// Enqueues the recorded commands, in the order of the statements, and returns: they run as if the
    /// statements were executed again, in the queues that the statements named, and otherwise in the default
    /// queue of this thread (see queue_scope). While this thread records, they are recorded instead. A
    /// recording with kernels that print waits for its previous replay. Throws usage_error if memory that a
    /// command uses was freed.
    void operator()() const;
    /// Replays it this many times.
    void repeat(std::size_t times) const;

    /// The number of recorded commands: launches, copies, fills and writes.
    std::size_t size() const;
    /// The recorded commands, each in a line: its kernel, and its work-items or bytes.
    ///
    ///     elementwise, 65536 work-items
    ///     fill, 4096 bytes
    std::string describe() const;

private:
    detail::shared_state<runtime::command_list> commands_;
};

namespace detail {

/// Records the commands of this thread from its construction to finish(), or else to its destruction.
class statement_recorder {
public:
    explicit statement_recorder(const context&);
    statement_recorder(const statement_recorder&) = delete;
    statement_recorder& operator=(const statement_recorder&) = delete;
    ~statement_recorder();
    recording finish();

private:
    std::shared_ptr<runtime::command_list> commands_;
    std::unique_ptr<runtime::recording_scope> scope_;
};

}  // namespace detail

/// Runs `statements()` once, on this thread, and records the commands that it would enqueue, on the devices
/// of the context: assignments of expressions, views and host data, `sum_into` and other algorithms without a
/// result on the host, launches of kernels, copies, fills and writes. None of them runs until the recording
/// is replayed, which takes a fraction of the host's time: kernels are compiled, and arguments are bound,
/// once.
///
///     balm::vector<double> x(ctx, n), v(ctx, n);
///     balm::recording step = balm::record(ctx, [&] {
///         v -= dt * x;
///         x += dt * v;
///     });
///     step.repeat(1000);
///
/// What belongs to the host is evaluated once: host values keep the value they had, so a number that changes
/// between replays is an element of a vector; host data is copied; a vector that is assigned another size, or
/// swapped with another, leaves the recording with the memory it had. Waits for recorded commands do nothing,
/// since replays keep the order.
///
/// Throws usage_error for what needs a result while it is recorded: an element, `sum(x)`, `to_host()`, the
/// number of results of `copy_if`, mapped memory; for native commands; for devices that the context does not
/// have; and if this thread records already. An exception of `statements` passes through; nothing has run.
template <std::invocable Statements>
recording record(const context& on, Statements&& statements) {
    detail::statement_recorder commands(on);
    std::forward<Statements>(statements)();
    return commands.finish();
}

}  // namespace balm
