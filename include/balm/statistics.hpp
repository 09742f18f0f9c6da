#pragma once
// Inner products, norms, means, variances and standard deviations: named reductions.

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "balm/along.hpp"
#include "balm/reduce.hpp"
#include "balm/view.hpp"

namespace balm {

namespace detail {

/// Elements that are numbers, real or complex.
template <class A>
concept number_array = array_value<A> &&(complex_array<A> || are_scalars<A>());
/// The same, or short vectors.
template <class A>
concept number_or_vector_array = number_array<A> || vector_array<A>;

/// The type of the mean of elements of T: floating-point and complex types as they are, integers and booleans
/// as double; short vectors lane by lane.
template <class T>
struct mean_element {
    using type = std::conditional_t<std::integral<T>, double, T>;
    using real = type;
};
template <std::floating_point T>
struct mean_element<complex_value<T>> {
    using type = complex_value<T>;
    using real = T;
};
template <class T, int N>
struct mean_element<vec<T, N>> {
    using real = typename mean_element<T>::type;
    using type = vec<real, N>;
};
template <class A>
using mean_type = typename mean_element<element_of<A>>::type;
/// The real type in which squares of elements are summed.
template <class A>
using squares_type = typename mean_element<element_of<A>>::real;

/// The elements as numbers of the type of their mean.
template <class X>
auto to_average(const X& x) {
    if constexpr (complex_array<X>)
        return expr<element_of<X>>(x);
    else
        return cast<mean_type<X>>(x);
}

/// The number of elements of an expression. Throws usage_error unless there are more than `lost`.
std::size_t counted_beyond(std::size_t lost, const array::tape&);
template <class X>
std::size_t counted_beyond(std::size_t lost, const X& x) {
    return counted_beyond(lost, expr<element_of<X>>(x).tape());
}

/// Applies a function to each lane of a vector, to both parts of a complex number, or to a number.
template <class T, class F>
T in_each_part(const T& of, const F& f) {
    if constexpr (is_complex_value<T>) {
        return {f(of.real_part), f(of.imaginary_part)};
    } else if constexpr (vector_type<T>) {
        T made;
        for (int k = 0; k < T::size(); ++k) made[k] = f(of[k]);
        return made;
    } else {
        return f(of);
    }
}

float square_root(float);
double square_root(double);
/// x · 2^k
float scaled(float x, int k);
double scaled(double x, int k);
/// An exponent k for which the square of 2^-k times this number, the largest of some, neither overflows nor
/// loses digits; 0 for zero and infinity.
int scaling_exponent(float largest);
int scaling_exponent(double largest);

/// The arithmetic mean of at least one element.
template <class X>
mean_type<X> mean_of_elements(const X& x, std::size_t count, policy how) {
    using T = mean_type<X>;
    using real = squares_type<X>;
    const auto n = static_cast<real>(count);
    const T total = sum(to_average(x), how);
    bool is_finite = true;
    const T mean = in_each_part(total, [&](real part) {
        is_finite &= part - part == 0;
        return part / n;
    });
    if (is_finite || std::integral<element_of<X>>) return mean;
    // The mean of finite numbers is finite, even if their sum overflows.
    const real factor = scaled(real(1), -1 - scaling_exponent(n));
    const T part_of_total = sum(to_average(x) * factor, how);
    return in_each_part(part_of_total, [&](real part) { return part / (n * factor); });
}

/// A sum of squares: sum · 2^(2 · exponent).
template <class T>
struct sum_of_squares {
    T sum = 0;
    int exponent = 0;

