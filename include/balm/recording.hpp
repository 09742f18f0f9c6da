#pragma once
// Recordings: a program of statements that is recorded once and replayed.

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/shared_state.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace runtime {
class command_list;
class recording_scope;
}  // namespace runtime

namespace detail {
[[noreturn]] void condition_of_many(std::size_t elements);
}  // namespace detail

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
    /// Replays it until the condition holds after a replay, `at_most` times, and returns how many replays
    /// these were. The condition is a vector or an expression of one element, which the replays compute; any
    /// number but 0 holds. The host waits for it after each replay, so the commands of a replay should take
    /// longer than 10 microseconds. Throws usage_error for several elements.
    ///
    ///     const std::size_t iterations = step.until(residual < 1e-10, 1000);
    template <array_value Condition>
    std::size_t until(const Condition& condition, std::size_t at_most) const;

    /// The number of recorded commands: launches, copies, fills and writes.
    std::size_t size() const;
    /// The recorded commands, each in a line: its kernel, and its work-items or bytes.
    ///
    ///     elementwise, 65536 work-items
    ///     fill, 4096 bytes
    std::string describe() const;

    const std::shared_ptr<runtime::command_list>& commands() const { return commands_; }

private:
    detail::shared_state<runtime::command_list> commands_;
};

template <array_value Condition>
std::size_t recording::until(const Condition& condition, std::size_t at_most) const {
    for (std::size_t turn = 1; turn <= at_most; ++turn) {
        (*this)();
        const vector<bool> holds = condition != detail::element_of<Condition>{};
        if (holds.size() != 1) detail::condition_of_many(holds.size());
        if (holds[0]) return turn;
    }
    return at_most;
}

namespace detail {

void are_temporary(std::span<const std::shared_ptr<array::vector_state>>);

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

/// Recordings of the same statements on other vectors. A handle.
class recording_bindings {
public:
    /// The vectors with which it was recorded; null for other arguments.
    recording_bindings(recording, std::vector<std::shared_ptr<array::vector_state>> arguments);
    const recording& recorded() const;
    /// With these vectors in their place.
    recording with(const std::vector<std::shared_ptr<array::vector_state>>&) const;
    /// Held while arguments are written and replayed.
    std::recursive_mutex& mutex() const;

private:
    struct state;
    shared_state<state> state_;
};

/// An argument of a recording. Numbers are in the memory of the device: each is a vector of one element.
template <class A>
struct recorded_argument {
    using held = vector<dsl::detail::memory_element<A>>;
    using replayed = A;

    static held hold(const context& on, const A& value) { return held(on, 1, value); }
    static const held& recorded(const held& number, const A&) { return number; }
    static void write(held& number, const A& value) { number = value; }
    static std::shared_ptr<array::vector_state> state_of(const A&) { return nullptr; }
};
template <class V>
struct recorded_vector {
    struct held {};
    using replayed = V&;

    static held hold(const context&, V& x) {
        if (!x.state()) vector_without_device();
        return {};
    }
    static V& recorded(const held&, V& x) { return x; }
    static void write(held&, V&) {}
    static std::shared_ptr<array::vector_state> state_of(V& x) { return x.state(); }
};
template <class T>
struct recorded_argument<vector<T>&> : recorded_vector<vector<T>> {};
template <class T>
struct recorded_argument<const vector<T>&> : recorded_vector<const vector<T>> {};

template <class A>
inline constexpr bool is_recorded_argument = element_type<std::remove_cvref_t<A>>;
template <class T>
inline constexpr bool is_recorded_argument<vector<T>&> = true;
template <class T>
inline constexpr bool is_recorded_argument<const vector<T>&> = true;
/// As arguments of a recording: vectors by reference, numbers by value.
template <class A>
using as_recorded = std::conditional_t<element_type<std::remove_cvref_t<A>>, std::remove_cvref_t<A>, A>;

}  // namespace detail

