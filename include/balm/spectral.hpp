#pragma once
// Convolutions and correlations of any sizes, and cosine and sine transforms, by Fourier transforms.
//
//     y = balm::convolve(x, h);                                        // n + m - 1 elements
//     score = balm::correlate(signal, pattern, balm::convolution_mode::valid);
//     c = balm::dct(x);
//     u = balm::idst(balm::dst(f, 1) / eigenvalues, 1);

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "balm/along.hpp"
#include "balm/expr.hpp"
#include "balm/fft.hpp"

namespace balm {

/// The elements of a convolution that are computed, with the names of numpy and scipy. For operands of n and
/// m elements along a dimension:
enum class convolution_mode : std::uint8_t {
    full,  ///< all n + m - 1
    same,  ///< n, from (m - 1) / 2 on: as many as the first operand, from the middle
    valid  ///< |n - m| + 1, from min(n, m) - 1 on: those that read no elements beyond an operand
};

namespace array {

/// A convolution as a materialised operand, along the dimensions that `over` names, or all. Elements are real
/// or complex, of one precision.
tape convolved(tape&& a, trace::type of_a, tape&& b, trace::type of_b, convolution_mode,
               const dimension_list& over);
/// The elements in reverse order along the dimensions that `over` names, or all.
tape backwards(tape&&, const dimension_list& over);
enum class trigonometric : std::uint8_t { cosine, sine };

/// A cosine or sine transform of real numbers as a materialised operand, along the dimensions that `over`
/// names, or all.
tape trigonometrically_transformed(tape&& elements, scalar precision, trigonometric, int type,
                                   bool is_inverse, const dimension_list& over);

/// A description of how the convolution is computed.
std::string convolution_words(tape&& a, trace::type of_a, tape&& b, trace::type of_b, convolution_mode,
                              const dimension_list& over);

}  // namespace array

namespace detail {

template <class A, class B>
using element_of_convolution =
    std::conditional_t<is_complex_value<element_of<A>>, element_of<A>, element_of<B>>;
template <class A, class B>
constexpr void check_convolution() {
    static_assert(std::same_as<fft_precision_of<A>, fft_precision_of<B>>,
                  "Balm: the operands of a convolution must have the same precision; write cast<double>(x) "
                  "or complex_cast<double>(x)");
}

/// The array with which correlate convolves the first operand.
template <class B>
auto conjugated_backwards(const B& b, const array::dimension_list& over) {
    using U = element_of<B>;
    expr<U> turned(array::backwards(expr<U>(b).tape(), over));
    if constexpr (is_complex_value<U>)
        return conj(std::move(turned));
    else
        return turned;
}

template <class A>
auto trigonometrically_transformed(A&& a, array::trigonometric kind, int type, bool is_inverse,
                                   const array::dimension_list& over) {
    using T = element_of<A>;
    static_assert(
        std::same_as<T, float> || std::same_as<T, double>,
        "Balm: a cosine or sine transform takes real numbers, float or double; write cast<float>(x)");
    return expr<T>(array::trigonometrically_transformed(expr<T>(static_cast<A&&>(a)).tape(), scalar_of<T>,
                                                        kind, type, is_inverse, over));
}

}  // namespace detail

/// The convolution of two arrays, as an expression. Element k of the `full` one, of n + m - 1 elements, is
///
///     y[k] = Σ_j a[j] b[k - j],
///
/// where the sum is over the j for which both elements exist. On views of several dimensions it runs along
/// all of them, or along those that `over` names; the others must have equal extents, and form a batch of
/// convolutions. Elements are real or complex, of float or double; if one operand is complex, the result is
/// complex.
///
/// In one dimension, if one array has few elements, each element of the result is a sum of products.
/// Otherwise both arrays are zero-padded to a fast size and transformed, and the product of the spectra is
/// transformed back. Padding is fused into the first pass over memory, and the product into the first pass of
/// the inverse transform: two real arrays take the passes of three complex transforms of half the padded
/// size. Errors of transforms are relative to the largest elements: sums that are small beside these lose
/// digits. See describe_convolution.
///
/// The convolution is a materialised operand, computed before the expression that it is part of. If vectors
/// are over several devices, the first one computes it. Throws usage_error for operands without elements,
/// with different numbers of dimensions, or with different extents along dimensions that are not convolved;
/// for `valid` if neither operand is as long as the other along each dimension; and as fft does.
///
///     reverberant = balm::convolve(dry, impulse_response);
///     blurred = balm::convolve(balm::view(image, {rows, columns}), balm::view(kernel, {9, 9}),
///                              balm::convolution_mode::same);
///
/// T. Stockham, High-speed convolution and correlation, AFIPS 28 (1966).
template <array_value A, array_value B>
auto convolve(const A& a, const B& b, convolution_mode mode = convolution_mode::full,
              const array::dimension_list& over = {}) {
    detail::check_convolution<A, B>();
    using E = detail::element_of<A>;
    using F = detail::element_of<B>;
    return expr<detail::element_of_convolution<A, B>>(array::convolved(
        expr<E>(a).tape(), detail::array_type<E>(), expr<F>(b).tape(), detail::array_type<F>(), mode, over));
}

/// The correlation of two arrays: the convolution with the second one reversed and conjugated. Element k of
/// the `full` one belongs to the lag k - (m - 1):
///
///     y[k] = Σ_j a[j] conj(b[j - k + m - 1]).
///
/// Everything else is as for convolve.
///
///     score = balm::correlate(signal, pattern, balm::convolution_mode::valid);  // score[k]: pattern at k
template <array_value A, array_value B>
auto correlate(const A& a, const B& b, convolution_mode mode = convolution_mode::full,
               const array::dimension_list& over = {}) {
    return convolve(a, detail::conjugated_backwards(b, over), mode, over);
}

/// A description of how the device of the elements computes their convolution.
///
///     std::cout << balm::describe_convolution(x, h);
template <array_value A, array_value B>
std::string describe_convolution(const A& a, const B& b, convolution_mode mode = convolution_mode::full,
                                 const array::dimension_list& over = {}) {
    detail::check_convolution<A, B>();
    using E = detail::element_of<A>;
    using F = detail::element_of<B>;
    return array::convolution_words(expr<E>(a).tape(), detail::array_type<E>(), expr<F>(b).tape(),
                                    detail::array_type<F>(), mode, over);
}

/// The discrete cosine transform of real numbers, float or double, of type 1 to 4, as an expression of the
/// same extents, without a factor (scipy's norm "backward"). For n elements, with k counted from 0:
///
///     1: y[k] = x[0] + (-1)^k x[n - 1] + 2 Σ_{0 < j < n - 1} x[j] cos(π k j / (n - 1))
///     2: y[k] = 2 Σ_j x[j] cos(π k (2 j + 1) / (2 n))
///     3: y[k] = x[0] + 2 Σ_{j > 0} x[j] cos(π (2 k + 1) j / (2 n))
///     4: y[k] = 2 Σ_j x[j] cos(π (2 k + 1) (2 j + 1) / (4 n))
///
/// On views of several dimensions it runs along all of them, or along those that `over` names. The size of
/// the complex transform determines the speed: n / 2 for even n, n for odd n, n - 1 for type 1; one more pass
/// over the elements follows it. The transform is a materialised operand, computed before the expression that
/// it is part of; assigned alone, in the target's memory. Vectors over several devices are as for fft, except
/// that the first device transforms a single line. Throws usage_error for another type, for type 1 along
/// fewer than two elements, and as fft does.
///
///     spectrum = balm::dct(x);
///     blocks = balm::dct(balm::view(image, {count, 8, 8}), 2, balm::along(1, 2));
template <array_value A>
auto dct(A&& a, int type = 2, const array::dimension_list& over = {}) {
    return detail::trigonometrically_transformed(static_cast<A&&>(a), array::trigonometric::cosine, type,
                                                 false, over);
}
/// The inverse of dct of the same type: types 2 and 3 are each other's inverses, and types 1 and 4 their own,
/// divided along each dimension by 2 n, or by 2 (n - 1) for type 1.
///
///     x = balm::idct(balm::select(abs(c) > threshold, c, 0.0));
template <array_value A>
auto idct(A&& a, int type = 2, const array::dimension_list& over = {}) {
    return detail::trigonometrically_transformed(static_cast<A&&>(a), array::trigonometric::cosine, type,
                                                 true, over);
}

/// The discrete sine transform:
///
///     1: y[k] = 2 Σ_j x[j] sin(π (k + 1) (j + 1) / (n + 1))
///     2: y[k] = 2 Σ_j x[j] sin(π (k + 1) (2 j + 1) / (2 n))
///     3: y[k] = (-1)^k x[n - 1] + 2 Σ_{j < n - 1} x[j] sin(π (2 k + 1) (j + 1) / (2 n))
///     4: y[k] = 2 Σ_j x[j] sin(π (2 k + 1) (2 j + 1) / (4 n))
///
/// Type 1 takes a complex transform of size n + 1. Everything else is as for dct.
template <array_value A>
auto dst(A&& a, int type = 2, const array::dimension_list& over = {}) {
    return detail::trigonometrically_transformed(static_cast<A&&>(a), array::trigonometric::sine, type, false,
                                                 over);
}
/// The inverse of dst of the same type, as idct is that of dct; type 1 is divided by 2 (n + 1).
///
///     u = balm::idst(balm::dst(f, 1) / eigenvalues, 1);  // Poisson's equation, zero at both ends
template <array_value A>
auto idst(A&& a, int type = 2, const array::dimension_list& over = {}) {
    return detail::trigonometrically_transformed(static_cast<A&&>(a), array::trigonometric::sine, type, true,
                                                 over);
}

}  // namespace balm
