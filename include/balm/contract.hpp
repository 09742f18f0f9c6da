#pragma once
// Matrix products and tensor contractions of views and expressions, as expressions.
//
//     auto A = balm::view(a, {m, k}), B = balm::view(b, {k, n});
//     c = balm::matmul(A, B.transpose());
//     d += 2 * balm::einsum("bik,bkj->bij", S, T);

#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/array_elements.hpp"
#include "balm/expr.hpp"
#include "balm/view.hpp"

namespace balm {

namespace array {

/// Contractions of tapes whose elements all have the type `element`.
tape einsum(std::string_view subscripts, tape&& a, scalar element);
tape einsum(std::string_view subscripts, tape&& a, tape&& b, scalar element);
tape matmul(tape&& a, tape&& b, scalar element);
tape contract(tape&& a, std::span<const int> axes_of_a, tape&& b, std::span<const int> axes_of_b,
              scalar element);

}  // namespace array

namespace detail {

/// The type in which the products of two arrays' elements are accumulated: that of `a * b`.
template <class A, class B>
using contracted_element =
    element_of<decltype(std::declval<expr<element_of<A>>>() * std::declval<expr<element_of<B>>>())>;

template <class T>
constexpr bool is_contracted() {
    if constexpr (scalar_type<T>)
        return !std::same_as<T, bool>;
    else
        return is_complex_value<T>;
}

/// The operand as a tape of elements of T.
template <class T, class A>
array::tape operand_of(const A& a) {
    if constexpr (std::same_as<element_of<A>, T>)
        return begin<array_scalar<A>()>(a);
    else
        return cast<T>(a).tape();
}

/// contract(a, b) for real numbers of type T, both as tapes. For complex numbers, the real and imaginary
/// parts are contracted separately.
template <class T, class A, class B, class F>
auto contracted(const A& a, const B& b, const F& contract) {
    static_assert(is_contracted<element_of<A>>() && is_contracted<element_of<B>>(),
                  "Balm: contractions take integers, float, double, half or complex numbers; use "
                  "cast<int>(x) to count booleans");
    if constexpr (scalar_type<T>) {
        return expr<T>(contract(operand_of<T>(a), operand_of<T>(b), scalar_of<T>));
    } else {
        using part = typename T::value_type;
        constexpr bool is_complex_a = is_complex_value<element_of<A>>;
        constexpr bool is_complex_b = is_complex_value<element_of<B>>;
        if constexpr (is_complex_a && is_complex_b) {
            const auto ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
            return compose<T>(contracted<part>(ar, br, contract) - contracted<part>(ai, bi, contract),
                              contracted<part>(ar, bi, contract) + contracted<part>(ai, br, contract));
        } else if constexpr (is_complex_a) {
            return compose<T>(contracted<part>(real(a), b, contract), contracted<part>(imag(a), b, contract));
        } else {
            return compose<T>(contracted<part>(a, real(b), contract), contracted<part>(a, imag(b), contract));
        }
    }
}

}  // namespace detail

/// The product of two matrices, or of a matrix and a vector: arrays of two dimensions, rows x columns, or of
/// one. The product of m x k and k x n is m x n; m x k and k give m elements, k and k x n give n, k and k
/// one. Views need not be contiguous: a transpose costs nothing.
///
///     auto A = balm::view(a, {m, k});
///     auto B = balm::view(b, {n, k});
///     c = balm::matmul(A, B.transpose());            // computed into c
///     y = 2 * balm::matmul(A, x) + y;
///
/// The result is an expression with elements of the type of `a * b`: small integers become int, half becomes
/// float; integers wrap. It is materialised before the expression that contains it: directly in the target if
/// it is the whole right-hand side of an assignment to a vector, else in a temporary. Operands that are not
/// views of vectors, or whose axes are neither contiguous nor a stride apart, are materialised once. For
/// complex numbers, real and imaginary parts are multiplied separately: two products if one operand is
/// complex, four if both are. The order of additions depends on the device and on the extents, and is the
/// same in each run. For vectors over several devices, each device computes some of the rows, with copies of
/// the second operand; the first device computes products with a vector.
///
/// Takes 2 m n k operations. Throws usage_error for arrays with another number of dimensions, for extents
/// that do not match, and for operands on different devices.
template <array_value A, array_value B>
auto matmul(const A& a, const B& b) {
    return detail::contracted<detail::contracted_element<A, B>>(
        a, b, [](array::tape&& x, array::tape&& y, scalar element) {
            return array::matmul(std::move(x), std::move(y), element);
        });
}

/// Einstein summation over two arrays, as numpy.einsum defines it: a letter names each axis of each operand,
/// and the axes of the result follow `->`. Products are summed over the letters that are not in the result.
/// Without `->` the result has the letters that occur once, in alphabetical order. A letter that occurs twice
/// in one operand takes its diagonal. Without letters the result has one element.
///
///     c = balm::einsum("ik,kj->ij", A, B);          // a matrix product
///     c = balm::einsum("bik,bkj->bij", A, B);       // one for each b
///     c = balm::einsum("ijk,kjl->il", S, T);        // a contraction of two axes
///     c = balm::einsum("i,j->ij", x, y);            // an outer product: fused into the expression
///     c = balm::einsum("ij,ij->", A, B);            // an inner product, of one element
///
/// The result is an expression like that of matmul; if nothing is summed, it is an elementwise product of
/// views, without a temporary. Throws usage_error for subscripts that name another number of operands or
/// axes, for a letter whose axes have different extents, for a letter in the result that no operand has or
/// that occurs there twice, for results of more than eight axes, and for operands on different devices.
template <array_value A, array_value B>
auto einsum(std::string_view subscripts, const A& a, const B& b) {
    return detail::contracted<detail::contracted_element<A, B>>(
        a, b, [&](array::tape&& x, array::tape&& y, scalar element) {
            return array::einsum(subscripts, std::move(x), std::move(y), element);
        });
}

/// Einstein summation over one array: transposes, diagonals, traces, and sums over axes.
///
///     x = balm::einsum("ii->i", A);                 // the diagonal: a view of A
///     t = balm::einsum("ii", A);                    // the trace, one element
///     y = balm::einsum("ijk->kj", T);               // summed over i, and transposed
template <array_value A>
auto einsum(std::string_view subscripts, const A& a) {
    using T = detail::element_of<decltype(+std::declval<expr<detail::element_of<A>>>())>;
    static_assert(detail::is_contracted<detail::element_of<A>>(),
                  "Balm: contractions take integers, float, double, half or complex numbers; use "
                  "cast<int>(x) to count booleans");
    if constexpr (scalar_type<T>) {
        return expr<T>(array::einsum(subscripts, detail::operand_of<T>(a), scalar_of<T>));
    } else {
        return compose<T>(einsum(subscripts, real(a)), einsum(subscripts, imag(a)));
    }
}

/// Sums the products over pairs of axes, as numpy.tensordot: axis axes_of_a[k] of a and axis axes_of_b[k] of
/// b. The result has the other axes of a, then those of b (one element if there are none). Without axes it is
/// the tensor product.
///
///     c = balm::contract(S, {2, 1}, T, {0, 1});     // einsum("ijk,kjl->il", S, T)
///     c = balm::contract(A, {1}, B, {0});           // matmul(A, B)
///
/// Throws usage_error for an axis that does not exist or is named twice, for different numbers of axes, for
/// axes of different extents, and as einsum does.
template <array_value A, array_value B>
auto contract(const A& a, std::initializer_list<int> axes_of_a, const B& b,
              std::initializer_list<int> axes_of_b) {
    return detail::contracted<detail::contracted_element<A, B>>(
        a, b, [&](array::tape&& x, array::tape&& y, scalar element) {
            return array::contract(std::move(x), {axes_of_a.begin(), axes_of_a.size()}, std::move(y),
                                   {axes_of_b.begin(), axes_of_b.size()}, element);
        });
}

}  // namespace balm
