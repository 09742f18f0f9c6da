#pragma once
// Inner products, norms, means and variances: named reductions.

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "balm/reduce.hpp"

namespace balm {

namespace detail {

/// The type in which means are computed: floating-point types as they are, integers and booleans as double.
template <class A>
using mean_type = std::conditional_t<std::floating_point<element_of<A>>, element_of<A>, double>;

/// Elements that are numbers, real or complex.
template <class A>
concept number_array = array_value<A> &&(complex_array<A> || are_scalars<A>());

template <class T, class A>
T mean_of_elements(const A& a, std::size_t count, policy how) {
    return static_cast<T>(sum(cast<T>(a), how) / static_cast<T>(count));
}

/// The number of elements of an expression. Throws usage_error unless there are more than `lost`.
std::size_t counted_beyond(std::size_t lost, const array::tape&);

float square_root(float);
double square_root(double);

}  // namespace detail

/// The inner product, sum(x * y), in one pass; for complex numbers sum(conj(x) * y). 0 for no elements. For
/// short vectors, `dot` is the inner product of the lanes of each element, an expression. Blocks.
///
///     double work = balm::dot(force, path);
template <detail::number_array X, detail::number_array Y>
[[nodiscard]] auto dot(X&& x, Y&& y, policy how = policy::run_to_run) {
    if constexpr (detail::complex_array<X>)
        return sum(conj(static_cast<X&&>(x)) * static_cast<Y&&>(y), how);
    else
        return sum(static_cast<X&&>(x) * static_cast<Y&&>(y), how);
}
template <class X, class Y>
requires detail::array_beside_host_elements<X, Y> BALM_REFUSED(BALM_HOST_ELEMENTS)
float dot(X&& x, Y&& y, policy how = policy::run_to_run);

/// The Euclidean norm, the square root of the sum of the squared magnitudes; of integers, in double. (`norm`
/// is std::norm of each complex number.) If squares overflow, the result is infinity. Blocks.
///
///     while (balm::norm2(r) > 1e-8) …
template <detail::number_array X>
[[nodiscard]] auto norm2(const X& x, policy how = policy::run_to_run) {
    if constexpr (detail::complex_array<X>) {
        return detail::square_root(sum(norm(x), how));
    } else {
        using T = detail::mean_type<X>;
        return detail::square_root(sum(cast<T>(x) * cast<T>(x), how));
    }
}
template <array_value X>
requires(detail::are_scalars<X>()) BALM_REFUSED("Balm: the Euclidean norm is balm::norm2(x)")
float norm(const X& x);

/// The arithmetic mean of real numbers; of integers, and of booleans, in double. Throws usage_error for no
/// elements. Blocks.
template <array_value X>
requires(detail::are_scalars<X>()) [[nodiscard]] auto mean(const X& x, policy how = policy::run_to_run) {
    const std::size_t count = detail::counted_beyond(0, expr<detail::element_of<X>>(x).tape());
    return detail::mean_of_elements<detail::mean_type<X>>(x, count, how);
}

/// The variance of real numbers, the mean squared distance from their mean, computed in two passes; of
/// integers, in double. `lost` degrees of freedom are subtracted from the count: 1 for the estimate from a
/// sample. Throws usage_error unless there are more than `lost` elements. Blocks.
///
///     double deviation = std::sqrt(balm::variance(samples, 1));
template <array_value X>
requires(detail::are_scalars<X>())
    [[nodiscard]] auto variance(const X& x, std::size_t lost = 0, policy how = policy::run_to_run) {
    using T = detail::mean_type<X>;
    const std::size_t count = detail::counted_beyond(lost, expr<detail::element_of<X>>(x).tape());
    const T centre = detail::mean_of_elements<T>(x, count, how);
    const auto distance = cast<T>(x) - centre;
    return static_cast<T>(sum(distance * distance, how) / static_cast<T>(count - lost));
}

}  // namespace balm
