#pragma once
// Several vectors assigned by one kernel: shared operands are loaded once, and common subexpressions computed
// once.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/vector.hpp"
#include "balm/view.hpp"

namespace balm {

namespace detail {

/// The target of an assignment to a vector or view. A vector without elements takes size and devices of the
/// values.
template <class T>
array::target target_of(vector<T>& v, const array::tape& values) {
    if (!v.state()) v = vector<T>(array::make_vector_like(values, array_type<T>()));
    return {v.state().get(), nullptr};
}
template <class T>
array::target target_of(const view<T>& v, const array::tape&) {
    static_assert(!std::is_const_v<T>,
                  "Balm: this view is read-only: it views an expression or a const vector");
    return {v.what().of.vectors[0].get(), &v.what().where};
}

}  // namespace detail

/// Vectors and views that are assigned together; see tie.
template <class... Target>
class tied {
    template <std::size_t K>
    using element = typename std::remove_cvref_t<std::tuple_element_t<K, std::tuple<Target...>>>::value_type;

public:
    explicit tied(Target&&... targets) : targets_(static_cast<Target&&>(targets)...) {}
    tied(const tied&) = delete;
    ~tied() = default;

    /// Assigns the k-th expression to the k-th vector; all expressions read the old values. Throws
    /// usage_error if sizes differ.
    template <class... A>
    void operator=(const std::tuple<A...>& values) {
        static_assert(sizeof...(A) == sizeof...(Target), "Balm: a tie needs one expression for each vector");
        assign(std::index_sequence_for<A...>(), [&]<std::size_t K>() { return std::get<K>(values); });
    }
    /// Assigns the elements of other vectors: `tie(a, b) = tie(b, a)` exchanges them.
    template <class... Other>
    void operator=(const tied<Other...>& other) {
        *this = other.values();
    }
    void operator=(const tied& other) { *this = other.values(); }

#define BALM_COMPOUND(symbol, id)                                                  \
    template <class... A>                                                          \
    void operator symbol(const std::tuple<A...>& values) {                         \
        static_assert(sizeof...(A) == sizeof...(Target),                           \
                      "Balm: a tie needs one expression for each vector");         \
        assign(std::index_sequence_for<A...>(), [&]<std::size_t K>() {             \
            return apply<builtin::id>(std::get<K>(targets_), std::get<K>(values)); \
        });                                                                        \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    const std::tuple<Target...>& values() const { return targets_; }

private:
    template <std::size_t... K, class F>
    void assign(std::index_sequence<K...>, F&& value) {
        array::tape list;
        (list.append(detail::assigned<element<K>>(value.template operator()<K>())), ...);
        const array::target targets[] = {detail::target_of(std::get<K>(targets_), list)...};
        array::assign(targets, std::move(list));
    }

    std::tuple<Target...> targets_;
};

namespace detail {

template <class A>
inline constexpr bool is_tied = false;
template <class... Target>
inline constexpr bool is_tied<tied<Target...>> = true;

}  // namespace detail

/// Ties vectors or views, to assign them by one kernel.
///
///     balm::tie(x, v) = std::tuple(x + dt * v, v - dt * x);
///     balm::tie(low, high) += std::tuple(min(a, b), max(a, b));
template <class... Target>
requires(sizeof...(Target) > 0 &&
         ((detail::is_vector<std::remove_cvref_t<Target>> ||
           detail::is_view<std::remove_cvref_t<Target>>)&&...)) tied<Target...> tie(Target&&... targets) {
    return tied<Target...>(static_cast<Target&&>(targets)...);
}

}  // namespace balm