    /// Whether squares overflowed, or may have lost digits.
    bool is_imprecise() const {
        using limits = std::numeric_limits<T>;
        return sum < limits::min() / (limits::epsilon() * limits::epsilon()) || sum == limits::infinity();
    }
    /// The sum divided by a number, and the root of that.
    T over(T number) const { return scaled(sum / number, 2 * exponent); }
    T root_over(T number) const { return scaled(square_root(sum / number), exponent); }
};

/// The squared magnitudes of numbers, or of short vectors.
template <class X>
auto squares_of(const X& x) {
    if constexpr (complex_array<X>)
        return norm(x);
    else if constexpr (vector_array<X>)
        return dot(x, x);
    else
        return x * x;
}
/// The magnitude of the largest of the real numbers that each element consists of.
template <class X>
auto largest_parts(const X& x) {
    if constexpr (complex_array<X>) {
        return max(abs(real(x)), abs(imag(x)));
    } else if constexpr (vector_array<X>) {
        return [&]<int... K>(std::integer_sequence<int, 0, K...>) {
            auto largest = expr<squares_type<X>>(abs(lane<0>(x)));
            ((largest = expr<squares_type<X>>(max(largest, abs(lane<K>(x))))), ...);
            return largest;
        }
        (std::make_integer_sequence<int, lanes_of<element_of<X>>>());
    } else {
        return abs(x);
    }
}

/// The sum of the squared magnitudes of some numbers, which sum(x) returned; if that is imprecise, the same
/// of the numbers times a power of two, which takes two more passes.
template <class T, class X, class F>
sum_of_squares<T> precise_squares(T returned, const X& x, policy how, const F& sum) {
    const sum_of_squares<T> plain{returned};
    if (!plain.is_imprecise() || x.size() == 0) return plain;
    const int exponent = scaling_exponent(max(largest_parts(x), how));
    return exponent == 0 ? plain : sum_of_squares<T>{sum(x * scaled(T(1), -exponent)), exponent};
}
/// The Euclidean norm of numbers of floating types, of which the first pass has summed the squares.
template <class T, class X>
T norm_of(T squares, const X& x, policy how) {
    return precise_squares<T>(squares, x, how,
                              [&](const auto& scaled) { return sum(squares_of(scaled), how); })
        .root_over(1);
}

/// The sum of the squared distances of numbers from their mean. The mean is rounded, which the sum of the
/// distances corrects.
///
/// Source: T. F. Chan, G. H. Golub, R. J. LeVeque, Algorithms for Computing the Sample Variance, 1983.
template <class X>
auto squared_distances(const X& x, std::size_t count, policy how) {
    using T = squares_type<X>;
    const auto n = static_cast<T>(count);
    const auto sum = [&](const auto& distance) {
        T squares = 0, surplus = 0;
        if constexpr (complex_array<X>) {
            const auto [all, re, im] =
                reduce(how, sum_of(norm(distance)), sum_of(real(distance)), sum_of(imag(distance)));
            squares = all;
            surplus = re * (re / n) + im * (im / n);
        } else {
            const auto [all, rest] = reduce(how, sum_of(distance * distance), sum_of(distance));
            squares = all;
            surplus = rest * (rest / n);
        }
        const bool is_finite = squares - squares == 0;
        return !is_finite ? squares : surplus < squares ? squares - surplus : T(0);
    };
    const auto distance = to_average(x) - mean_of_elements(x, count, how);
    return precise_squares<T>(sum(distance), distance, how, sum);
}

/// A function of the numbers in each lane, as a vector.
template <class X, class F>
auto of_each_lane(const X& x, const F& f) {
    return [&]<int... K>(std::integer_sequence<int, K...>) {
        mean_type<X> made;
        ((made[K] = f(lane<K>(x))), ...);
        return made;
    }
    (std::make_integer_sequence<int, lanes_of<element_of<X>>>());
}

/// The number of elements that each result along dimensions combines.
template <class X>
auto count_along(const X& x, const array::dimension_list& over, std::size_t lost) {
    const shape extents = expr<element_of<X>>(x).extents(), kept = array::with_ones(extents, over, lost);
    return static_cast<squares_type<X>>(kept.count() == 0 ? 1 : extents.count() / kept.count());
}

/// Results along dimensions, beside the elements that they are of.
template <class E>
auto beside_elements(const E& results, const shape& extents, const array::dimension_list& over) {
    return view(results, array::with_ones(extents, over)).broadcast(extents);
}
/// Powers of two, one for each result along dimensions, times which the largest of these magnitudes is
/// between 1 and 2, or so near that squares neither overflow nor lose digits (see scaling_exponent).
template <class M>
auto scales_along(const M& magnitudes, const array::dimension_list& over) {
    using E = element_of<M>;
    using T = squares_type<M>;
    const int most = scaling_exponent(std::numeric_limits<T>::max());
    const auto exponent = clamp(ilogb(max(magnitudes, over)), -most, most);
    return ldexp(constant(in_each_part(E{}, [](T) { return T(1); })), -exponent);
}

/// Whether squares of elements can overflow or underflow: not those of integers, in double.
template <class X>
inline constexpr bool need_scales = std::same_as<mean_type<X>, element_of<X>>;

/// The variances along dimensions of numbers of floating types, `count` for each.
template <class X>
auto variances_of(const X& x, squares_type<X> count, squares_type<X> left,
                  const array::dimension_list& over) {
    const auto distance = x - beside_elements(sum(x, over) / count, x.extents(), over);
    const auto rest = sum(distance, over);
    // abs: the difference is not negative but for rounding
    if constexpr (complex_array<X>)
        return abs(sum(norm(distance), over) - norm(rest) / count) / left;
    else
        return abs(sum(distance * distance, over) - rest * rest / count) / left;
}
/// finished(variances along dimensions of the numbers times powers of two, these powers)
template <class X, class F>
auto scaled_variances(const X& x, const array::dimension_list& over, std::size_t lost, const F& finished) {
    using T = squares_type<X>;
    const T count = count_along(x, over, lost), left = count - static_cast<T>(lost);
    const auto numbers = to_average(x);
    if constexpr (!need_scales<X>) {
        return finished(variances_of(numbers, count, left, over), T(1));
    } else if constexpr (complex_array<X>) {
        const auto scales = scales_along(largest_parts(numbers), over);
        const auto scaled = numbers * beside_elements(scales, numbers.extents(), over);
        return finished(variances_of(scaled, count, left, over), scales);
    } else {
        const auto scales = scales_along(abs(numbers), over);
        const auto scaled = numbers * beside_elements(scales, numbers.extents(), over);
        return finished(variances_of(scaled, count, left, over), scales);
    }
}

/// The type in which dot(x, y) multiplies and sums small integers and booleans: that of their sums.
template <class X, class Y>
constexpr scalar inner_type() {
    constexpr scalar x = array::sum_type(array_scalar<X>()), y = array::sum_type(array_scalar<Y>());
    return array_scalar<X>() == scalar::boolean   ? y
           : array_scalar<Y>() == scalar::boolean ? x
           : x < y                                ? x
                                                  : y;
}

}  // namespace detail

/// The inner product, sum(x * y), in one pass; for complex numbers sum(conj(x) * y). Integers of 8 and 16
/// bits and booleans are multiplied and summed in 64 bits, like sum(x). 0 for no elements. For short vectors,
/// `dot` is the inner product of the lanes of each element, an expression. Blocks.
///
///     double work = balm::dot(force, path);
template <detail::number_array X, detail::number_array Y>
[[nodiscard]] auto dot(X&& x, Y&& y, policy how = policy::run_to_run) {
    if constexpr (detail::complex_array<X>) {
        return sum(conj(static_cast<X&&>(x)) * static_cast<Y&&>(y), how);
    } else if constexpr (!detail::complex_array<Y> && detail::array_scalar<X>() < scalar::i32 &&
                         detail::array_scalar<Y>() < scalar::i32) {
        using T = typename detail::host_type<detail::inner_type<X, Y>()>::type;
        return sum(cast<T>(x) * cast<T>(y), how);
    } else {
        return sum(static_cast<X&&>(x) * static_cast<Y&&>(y), how);
    }
}
template <class X, class Y>
requires detail::array_beside_host_elements<X, Y> BALM_REFUSED(BALM_HOST_ELEMENTS)
float dot(X&& x, Y&& y, policy how = policy::run_to_run);

/// The Euclidean norm, the square root of the sum of the squared magnitudes; of integers, in double; of short
/// vectors, of all their lanes. (`norm` is std::norm of each complex number, `length` the norm of each short
/// vector.) It overflows and underflows only if the result does: numbers whose squares would are scaled, in
/// two more passes. Blocks.
///
///     while (balm::norm2(r) > 1e-8) …
template <detail::number_or_vector_array X>
[[nodiscard]] auto norm2(const X& x, policy how = policy::run_to_run) {
    const auto numbers = detail::to_average(x);
    return detail::norm_of<detail::squares_type<X>>(sum(detail::squares_of(numbers), how), numbers, how);
}
template <array_value X>
requires(detail::are_scalars<X>()) BALM_REFUSED("Balm: the Euclidean norm is balm::norm2(x)")
float norm(const X& x);

/// The arithmetic mean of numbers; of integers, and of booleans, in double; of short vectors, lane by lane.
/// It is finite if the elements are. Throws usage_error for no elements. Blocks.
///
///     balm::float4 centre = balm::mean(positions);
template <detail::number_or_vector_array X>
[[nodiscard]] auto mean(const X& x, policy how = policy::run_to_run) {
    return detail::mean_of_elements(x, detail::counted_beyond(0, x), how);
}

/// The variance, the mean squared distance from the mean, computed in two passes: of integers, in double; of
/// complex numbers, real; of short vectors, lane by lane. `lost` degrees of freedom are subtracted from the
/// count: 1 for the estimate from a sample. It overflows only if the result does. Throws usage_error unless
/// there are more than `lost` elements. Blocks.
///
///     double spread = balm::variance(samples, 1);
template <detail::number_or_vector_array X>
[[nodiscard]] auto variance(const X& x, std::size_t lost = 0, policy how = policy::run_to_run) {
    const std::size_t count = detail::counted_beyond(lost, x);
    if constexpr (detail::vector_array<X>)
        return detail::of_each_lane(x, [&](const auto& lane) { return variance(lane, lost, how); });
    else
        return detail::squared_distances(x, count, how)
            .over(static_cast<detail::squares_type<X>>(count - lost));
}
/// The standard deviation, the square root of the variance, which may overflow where this does not.
///
///     double deviation = balm::stddev(samples, 1);
template <detail::number_or_vector_array X>
[[nodiscard]] auto stddev(const X& x, std::size_t lost = 0, policy how = policy::run_to_run) {
    const std::size_t count = detail::counted_beyond(lost, x);
    if constexpr (detail::vector_array<X>)
        return detail::of_each_lane(x, [&](const auto& lane) { return stddev(lane, lost, how); });
    else
        return detail::squared_distances(x, count, how)
            .root_over(static_cast<detail::squares_type<X>>(count - lost));
}

/// The means along dimensions, as an expression with the remaining extents; the types are those of mean(x).
/// Everything else is as for sum along dimensions; a sum that overflows does so here. Throws usage_error if
/// the dimensions have no elements.
///
///     centred = M - balm::view(balm::mean(M, balm::along(1)), {rows, 1}).broadcast({rows, columns});
template <detail::number_or_vector_array X>
auto mean(const X& x, const array::dimension_list& over) {
    return sum(detail::to_average(x), over) / detail::count_along(x, over, 0);
}
/// The Euclidean norms along dimensions, of the elements that norm2(x) takes. Like the next two it overflows
/// and underflows only if its result does: a pass finds the largest magnitudes, by which the next one scales.
///
///     M /= balm::view(balm::norm2(M, balm::along(1)), {rows, 1}).broadcast({rows, columns});
template <detail::number_or_vector_array X>
auto norm2(const X& x, const array::dimension_list& over) {
    const auto numbers = detail::to_average(x);
    const shape extents = numbers.extents();
    const auto plain = [&] { return sqrt(sum(detail::squares_of(numbers), over)); };
    using result = decltype(plain());
    if (!detail::need_scales<X> || extents.count() == 0) return plain();
    const auto scales = detail::scales_along(detail::largest_parts(numbers), over);
    const auto scaled = numbers * detail::beside_elements(scales, extents, over);
    return result(sqrt(sum(detail::squares_of(scaled), over)) / scales);
}
/// The variances along dimensions, in four passes; of integers in three.
///
///     spread = balm::variance(M, balm::along(0), 1);
template <detail::number_or_vector_array X>
auto variance(const X& x, const array::dimension_list& over, std::size_t lost = 0) {
    return detail::scaled_variances(
        x, over, lost, [](const auto& variances, const auto& scales) { return variances / scales / scales; });
}
/// The same for standard deviations.
template <detail::number_or_vector_array X>
auto stddev(const X& x, const array::dimension_list& over, std::size_t lost = 0) {
    return detail::scaled_variances(
        x, over, lost, [](const auto& variances, const auto& scales) { return sqrt(variances) / scales; });
}

}  // namespace balm
