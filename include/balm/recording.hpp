#pragma once
// Recordings: a program of statements that is recorded once and replayed.

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/context.hpp"
#include "balm/plain_element.hpp"
#include "balm/refused.hpp"
#include "balm/shared_state.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace runtime {
class command_list;
class recording_scope;
}  // namespace runtime

namespace detail {
[[noreturn]] void condition_of_many(std::size_t elements);

/// What each replay enqueues first.
class replay_preparation {
public:
    replay_preparation() = default;
    replay_preparation(const replay_preparation&) = delete;
    replay_preparation& operator=(const replay_preparation&) = delete;
    virtual ~replay_preparation() = default;
    virtual void enqueue() const = 0;
};
}  // namespace detail

/// Commands that were recorded, see balm::record. A handle: copies are the same recording. Replays may come
/// from several threads, and run one after the other where they use the same memory. It keeps the memory that
/// its commands use, also that of vectors whose names are gone; destroying it does not wait for replays in
/// flight.
class recording {
public:
    /// Use balm::record.
    explicit recording(std::shared_ptr<runtime::command_list> commands,
                       std::shared_ptr<const detail::replay_preparation> = nullptr);

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
    /// number but 0 holds. The host waits for it after each replay. Where the driver has loops (CUDA 12.3),
    /// and all commands are launches, fills and copies in the default queue, the device looks at a
    /// `vector<bool>` instead. Throws usage_error for several elements.
    ///
    ///     const std::size_t iterations = step.until(residual < 1e-10, 1000);
    template <array_value Condition>
    std::size_t until(const Condition& condition, std::size_t at_most) const;
    std::size_t until(const vector<bool>& condition, std::size_t at_most) const;

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
    std::shared_ptr<const detail::replay_preparation> before_;  ///< null for none
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
    using vectors = std::vector<std::shared_ptr<array::vector_state>>;
    /// The vectors with which it was recorded; null for other arguments.
    recording_bindings(recording, vectors arguments);
    const recording& recorded() const;
    /// With these vectors in their place.
    recording with(const vectors&, std::shared_ptr<const replay_preparation>) const;

private:
    struct state;
    shared_state<state> state_;
};

/// A vector or a handle to one, but no constant one, which the recording may write.
template <class T>
class replayed_vector {
public:
    replayed_vector(vector<T>& x) : state_(x.state()) {}   // NOLINT(google-explicit-constructor)
    replayed_vector(vector<T>&& x) : state_(x.state()) {}  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(
        "Balm: the recording was made with a vector that it may write; pass one that is not const, or record "
        "it with std::as_const(x)")
    replayed_vector(const vector<T>& x);  // NOLINT(google-explicit-constructor)

    const std::shared_ptr<array::vector_state>& state() const { return state_; }

private:
    std::shared_ptr<array::vector_state> state_;
};

/// An argument of a recording. Numbers are in the memory of the device: each is a vector of one element.
template <class A>
struct recorded_argument {
    using element = typename std::conditional_t<scalar_type<A>, dsl::detail::canonical_element<A>,
                                                std::type_identity<A>>::type;
    using held = vector<element>;
    using replayed = A;
    using kept = element;

    static held hold(const context& on, const A&) {
        return held(array::make_vector(on, array_type<element>(), 1));
    }
    static const held& recorded(const held& number, const A&) { return number; }
    static kept keep(const A& value) { return static_cast<element>(value); }
    static void write(held& number, const element& value) { number = value; }
    static std::shared_ptr<array::vector_state> state_of(const A&) { return nullptr; }
};
template <class V, class Replayed>
struct recorded_vector {
    struct held {};
    struct kept {};
    using replayed = Replayed;

    static held hold(const context&, V& x) {
        if (!x.state()) vector_without_device();
        return {};
    }
    static V& recorded(const held&, V& x) { return x; }
    static kept keep(const auto&) { return {}; }
    static void write(held&, kept) {}
    static std::shared_ptr<array::vector_state> state_of(const auto& x) { return x.state(); }
};
template <class T>
struct recorded_argument<vector<T>&> : recorded_vector<vector<T>, replayed_vector<T>> {};
template <class T>
struct recorded_argument<const vector<T>&> : recorded_vector<const vector<T>, const vector<T>&> {};

/// As arguments of a recording: vectors by reference, numbers and other elements by value.
template <class A>
struct as_recorded {
    using type = std::remove_cvref_t<A>;
    static constexpr bool is_possible = element_type<type> || complex_type<type>;
};
template <class V>
struct as_recorded_vector {
    using type = V&;
    static constexpr bool is_possible = true;
};
template <class T>
struct as_recorded<vector<T>> : as_recorded_vector<vector<T>> {};
template <class T>
struct as_recorded<vector<T>&> : as_recorded_vector<vector<T>> {};
template <class T>
struct as_recorded<const vector<T>> : as_recorded_vector<const vector<T>> {};
template <class T>
struct as_recorded<const vector<T>&> : as_recorded_vector<const vector<T>> {};

