#pragma once
// Control flow on the device: IF, ELIF, ELSE, WHILE, range, grid_range, break_, continue_, return_. Each
// block is traced once; a scope object opens it, and its destructor detects a C++ `break` or `return`.

#include <concepts>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "balm/dsl/value.hpp"

namespace balm::dsl {

namespace detail {

/// A traced block that control must leave at its end.
class scope {
public:
    scope(const char* construct, location where)
        : construct_(construct), where_(where), exceptions_(std::uncaught_exceptions()) {}
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
        if (is_open_) trace::left_early(token_, construct_, where_, exceptions_);
    }

protected:
    void opened(std::uint32_t token) {
        token_ = token;
        is_open_ = true;
    }
    void close() {
        is_open_ = false;  // first: closing may throw
        trace::close(token_);
    }
    bool is_open() const { return is_open_; }
    std::uint32_t token() const { return token_; }
    location where() const { return where_; }

private:
    const char* construct_;
    location where_;
    int exceptions_;
    std::uint32_t token_ = 0;
    bool is_open_ = false;
};

/// `for (if_scope U{c}; U.next();) if (U.then()) {…} else {…}`: the loop runs twice, once for each branch.
class if_scope : scope {
public:
    template <operand C>
    explicit if_scope(C&& condition, const char* file = __builtin_FILE(),
                      std::uint32_t line = __builtin_LINE())
        : scope("IF", {file, line}), condition_(condition_of(static_cast<C&&>(condition))) {}

    bool next() {
        if (turn_ == 0)
            opened(trace::open_if(condition_, where()));
        else if (turn_ == 1)
            trace::open_else(token());
        else
            close();
        return turn_++ < 2;
    }
    bool then() const { return turn_ == 1; }

private:
    node condition_;
    int turn_ = 0;
};

/// `for (while_scope U; U.open() && U.test(c);) {…}`: the condition is traced in a region of its own.
class while_scope : scope {
public:
    explicit while_scope(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE())
        : scope("WHILE", {file, line}) {}

    bool open() {
        if (is_open()) {
            close();
            return false;
        }
        opened(trace::open_while(where()));
        return true;
    }
    template <operand C>
    bool test(C&& condition) {
        trace::test_while(token(), condition_of(static_cast<C&&>(condition)));
        return true;
    }
};

/// The range of a range-based `for` over device values: one iteration, in which the body is traced.
template <scalar_type T>
class loop : scope {
public:
    enum class shape : std::uint8_t { counted, grid };

    loop(node begin, node end, node step, location where)
        : scope("range", where), shape_(shape::counted), bounds_{begin, end, step} {}
    loop(node count, location where)
        : scope("grid_range", where), shape_(shape::grid), bounds_{count, {}, {}} {}
    /// The same loop, not yet begun, with a name for its variable.
    loop(const loop& unnamed, const char* word)
        : scope(unnamed.shape_ == shape::grid ? "grid_range" : "range", unnamed.where()),
          shape_(unnamed.shape_),
          bounds_{unnamed.bounds_[0], unnamed.bounds_[1], unnamed.bounds_[2]},
          word_(word) {}

    struct sentinel {};
    class iterator {
    public:
        explicit iterator(loop& owner) : owner_(owner) {}
        bool operator!=(sentinel) const { return owner_.is_open(); }
        void operator++() { owner_.close(); }
        Var<T> operator*() const {
            const node value = trace::read(owner_.variable_);
            if (owner_.word_) trace::name(value, owner_.word_);
            return Var<T>(value);
        }

    private:
        loop& owner_;
    };

    iterator begin() {
        opened(shape_ == shape::grid
                   ? trace::open_grid_for(bounds_[0], variable_, where())
                   : trace::open_for(bounds_[0], bounds_[1], bounds_[2], variable_, where()));
        return iterator(*this);
    }
    sentinel end() const { return {}; }

private:
    shape shape_;
    node bounds_[3];
    node variable_;
    const char* word_ = nullptr;
};

[[noreturn]] void unsigned_range_counts_down(location where);

template <class... A>
using range_type = typename balm::detail::host_type<common_scalar(
    scalar::i32, strong_of<A...>() == scalar::nothing ? scalar::i32 : strong_of<A...>())>::type;

template <class T, class A>
node bound(A&& a) {
    constexpr scalar own = entering_scalar<A>(scalar_of<T>);
    static_assert(is_integer(own), "Balm: the bounds of range must be integers");
    return trace::convert(node_of<own>(static_cast<A&&>(a)), scalar_of<T>);
}

}  // namespace detail

/// `for (Int k : range(n))`: k = 0 … n - 1. The bounds are read once, before the first iteration; the
/// variable is a new copy in each iteration.
template <operand N>
auto range(N&& n, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    using T = detail::range_type<N>;
    return detail::loop<T>(trace::constant(scalar_of<T>, 0), detail::bound<T>(static_cast<N&&>(n)),
                           trace::constant(scalar_of<T>, 1), {file, line});
}

/// begin … end - 1.
template <operand B, operand E>
auto range(B&& begin, E&& end, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    using T = detail::range_type<B, E>;
    const trace::node from = detail::bound<T>(static_cast<B&&>(begin));
    return detail::loop<T>(from, detail::bound<T>(static_cast<E&&>(end)), trace::constant(scalar_of<T>, 1),
                           {file, line});
}

