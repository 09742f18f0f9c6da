#pragma once
// Discrete Fourier transforms of vectors, views and expressions.
//
//     y = balm::fft(x);
//     u = balm::ifft(K * balm::fft(f));
//     Y = balm::fft(balm::view(x, {rows, columns}), balm::along(1));  // each row

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/along.hpp"
#include "balm/expr.hpp"
#include "balm/view.hpp"

namespace balm {

/// Which of a transform and its inverse has the factor 1 / n, where n is the product of the transformed
/// extents: the inverse, which is NumPy's norm="backward"; both, 1 / √n each; or the forward one.
enum class fft_norm : std::uint8_t { backward, ortho, forward };

/// Options of a transform.
///
///     y = balm::fft(x, {}, {.norm = balm::fft_norm::ortho});
///     Y = balm::fft(balm::view(x, {rows, columns}), {}, {.lengths = {128, 256}});
struct fft_options {
    fft_norm norm = fft_norm::backward;
    /// The extents to transform, one for each transformed dimension, in the order in which `over` names them
    /// (of all dimensions: in their order): elements beyond them are ignored, and zeros follow if the array
    /// has fewer. Both happen where the first pass loads elements. Empty: those of the array. NumPy's n and
    /// s.
    std::vector<std::size_t> lengths = {};
};

namespace array {

enum class fft_direction : std::uint8_t { forward, inverse };

/// The transform of elements of a type, real or complex, as a materialised operand; along all dimensions if
/// `over` names none.
tape fourier_transformed(tape&& elements, trace::type, fft_direction, const dimension_list& over,
                         const fft_options& = {});

/// The transform of real numbers, and its inverse, which has `count` real numbers.
tape real_transformed(tape&& elements, scalar precision, const dimension_list& over, const fft_options&);
tape inverse_real_transformed(tape&& elements, scalar precision, std::size_t count,
                              const dimension_list& over, const fft_options&);

/// The elements rotated by half of each dimension.
tape shifted(tape&& elements, bool is_inverse, const dimension_list& over);

/// A description of how the transform is computed.
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
auto fourier_transformed(A&& a, array::fft_direction direction, const array::dimension_list& over,
                         const fft_options& options) {
    using T = fft_precision_of<A>;
    return expr<complex_value<T>>(array::fourier_transformed(expr<element_of<A>>(static_cast<A&&>(a)).tape(),
                                                             array_type<element_of<A>>(), direction, over,
                                                             options));
}

}  // namespace detail

/// The discrete Fourier transform of the elements of a vector or expression, complex or real, as an
/// expression of complex numbers with their precision and extents: y[k] = Σ x[j] exp(-2 π i j k / n), without
/// a factor unless options.norm asks for one. On a view of several dimensions it runs along all of them, or
/// along those that `over` names:
///
///     y = balm::fft(x);
///     x = balm::fft(x);                                        // in place
///     Y = balm::fft(balm::view(x, {rows, columns}));           // both dimensions
///     Y = balm::fft(balm::view(x, {n, n}), balm::along(1));    // each row
///
/// Any size is fast. Sizes whose prime factors are at most 13 take 1 to 3 passes over the elements; others
/// use a convolution of at least twice the size (Bluestein's algorithm), whose temporaries take 2 to 3 times
/// the memory of the elements. The argument is fused into the first pass. Sizes beyond 4096 need a temporary
/// of the size of the elements if the argument reads the target. The transform is a materialised operand: it
/// is computed before the expression that contains it. If it is the whole right-hand side of an assignment,
/// it is computed in the target's memory.
///
/// If the vectors are over several devices, each device transforms the arrays of a batch that it holds. If
/// there are fewer arrays than devices, the devices exchange parts; the first device alone transforms small
/// arrays, and single lines whose size is not a product of two factors that are each at least the number of
/// devices.
///
/// Throws usage_error for dimensions that do not exist or are named twice, for lengths that are 0 or not one
/// for each dimension, and if the extent of a transformed dimension, times the extents of faster dimensions,
/// exceeds 2^30.
///
/// Stockham's algorithm: C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992.
template <array_value A>
auto fft(A&& a, const array::dimension_list& over = {}, const fft_options& options = {}) {
    return detail::fourier_transformed(static_cast<A&&>(a), array::fft_direction::forward, over, options);
}
/// The transform of the first n elements of an array of one dimension, which zeros continue if it has fewer:
/// n elements.
///
///     balm::vector<std::complex<float>> y = balm::fft(x, 1024);
template <array_value A, std::integral N>
auto fft(A&& a, N n, fft_norm norm = fft_norm::backward) {
    return fft(static_cast<A&&>(a), {}, fft_options{norm, {static_cast<std::size_t>(n)}});
}

/// The inverse transform: y[j] = 1/n Σ x[k] exp(2 π i j k / n), where n is the product of the transformed
/// extents; options.norm may ask for another factor. Otherwise as fft.
///
///     u = balm::ifft(K * balm::fft(f));
template <array_value A>
auto ifft(A&& a, const array::dimension_list& over = {}, const fft_options& options = {}) {
    return detail::fourier_transformed(static_cast<A&&>(a), array::fft_direction::inverse, over, options);
}
template <array_value A, std::integral N>
auto ifft(A&& a, N n, fft_norm norm = fft_norm::backward) {
    return ifft(static_cast<A&&>(a), {}, fft_options{norm, {static_cast<std::size_t>(n)}});
}

/// The first n / 2 + 1 elements of the transform of real numbers (float or double); the others are their
/// conjugates. Of several dimensions only the last one is halved. If the number of elements is even and the
/// rows are contiguous, it takes half the time of a complex transform. Throws usage_error as fft does, and if
/// the last dimension is empty.
///
///     balm::vector<std::complex<float>> spectrum = balm::rfft(signal);
template <array_value A>
auto rfft(A&& a, const array::dimension_list& over = {}, const fft_options& options = {}) {
    using T = detail::element_of<A>;
    static_assert(std::same_as<T, float> || std::same_as<T, double>,
                  "Balm: rfft takes real numbers, float or double; for complex numbers use fft");
    return expr<complex_value<T>>(
        array::real_transformed(expr<T>(static_cast<A&&>(a)).tape(), scalar_of<T>, over, options));
}
/// The same of the first n elements of an array of one dimension: n / 2 + 1 elements.
template <array_value A, std::integral N>
auto rfft(A&& a, N n, fft_norm norm = fft_norm::backward) {
    return rfft(static_cast<A&&>(a), {}, fft_options{norm, {static_cast<std::size_t>(n)}});
}

/// The inverse of rfft: n real numbers, from the first n / 2 + 1 elements of their transform along the last
/// dimension. Imaginary parts of elements that are real in such a transform are ignored. The lengths of
/// options are those of the result: the last one is n, and the last dimension is cut or continued to n / 2 +
/// 1 elements. Throws usage_error as fft does, and without lengths if the last dimension does not have n / 2
/// + 1 elements.
///
///     signal = balm::irfft(gain * balm::rfft(signal), n);
template <array_value A>
auto irfft(A&& a, std::size_t n, const array::dimension_list& over = {}, const fft_options& options = {}) {
    using E = detail::element_of<A>;
    static_assert(detail::is_complex_value<E>, "Balm: irfft takes complex numbers");
    using T = typename E::value_type;
    return expr<T>(
        array::inverse_real_transformed(expr<E>(static_cast<A&&>(a)).tape(), scalar_of<T>, n, over, options));
}

/// Moves frequency 0 of a transform to the middle: rotates the elements by half of each dimension, or of
/// those that `over` names. An index map, without a copy.
///
///     image = balm::abs(balm::fftshift(balm::fft(balm::view(x, {rows, columns}))));
template <array_value A>
auto fftshift(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return expr<E>(array::shifted(expr<E>(static_cast<A&&>(a)).tape(), false, over));
}
/// The inverse of fftshift; they differ along odd extents.
template <array_value A>
auto ifftshift(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return expr<E>(array::shifted(expr<E>(static_cast<A&&>(a)).tape(), true, over));
}

/// The frequencies, in cycles per unit, of the elements of a transform of n samples that are `spacing` apart:
/// 0, 1, …, then the negative ones, divided by n * spacing. An expression of doubles.
///
///     auto k = 2 * M_PI * balm::fftfreq(n, h);
inline expr<double> fftfreq(std::size_t n, double spacing = 1) {
    const auto k = element_index(0, n);
    const auto count = static_cast<std::int64_t>(n);
    return cast<double>(select(k < (count + 1) / 2, k, k - count)) / (static_cast<double>(n) * spacing);
}
/// The same for the n / 2 + 1 elements of rfft.
inline expr<double> rfftfreq(std::size_t n, double spacing = 1) {
    return cast<double>(element_index(0, n / 2 + 1)) / (static_cast<double>(n) * spacing);
}

/// A description of how the transform is computed: how several devices divide it, then a line for each pass.
///
///     std::cout << balm::describe_fft(x);
template <array_value A>
std::string describe_fft(A&& a, const array::dimension_list& over = {}) {
    using E = detail::element_of<A>;
    return array::fft_words(expr<E>(static_cast<A&&>(a)).tape(), detail::array_type<E>(), over);
}

}  // namespace balm
