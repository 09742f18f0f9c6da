#pragma once
// balm::all, shared by views, array expressions and short vectors.

namespace balm {

/// The type of balm::all.
struct all_type {
    /// Whether all elements of an expression, or all lanes of a short vector, are true.
    template <class A>
    auto operator()(A&& a) const {
        return every(static_cast<A&&>(a));
    }
    /// The same along some dimensions, as an expression: `balm::all(M > 0, balm::along(1))`.
    template <class A, class Dimensions>
    auto operator()(A&& a, const Dimensions& over) const {
        return every(static_cast<A&&>(a), over);
    }
};

/// As an index, all positions of a view's dimension: `M(balm::all, 3)`. As a function, whether all elements
/// of an expression, or in kernels all lanes of a short vector, are true: `balm::all(x > 0)`.
inline constexpr all_type all{};

}  // namespace balm