/// begin, begin + step, … while less than end (for a negative step: greater than end). step must not be 0; an
/// unsigned range cannot count down.
template <operand B, operand E, operand S>
auto range(B&& begin, E&& end, S&& step, const char* file = __builtin_FILE(),
           std::uint32_t line = __builtin_LINE()) {
    using T = detail::range_type<B, E, S>;
    if constexpr (std::is_unsigned_v<T> && std::is_signed_v<std::remove_cvref_t<S>>)
        if (step < 0) detail::unsigned_range_counts_down({file, line});
    const trace::node from = detail::bound<T>(static_cast<B&&>(begin));
    const trace::node to = detail::bound<T>(static_cast<E&&>(end));
    return detail::loop<T>(from, to, detail::bound<T>(static_cast<S&&>(step)), {file, line});
}

/// `for (Index i : grid_range(n))`: distributes 0 … n - 1 over the work-items of a one-dimensional grid. The
/// distribution (one element each, several, chunks with vector types) is chosen for the device that the
/// kernel is compiled for.
template <operand N>
auto grid_range(N&& n, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return detail::loop<std::int64_t>(detail::bound<std::int64_t>(static_cast<N&&>(n)), {file, line});
}

/// Names a loop's variable in the printed source: `for (Int row : named("row", range(n)))`.
template <scalar_type T>
auto named(const char* word, detail::loop<T>&& over) {
    return detail::loop<T>(over, word);
}

/// Leaves the innermost device loop.
inline void break_(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::break_({file, line});
}
/// Continues with the next iteration of the innermost device loop.
inline void continue_(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::continue_({file, line});
}
/// Returns from the kernel for this work-item, or from a function without a value.
inline void return_(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    trace::return_(nullptr, {file, line});
}
/// Returns a value from a function.
template <device_value A>
void return_(A&& value, const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    const trace::node result = detail::node_of<detail::strong_scalar<A>()>(static_cast<A&&>(value));
    trace::return_(&result, {file, line});
}

template <class A>
requires(!device_value<A>)
    BALM_REFUSED("Balm: a function must return a device value: return_(Float(1.f)), not 1.f")
void return_(A&& value);

namespace detail {

/// A host function that returns a device value.
template <class F>
concept gives_device_value = requires(F& f) {
    { f() } -> device_value;
};

}  // namespace detail

/// The value of one of two functions; only the chosen one is executed.
template <operand C, detail::gives_device_value F, detail::gives_device_value G>
auto if_else(C&& condition, F&& if_true, G&& if_false, const char* file = __builtin_FILE(),
             std::uint32_t line = __builtin_LINE()) {
    using T = typename std::invoke_result_t<F&>::value_type;
    static_assert(std::is_same_v<T, typename std::invoke_result_t<G&>::value_type>,
                  "Balm: both functions of if_else must return the same type");
    Var<T> chosen;
    for (detail::if_scope branch(static_cast<C&&>(condition), file, line); branch.next();)
        if (branch.then())
            chosen = if_true();
        else
            chosen = if_false();
    return Var<T>(chosen);
}
template <operand C, class F, class G>
requires(!std::is_invocable_v<F&> || !std::is_invocable_v<G&>) BALM_REFUSED(
    "Balm: if_else takes two functions: if_else(c, [&] { return a; }, [&] { return b; }); to choose between "
    "values, write select(c, a, b)")
Bool if_else(C&& condition, F&& if_true, G&& if_false);
template <operand C, std::invocable F, std::invocable G>
requires(!detail::gives_device_value<F> || !detail::gives_device_value<G>)
    BALM_REFUSED("Balm: the functions of if_else must return device values: return Float(1.f), not 1.f")
Bool if_else(C&& condition, F&& if_true, G&& if_false);

}  // namespace balm::dsl

#define BALM_CONCAT_(a, b) a##b
#define BALM_CONCAT(a, b) BALM_CONCAT_(a, b)
#define BALM_IF_(scope, ...)                                              \
    for (::balm::dsl::detail::if_scope scope{__VA_ARGS__}; scope.next();) \
        if (scope.then())
#define BALM_WHILE_(scope, ...) \
    for (::balm::dsl::detail::while_scope scope; scope.open() && scope.test(__VA_ARGS__);)

/// `BALM_IF (condition) {…} BALM_ELIF (condition) {…} BALM_ELSE {…}` on device values.
#define BALM_IF(...) BALM_IF_(BALM_CONCAT(balm_if_, __COUNTER__), (__VA_ARGS__))
#define BALM_ELIF(...) else BALM_IF (__VA_ARGS__)
#define BALM_ELSE else if (::balm::trace::mark_else())
/// `BALM_WHILE (condition) {…}` on device values.
#define BALM_WHILE(...) BALM_WHILE_(BALM_CONCAT(balm_while_, __COUNTER__), (__VA_ARGS__))

#ifndef BALM_NO_SHORT_MACROS
#define IF(...) BALM_IF (__VA_ARGS__)
#define ELIF(...) BALM_ELIF (__VA_ARGS__)
#define ELSE BALM_ELSE
#define WHILE(...) BALM_WHILE (__VA_ARGS__)
#endif
