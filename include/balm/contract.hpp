#pragma once
// Matrix products and tensor contractions of views and expressions, as expressions.
//
//     auto A = balm::view(a, {m, k}), B = balm::view(b, {k, n});
//     c = balm::matmul(A, B.transpose());
//     d += 2 * balm::einsum("bik,bkj->bij", S, T);

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "balm/array_elements.hpp"
#include "balm/expr.hpp"
#include "balm/view.hpp"

namespace balm {

/// What computes the matrix products of a contraction.
///
/// `vendor_library` uses cuBLAS on CUDA devices and CLBlast on OpenCL devices, which are opened at run time.
/// They multiply float, double, and complex numbers of both. Balm's kernels multiply if the library is
/// missing or too old, if the elements are integers, if the result has a single row or column, or fewer than
/// eight of each, and if a size exceeds 31 bits; describe_matmul reports which and why. Results differ in the
/// last digits, so programs that must compute the same on every machine use `own_kernels`. cuBLAS computes in
/// the arithmetic of the element type, without TF32 or emulation, and uses tensor cores for double.
enum class multiply_by : std::uint8_t { own_kernels, vendor_library };

namespace array {

/// How a contraction is computed, besides its operands.
struct contraction {
    trace::type element;  ///< of operands and result: a scalar or a complex number
    multiply_by by = multiply_by::own_kernels;
    std::string* plan = nullptr;  ///< if not null, receives a line for each product
};

/// Contractions of tapes whose elements all have the type `element`. Complex numbers are multiplied by the
/// vendor's library or not at all: the tape has no steps then.
tape einsum(std::string_view subscripts, tape&& a, scalar element);
tape einsum(std::string_view subscripts, tape&& a, tape&& b, const contraction&);
tape matmul(tape&& a, tape&& b, const contraction&);
tape contract(tape&& a, std::span<const int> axes_of_a, tape&& b, std::span<const int> axes_of_b,
              const contraction&);

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

/// How the products of a contraction are computed, and where to describe that (nowhere if null).
struct product_request {
    multiply_by by;
    std::string* plan = nullptr;
};

/// contract(a, b, how) for numbers of type T, both as tapes. If the vendor's library does not multiply
/// complex numbers, their real and imaginary parts are contracted separately.
template <class T, class A, class B, class F>
auto contracted(const A& a, const B& b, const product_request& wanted, const F& contract) {
    static_assert(is_contracted<element_of<A>>() && is_contracted<element_of<B>>(),
                  "Balm: contractions take integers, float, double, half or complex numbers; use "
                  "cast<int>(x) to count booleans");
    const array::contraction how{array_type<T>(), wanted.by, wanted.plan};
    if constexpr (scalar_type<T>) {
        return expr<T>(contract(operand_of<T>(a), operand_of<T>(b), how));
    } else {
        using part = typename T::value_type;
        constexpr bool is_complex_a = is_complex_value<element_of<A>>;
        constexpr bool is_complex_b = is_complex_value<element_of<B>>;
        const auto parts = [&](const auto& x, const auto& y) {
            return contracted<part>(x, y, wanted, contract);
        };
        if constexpr (is_complex_a && is_complex_b) {
            if (wanted.by == multiply_by::vendor_library)
                if (array::tape p = contract(operand_of<T>(a), operand_of<T>(b), how); !p.steps.empty())
                    return expr<T>(std::move(p));
            const auto ar = real(a), ai = imag(a), br = real(b), bi = imag(b);
            return compose<T>(parts(ar, br) - parts(ai, bi), parts(ar, bi) + parts(ai, br));
        } else if constexpr (is_complex_a) {
            return compose<T>(parts(real(a), b), parts(imag(a), b));
        } else {
            return compose<T>(parts(a, real(b)), parts(a, imag(b)));
        }
    }
}

template <class A, class B>
auto matmul_as(const product_request& wanted, const A& a, const B& b) {
    return contracted<contracted_element<A, B>>(
        a, b, wanted, [](array::tape&& x, array::tape&& y, const array::contraction& how) {
            return array::matmul(std::move(x), std::move(y), how);
        });
}
template <class A, class B>
auto einsum_as(const product_request& wanted, std::string_view subscripts, const A& a, const B& b) {
    return contracted<contracted_element<A, B>>(
        a, b, wanted, [&](array::tape&& x, array::tape&& y, const array::contraction& how) {
            return array::einsum(subscripts, std::move(x), std::move(y), how);
        });
}
template <class A, class B>
auto contract_as(const product_request& wanted, const A& a, std::initializer_list<int> axes_of_a, const B& b,
                 std::initializer_list<int> axes_of_b) {
    return contracted<contracted_element<A, B>>(
        a, b, wanted, [&](array::tape&& x, array::tape&& y, const array::contraction& how) {
            return array::contract(std::move(x), {axes_of_a.begin(), axes_of_a.size()}, std::move(y),
                                   {axes_of_b.begin(), axes_of_b.size()}, how);
        });
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
/// `by` chooses what multiplies: Balm's kernels, or the vendor's library where there is one (multiply_by).
///
///     c = balm::matmul(A, B, balm::multiply_by::vendor_library);
///
/// Takes 2 m n k operations. Throws usage_error for arrays with another number of dimensions, for extents
/// that do not match, and for operands on different devices. When it is computed, the assignment throws
/// device_error (or out_of_memory_error), with the library, its function and its status, if a function of the
/// vendor's library fails.
template <array_value A, array_value B>
auto matmul(const A& a, const B& b, multiply_by by = multiply_by::own_kernels) {
    return detail::matmul_as({by}, a, b);
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
/// that occurs there twice, for results of more than eight axes, and for operands on different devices. `by`
/// is as in matmul: the vendor's library multiplies batches, too.
template <array_value A, array_value B>
auto einsum(std::string_view subscripts, const A& a, const B& b, multiply_by by = multiply_by::own_kernels) {
    return detail::einsum_as({by}, subscripts, a, b);
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
/// axes of different extents, and as einsum does. `by` is as in matmul.
template <array_value A, array_value B>
auto contract(const A& a, std::initializer_list<int> axes_of_a, const B& b,
              std::initializer_list<int> axes_of_b, multiply_by by = multiply_by::own_kernels) {
    return detail::contract_as({by}, a, axes_of_a, b, axes_of_b);
}

/// A description of how a product is computed, a line for each product of real or complex numbers: what
/// multiplies (the vendor's library with its version, Balm's tiles or panels, sums along dimensions), and why
/// the vendor's library does not if it was requested. Computes nothing. Throws as the function that it
/// describes.
///
///     std::cout << balm::describe_matmul(A, B, balm::multiply_by::vendor_library);
///     // 4096 x 4096 by 4096 x 4096, f64: cuBLAS 13.0 (/usr/local/cuda/lib64/libcublas.so.13)
template <array_value A, array_value B>
std::string describe_matmul(const A& a, const B& b, multiply_by by = multiply_by::own_kernels) {
    std::string plan;
    static_cast<void>(detail::matmul_as({by, &plan}, a, b));
    return plan;
}
/// The same for einsum.
template <array_value A, array_value B>
std::string describe_einsum(std::string_view subscripts, const A& a, const B& b,
                            multiply_by by = multiply_by::own_kernels) {
    std::string plan;
    static_cast<void>(detail::einsum_as({by, &plan}, subscripts, a, b));
    return plan;
}
/// The same for contract.
template <array_value A, array_value B>
std::string describe_contract(const A& a, std::initializer_list<int> axes_of_a, const B& b,
                              std::initializer_list<int> axes_of_b,
                              multiply_by by = multiply_by::own_kernels) {
    std::string plan;
    static_cast<void>(detail::contract_as({by, &plan}, a, axes_of_a, b, axes_of_b));
    return plan;
}

}  // namespace balm