/// The devices of the first vector among the arguments, or of the context: those of numbers.
template <class... A>
context devices_of_numbers(const context& on, const A&... arguments) {
    std::shared_ptr<array::vector_state> first;
    ((first = first ? first : recorded_argument<typename as_recorded<const A&>::type>::state_of(arguments)),
     ...);
    return first ? array::context_of(*first) : on;
}

}  // namespace detail

/// A recording with arguments, see balm::record. A handle: copies are the same recording.
template <class... Arguments>
class recorded_function {
    template <class A>
    using argument = detail::recorded_argument<A>;
    template <class A>
    using replayed = typename argument<A>::replayed;

public:
    /// Use balm::record.
    template <class Statements>
    recorded_function(const context& on, Statements&& statements, const Arguments&... arguments)
        : numbers_(make_numbers(detail::devices_of_numbers(on, arguments...), arguments...)), bindings_([&] {
              std::vector<std::shared_ptr<array::vector_state>> states{
                  argument<Arguments>::state_of(arguments)...};
              detail::statement_recorder commands(on);
              std::apply(
                  [&](const auto&... held) {
                      std::forward<Statements>(statements)(argument<Arguments>::recorded(held, arguments)...);
                  },
                  *numbers_);
              return detail::recording_bindings(commands.finish(), std::move(states));
          }()) {}

    /// Replays it with these arguments. Numbers are written to the device first. A vector must have the size,
    /// the devices, and the place in its memory of the one with which it was recorded. Vectors that were
    /// different must be different, and none may be one that the recording uses as no argument. Throws
    /// usage_error, also for vectors in place of others if the commands print or check. The
    /// recording on the last four lists of vectors is kept, with their memory, so that swaps cost nothing.
    void operator()(replayed<Arguments>... arguments) const {
        with(std::forward<replayed<Arguments>>(arguments)...)();
    }
    /// The recording with these arguments, for repeat() and until(), or to keep.
    ///
    ///     step.with(h, x, y).repeat(100);
    recording with(replayed<Arguments>... arguments) const {
        return bindings_.with(
            {argument<Arguments>::state_of(arguments)...},
            std::make_shared<const preparation>(numbers_, values(argument<Arguments>::keep(arguments)...)));
    }

    /// As for a recording.
    std::size_t size() const { return bindings_.recorded().size(); }
    std::string describe() const { return bindings_.recorded().describe(); }

private:
    using numbers = std::tuple<typename argument<Arguments>::held...>;
    using values = std::tuple<typename argument<Arguments>::kept...>;

    static std::shared_ptr<numbers> make_numbers(const context& on, const Arguments&... arguments) {
        return std::make_shared<numbers>(argument<Arguments>::hold(on, arguments)...);
    }
    /// Writes numbers.
    class preparation final : public detail::replay_preparation {
    public:
        preparation(std::shared_ptr<numbers> to, values given)
            : to_(std::move(to)), values_(std::move(given)) {}
        void enqueue() const override { write(std::index_sequence_for<Arguments...>()); }

    private:
        template <std::size_t... K>
        void write(std::index_sequence<K...>) const {
            (argument<Arguments>::write(std::get<K>(*to_), std::get<K>(values_)), ...);
        }
        std::shared_ptr<numbers> to_;
        values values_;
    };

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
requires(sizeof...(T) > 0) void temporary(const vector<T>&... vectors) {
    const std::shared_ptr<array::vector_state> states[] = {vectors.state()...};
    detail::are_temporary(states);
}

/// The same for `statements(arguments...)`, whose arguments each replay gives anew: vectors, and numbers or
/// other elements. A number is a `const balm::vector<T>&` of one element to the statements, which holds the
/// value. In arithmetic it is combined with all elements of a vector: `y = 1.0 * h` assigns it to each. It is
/// on the devices of the first vector among the arguments, or of the context if there is none.
///
///     auto step = balm::record(ctx, [](const auto& h, auto& x, auto& y) { y = x + h * sin(x); }, 0.1, a, b);
///     step(0.1, a, b);
///     step(0.05, b, a);
///
/// Throws usage_error also for a vector without a device.
template <class Statements, class... Arguments>
requires(sizeof...(Arguments) > 0 && (detail::as_recorded<Arguments>::is_possible && ...))
    recorded_function<typename detail::as_recorded<Arguments>::type...> record(const context& on,
                                                                               Statements&& statements,
                                                                               Arguments&&... arguments) {
    return {on, std::forward<Statements>(statements), arguments...};
}

}  // namespace balm
