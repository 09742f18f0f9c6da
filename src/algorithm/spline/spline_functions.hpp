#pragma once
// The device functions of splines. Parameters that exist for each dimension are grouped: coordinates, then
// lower ends, then scales, then cells.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "balm/spline.hpp"

namespace balm::array {

/// The types of these functions for D dimensions.
template <class T, class = void>
struct spline_signatures;
template <class T, std::size_t... K>
struct spline_signatures<T, std::index_sequence<K...>> {
    template <std::size_t, class V>
    using each = V;
    using value = dsl::Var<T>;

    using code = device_function<dsl::UInt, each<K, value>..., each<K, value>..., each<K, value>...,
                                 each<K, dsl::Int>..., dsl::In<std::uint32_t>>;
    using squares =
        device_function<value, each<K, value>..., each<K, value>..., each<K, value>..., each<K, dsl::Int>...>;
    using gather = typed_kernel<1, dsl::UInt, dsl::In<std::uint32_t>, dsl::In<std::uint32_t>, dsl::In<T>,
                                each<K, dsl::In<T>>..., each<K, value>..., each<K, value>...,
                                each<K, dsl::Int>..., dsl::Out<T>, dsl::Out<T>>;
    using refined = device_function<value, dsl::Long, dsl::In<T>, each<K, dsl::Int>...>;
    using plane = device_function<value, dsl::Long, value, each<K, value>..., each<K, dsl::Int>...>;
};
template <int D, class T>
using spline_signatures_of = spline_signatures<T, std::make_index_sequence<D>>;

/// The code of the cell that contains a point: in one dimension its number, otherwise the sum of a table's
/// entries for its number along each dimension.
template <int D, class T>
const typename spline_signatures_of<D, T>::code& cell_code();

/// The sum of the squares of the 4^D basis functions at a point.
template <int D, class T>
const typename spline_signatures_of<D, T>::squares& sum_of_squares();

/// Work-item `c * splits + s` computes what every splits-th of the points near control point c contributes to
/// it, from the s-th on: the sums of w^3 f and of w^2, where w is the point's basis function and f its value
/// divided by sum_of_squares. Parameters: splits, where each cell's points begin (by code), the table of
/// cell_code, f, coordinates …, and both sums. This is a kernel: a work-item has enough work, also on CPUs,
/// where expressions give each one thousands of elements.
template <int D, class T>
const typename spline_signatures_of<D, T>::gather& gather_points();

/// A control point of the lattice with twice as many cells (`cells` counts those) for the same spline.
/// Parameters: its number, and the coarse lattice.
template <int D, class T>
const typename spline_signatures_of<D, T>::refined& refined_point();

/// A control point of a linear function. Parameters: its number, the value at the lower ends, and the rise
/// over each dimension.
template <int D, class T>
const typename spline_signatures_of<D, T>::plane& plane_point();

}  // namespace balm::array
