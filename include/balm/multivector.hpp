#pragma once
// Multivectors: N vectors that expressions treat as one, component by component, and that one kernel
// computes. For velocities of particles or the state of an ensemble of systems.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/reduce.hpp"
#include "balm/statistics.hpp"
#include "balm/tie.hpp"
#include "balm/vector.hpp"

namespace balm {

template <class T, std::size_t N>
class multivector;

/// An expression of N components whose elements are of type T.
template <class T, std::size_t N>
class multi_expr {
public:
    using value_type = T;
    static constexpr std::size_t components = N;

    explicit multi_expr(std::array<expr<T>, N>&& parts) : parts_(std::move(parts)) {}
    /// One of the components.
    const expr<T>& operator()(std::size_t k) const { return parts_[k]; }

private:
    std::array<expr<T>, N> parts_;
};

namespace detail {

template <class A>
inline constexpr std::size_t components_of = 0;
template <class T, std::size_t N>
inline constexpr std::size_t components_of<multivector<T, N>> = N;
template <class T, std::size_t N>
inline constexpr std::size_t components_of<multi_expr<T, N>> = N;
template <class A>
inline constexpr std::size_t coefficients_of = 0;
template <class T, std::size_t N>
inline constexpr std::size_t coefficients_of<std::array<T, N>> = N;

}  // namespace detail

/// A multivector or an expression of them.
template <class A>
concept multi_value = (detail::components_of<std::remove_cvref_t<A>> > 0);
/// An operand beside a multivector: N host values, or an operand that applies to every component.
template <class A>
concept multi_operand =
    multi_value<A> ||(detail::coefficients_of<std::remove_cvref_t<A>> > 0) || array_operand<A>;
template <class... A>
concept multi_operands = (multi_operand<A> && ...) && (multi_value<A> || ...);

namespace detail {

/// The number of components that the operands have in common; 0 if they differ.
template <class... A>
constexpr std::size_t common_components() {
    std::size_t common = 0;
    bool agree = true;
    for (const std::size_t each :
         {components_of<std::remove_cvref_t<A>>..., coefficients_of<std::remove_cvref_t<A>>...}) {
        if (each == 0) continue;
        agree = agree && (common == 0 || common == each);
        common = each;
    }
    return agree ? common : 0;
}

/// Component k of an operand.
template <class A>
decltype(auto) component(std::size_t k, A&& a) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (components_of < plain >> 0)
        return a(k);
    else if constexpr (coefficients_of<plain> > 0)
        return (a[k]);
    else
        return (a);
}

template <class F, std::size_t... K, class... A>
auto each_component(std::index_sequence<K...>, F&& f, A&&... a) {
    using part = decltype(f(component(0, a)...));
    static_assert(is_expr<part>, "Balm: the function must return an expression for each component");
    const auto of = [&](std::size_t k) { return f(component(k, a)...); };
    return multi_expr<typename part::value_type, sizeof...(K)>({of(K)...});
}

template <std::size_t... K, class F, class A>
auto reduce_components(std::index_sequence<K...>, F&& lazily, A&& a) {
    if constexpr (sizeof...(K) == 1)
        return std::array{reduce(lazily(a(0)))};
    else
        return std::apply([](const auto&... each) { return std::array{each...}; }, reduce(lazily(a(K))...));
}

}  // namespace detail

/// Applies a function to the operands component by component. It takes vectors, expressions and host values,
/// and is the same in every component.
///
///     u = balm::each([](auto x, auto rate) { return x * exp(-rate * dt); }, u, rates);
template <class F, class... A>
requires multi_operands<A...>
auto each(F&& f, A&&... a) {
    constexpr std::size_t n = detail::common_components<A...>();
    static_assert(n > 0, "Balm: the operands have different numbers of components");
    return detail::each_component(std::make_index_sequence<n>(), static_cast<F&&>(f), static_cast<A&&>(a)...);
}

/// N vectors of the same size on the devices of a context. Operators and built-ins work component by
/// component; std::array<double, N> has one coefficient for each component; vectors and numbers apply to
/// every component. An assignment is one kernel. Reductions return an array of N results, from one kernel
/// too.
///
///     balm::multivector<double, 3> x(ctx, n, 0.0), v(ctx, n, 1.0);
///     x += dt * v;
///     v += std::array{0.0, 0.0, -9.81 * dt};
///     x(2) = max(x(2), 0.0);                       // one component, a balm::vector<double>
///     std::array<double, 3> centre = balm::sum(x);
template <class T, std::size_t N>
class multivector {
    static_assert(N > 0, "Balm: a multivector has at least one component");

public:
    using value_type = T;
    static constexpr std::size_t components = N;

