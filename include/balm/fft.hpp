#pragma once
// Discrete Fourier transforms of vectors, views and expressions.
//
//     y = balm::fft(x);
//     u = balm::ifft(K * balm::fft(f));
//     Y = balm::fft(balm::view(x, {rows, columns}), balm::along(1));  // of each row

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include "balm/along.hpp"
#include "balm/expr.hpp"
#include "balm/view.hpp"

namespace balm {

namespace array {

enum class fft_direction : std::uint8_t { forward, inverse };

/// The transform of elements of a type, real or complex, as a leaf of expressions; along all dimensions,
/// where `over` names none.
tape fourier_transformed(tape&& elements, trace::type, fft_direction, const dimension_list& over);

/// The transform of real numbers, and its inverse, which has `count` of them.
tape real_transformed(tape&& elements, scalar precision, const dimension_list& over);
tape inverse_real_transformed(tape&& elements, scalar precision, std::size_t count,
                              const dimension_list& over);

/// The elements rotated by half of each dimension.
tape shifted(tape&& elements, bool is_inverse, const dimension_list& over);

/// How the transform is computed, in words.
std::string fft_words(tape&& elements, trace::type, const dimension_list& over);

}  // namespace array

namespace detail {

/// The precision of a transform of these elements.
template <class T>
struct fft_precision {
    static_assert(std::same_as<T, float> || std::same_as<T, double>,
                  "Balm: a transform takes complex numbers, float or double; write cast<float>(x)");
    using type = T;
};
template <class T>
struct fft_precision<complex_value<T>> {
    using type = T;
};
template <class A>
using fft_precision_of = typename fft_precision<element_of<A>>::type;

template <class A>
auto fourier_transformed(A&& a, array::fft_direction direction, const array::dimension_list& over) {
    using T = fft_precision_of<A>;
    return expr<complex_value<T>>(array::fourier_transformed(expr<element_of<A>>(static_cast<A&&>(a)).tape(),
                                                             array_type<element_of<A>>(), direction, over));
}

}  // namespace detail

/// The discrete Fourier transform of the elements of a vector or expression, complex or real, as an
/// expression of complex numbers of their precision and extents: y[k] = Σ x[j] exp(-2 π i j k / n), without a
/// factor. Of a view of several dimensions it runs along all of them, or along those that `over` names:
///
///     y = balm::fft(x);
///     x = balm::fft(x);                                        // in place
///     Y = balm::fft(balm::view(x, {rows, columns}));           // of both dimensions
///     Y = balm::fft(balm::view(x, {n, n}), balm::along(1));    // of each row
///
/// Any size is quick: those whose prime factors are at most 13 take 1 to 3 passes over the elements, others a
/// convolution of twice the size, whose memory is 2 to 3 times theirs (Bluestein). The expression is part of
/// the first pass. Sizes beyond 4096 take a temporary of as many elements where the expression reads the
/// target. The transform is computed as a whole before the expression that it is part of; where it is all
/// that is assigned, in the target's memory. Of vectors over several devices each transforms those arrays of
/// a batch that it has; of fewer arrays than devices they exchange parts, and the first one transforms small
/// arrays, and single lines whose size is no product of two numbers of at least as many as there are devices.
/// Throws usage_error for dimensions that are not there or named twice, and for more than 2^30 elements along
/// one.
///
/// Stockham's form of the transform: C. Van Loan, Computational Frameworks for the Fast Fourier Transform,
/// 1992.
template <array_value A>
auto fft(A&& a, const array::dimension_list& over = {}) {
    return detail::fourier_transformed(static_cast<A&&>(a), array::fft_direction::forward, over);
}

/// The inverse transform: y[j] = 1/n Σ x[k] exp(2 π i j k / n), n being the product of the extents that it
/// runs along. All else is as for fft.
///
///     u = balm::ifft(K * balm::fft(f));
template <array_value A>
auto ifft(A&& a, const array::dimension_list& over = {}) {
    return detail::fourier_transformed(static_cast<A&&>(a), array::fft_direction::inverse, over);
}

/// The transform of real numbers (float or double), of which the first n / 2 + 1 are enough: the others are
/// their conjugates. Of several dimensions the last one has as many results, the others have all. An even
/// number of elements of contiguous rows takes half of the time of a complex transform. Throws usage_error as
/// fft does, and where the last dimension has no elements.
///
///     balm::vector<std::complex<float>> spectrum = balm::rfft(signal);
template <array_value A>
auto rfft(A&& a, const array::dimension_list& over = {}) {
    using T = detail::element_of<A>;
    static_assert(std::same_as<T, float> || std::same_as<T, double>,
                  "Balm: rfft takes real numbers, float or double; complex ones are for fft");
    return expr<complex_value<T>>(
        array::real_transformed(expr<T>(static_cast<A&&>(a)).tape(), scalar_of<T>, over));
}

/// The inverse of rfft: n real numbers, from the first n / 2 + 1 of their transform along the last dimension.
/// Imaginary parts of numbers that are real in such a transform are ignored. Throws usage_error where there
/// is another number of them.
///
///     signal = balm::irfft(gain * balm::rfft(signal), n);
template <array_value A>
auto irfft(A&& a, std::size_t n, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    static_assert(detail::is_complex_value<E>, "Balm: irfft takes complex numbers");
    using T = typename E::value_type;
    return expr<T>(
        array::inverse_real_transformed(expr<E>(static_cast<A&&>(a)).tape(), scalar_of<T>, n, over));
}

/// The elements of a transform with the one of frequency 0 in the middle: rotated by half of each dimension,
/// or of those named. An index map: nothing is copied.
///
///     image = balm::abs(balm::fftshift(balm::fft(balm::view(x, {rows, columns}))));
template <array_value A>
auto fftshift(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return expr<E>(array::shifted(expr<E>(static_cast<A&&>(a)).tape(), false, over));
}
/// The inverse of fftshift, which differs from it along odd extents.
template <array_value A>
auto ifftshift(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return expr<E>(array::shifted(expr<E>(static_cast<A&&>(a)).tape(), true, over));
}

/// The frequencies of the elements of a transform of n samples, `spacing` apart, in cycles per unit: 0, 1, …,
/// then the negative ones, divided by n * spacing. An expression of doubles.
///
///     auto k = 2 * M_PI * balm::fftfreq(n, h);
inline expr<double> fftfreq(std::size_t n, double spacing = 1) {
    const auto k = element_index(0, n);
    const auto count = static_cast<std::int64_t>(n);
    return cast<double>(select(k < (count + 1) / 2, k, k - count)) / (static_cast<double>(n) * spacing);
}
/// The same of the n / 2 + 1 elements of rfft.
inline expr<double> rfftfreq(std::size_t n, double spacing = 1) {
    return cast<double>(element_index(0, n / 2 + 1)) / (static_cast<double>(n) * spacing);
}

/// How the devices of the elements compute their transform: how several ones divide it, then a line for each
/// pass.
///
///     std::cout << balm::describe_fft(x);
template <array_value A>
std::string describe_fft(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return array::fft_words(expr<E>(static_cast<A&&>(a)).tape(), detail::array_type<E>(), over);
}

}  // namespace balm