/// A recording with arguments, see balm::record. A handle: copies are the same recording.
template <class... Arguments>
class recorded_function {
public:
    /// Use balm::record.
    template <class Statements>
    recorded_function(const context& on, Statements&& statements,
                      typename detail::recorded_argument<Arguments>::replayed... arguments)
        : numbers_(std::make_shared<numbers>(detail::recorded_argument<Arguments>::hold(on, arguments)...)),
          bindings_([&] {
              std::vector<std::shared_ptr<array::vector_state>> states{
                  detail::recorded_argument<Arguments>::state_of(arguments)...};
              detail::statement_recorder commands(on);
              std::apply(
                  [&](const auto&... held) {
                      std::forward<Statements>(statements)(
                          detail::recorded_argument<Arguments>::recorded(held, arguments)...);
                  },
                  *numbers_);
              return detail::recording_bindings(commands.finish(), std::move(states));
          }()) {}

    /// Replays it with these arguments. Numbers are written to the device first. A vector must have the size,
    /// the devices, and the place in its memory of the one with which it was recorded. Vectors that were
    /// different must be different, and none may be one that the recording uses as no argument. Throws
    /// usage_error. The recording on the last four lists of vectors is kept, with their memory, so that swaps
    /// cost nothing.
    void operator()(typename detail::recorded_argument<Arguments>::replayed... arguments) const {
        const std::lock_guard lock(bindings_.mutex());
        with(arguments...)();
    }
    /// Writes the numbers, and returns the recording on these vectors, for repeat() and until().
    ///
    ///     step.with(h, x, y).repeat(100);
    recording with(typename detail::recorded_argument<Arguments>::replayed... arguments) const {
        const recording found =
            bindings_.with({detail::recorded_argument<Arguments>::state_of(arguments)...});
        std::apply(
            [&](auto&... held) { (detail::recorded_argument<Arguments>::write(held, arguments), ...); },
            *numbers_);
        return found;
    }

    /// As for a recording.
    std::size_t size() const { return bindings_.recorded().size(); }
    std::string describe() const { return bindings_.recorded().describe(); }

private:
    using numbers = std::tuple<typename detail::recorded_argument<Arguments>::held...>;
    std::shared_ptr<numbers> numbers_;
    detail::recording_bindings bindings_;
};

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
/// between replays is an element of a vector, or an argument (below); host data is copied; a vector that is
/// assigned another size, or swapped with another, leaves the recording with the memory it had. Waits for
/// recorded commands do nothing, since replays keep the order.
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

/// Says, while statements are recorded, that nobody needs what these vectors hold after a replay. A vector
/// that only one fused kernel uses, which computes it first, is not stored then, as if it were declared
/// inside `statements`; its elements are unspecified after a replay. Others are stored nevertheless. Outside
/// of a recording it does nothing.
///
///     balm::temporary(k1, k2, k3, k4);
template <class... T>
void temporary(const vector<T>&... vectors) {
    const std::shared_ptr<array::vector_state> states[] = {vectors.state()...};
    detail::are_temporary(states);
}

/// The same for `statements(arguments...)`, whose arguments each replay gives anew: vectors, and numbers or
/// other elements. A number is a `const balm::vector<T>&` of one element to the statements, which holds the
/// value.
///
///     auto step = balm::record(ctx, [](const auto& h, auto& x, auto& y) { y = x + h * sin(x); }, 0.1, a, b);
///     step(0.1, a, b);
///     step(0.05, b, a);
///
/// Throws usage_error also for a vector without a device.
template <class Statements, class... Arguments>
requires(sizeof...(Arguments) > 0 && (detail::is_recorded_argument<Arguments> && ...))
    recorded_function<detail::as_recorded<Arguments>...> record(const context& on, Statements&& statements,
                                                                Arguments&&... arguments) {
    return {on, std::forward<Statements>(statements), arguments...};
}

}  // namespace balm