    /// No elements, and no device: assign to it.
    multivector() = default;
    /// `size` uninitialised elements in each component.
    multivector(const context& where, std::size_t size) {
        for (vector<T>& part : parts_) part = vector<T>(where, size);
    }
    multivector(const context& where, std::size_t size, T value) {
        for (vector<T>& part : parts_) part = vector<T>(where, size, value);
    }
    /// A multivector of these vectors. Throws usage_error if their sizes differ.
    explicit multivector(std::array<vector<T>, N> parts) : parts_(std::move(parts)) {
        for (const vector<T>& part : parts_)
            if (part.size() != size()) detail::buffer_size_mismatch("join", shape(size()), part.size());
    }
    /// Computes an expression; has its size.
    template <class U>
    multivector(const multi_expr<U, N>& e) {  // NOLINT(google-explicit-constructor)
        *this = e;
    }
    multivector(const multivector&) = default;
    multivector(multivector&&) noexcept = default;
    ~multivector() = default;
    multivector& operator=(multivector&&) noexcept = default;
    multivector& operator=(const multivector&) = default;

    /// One of the components.
    vector<T>& operator()(std::size_t k) { return parts_[k]; }
    const vector<T>& operator()(std::size_t k) const { return parts_[k]; }
    /// The number of elements of each component.
    std::size_t size() const { return parts_[0].size(); }
    bool empty() const { return size() == 0; }

    /// Computes every component in one kernel, which reads the old elements.
    template <class A>
    requires multi_operand<A> multivector& operator=(A&& a) {
        static_assert(!multi_value<A> || detail::components_of<std::remove_cvref_t<A>> == N,
                      "Balm: the operands have different numbers of components");
        assign(std::make_index_sequence<N>(), a);
        return *this;
    }

#define BALM_COMPOUND(symbol, id)                                                 \
    template <class A>                                                            \
    requires multi_operands<multivector, A> multivector& operator symbol(A&& a) { \
        return *this = apply<builtin::id>(*this, static_cast<A&&>(a));            \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

private:
    template <std::size_t... K, class A>
    void assign(std::index_sequence<K...>, const A& a) {
        tie(parts_[K]...) = std::forward_as_tuple(detail::component(K, a)...);
    }

    std::array<vector<T>, N> parts_;
};

/// Applies a row of builtins.def component by component.
template <builtin B, class... A>
requires multi_operands<A...>
auto apply(A&&... a) {
    return each([](const auto&... x) { return apply<B>(x...); }, static_cast<A&&>(a)...);
}

#define BALM_OPERAND multi_value
#define BALM_OPERANDS multi_operands
BALM_BINARY_OPERATORS(BALM_APPLY_OPERATOR)

template <multi_value A>
auto operator-(A&& a) {
    return each([](const auto& x) { return -x; }, static_cast<A&&>(a));
}

/// The built-in functions, component by component.
#define BALM_BUILTIN(id, arity, ...) BALM_APPLY_##arity(id)
#include "balm/builtins.def"
#undef BALM_OPERAND
#undef BALM_OPERANDS

/// Reductions of every component in one kernel, as for vectors: an array of N results.
#define BALM_REDUCTION(name)                                                           \
    template <multi_value A>                                                           \
    auto name(A&& a) {                                                                 \
        return detail::reduce_components(                                              \
            std::make_index_sequence<detail::components_of<std::remove_cvref_t<A>>>(), \
            [](const auto& x) { return name##_of(x); }, static_cast<A&&>(a));          \
    }
BALM_REDUCTION(sum)
BALM_REDUCTION(sum_compensated)
BALM_REDUCTION(product)
BALM_REDUCTION(min)
BALM_REDUCTION(max)
BALM_REDUCTION(arg_min)
BALM_REDUCTION(arg_max)
BALM_REDUCTION(count)
BALM_REDUCTION(any)
#undef BALM_REDUCTION

/// The Euclidean norms of the components, as of vectors: an array of N results, from one kernel unless
/// squares overflow or underflow.
///
///     const auto [x, y, z] = balm::norm2(velocity);
template <multi_value A>
[[nodiscard]] auto norm2(const A& a) {
    constexpr std::size_t n = detail::components_of<A>;
    const auto numbers = [&](std::size_t k) { return detail::to_average(a(k)); };
    auto norms = detail::reduce_components(
        std::make_index_sequence<n>(),
        [](const auto& x) { return sum_of(detail::squares_of(detail::to_average(x))); }, a);
    for (std::size_t k = 0; k < n; ++k) norms[k] = detail::norm_of(norms[k], numbers(k), policy::run_to_run);
    return norms;
}

}  // namespace balm
