#pragma once
// Arrays of several dimensions: a vector with its extents.

#include <array>
#include <cstddef>
#include <vector>

#include "vexcl/vector_view.hpp"

namespace vex {

/// A view of some elements of an array, made by `x(vex::indices[…][…])`. Kept… are the dimensions indexed by
/// a range.
template <class T, std::size_t N, std::size_t... Kept>
class multi_array_view {
public:
    multi_array_view(vector<T>& elements, const gslice<N>& slice) : elements_(elements), slice_(slice) {}

    /// The elements, to read and to assign.
    decltype(auto) vec() const { return slice_(elements_); }
    /// The extent of the D-th of the kept dimensions.
    template <std::size_t D>
    std::size_t size() const {
        static_assert(D < sizeof...(Kept), "the view has fewer dimensions");
        return slice_.length[std::array{Kept...}[D]];
    }

private:
    vector<T>& elements_;
    gslice<N> slice_;
};

/// An array of N dimensions in row-major order.
///
///     vex::multi_array<double, 2> x(ctx, vex::extents[rows][columns]);
///     x(vex::indices[vex::_][3]).vec() = 0;      // a column
///     y = vex::reduce<vex::SUM>(x, 1);           // the sum of each row
template <class T, std::size_t N>
class multi_array {
public:
    typedef T value_type;
    typedef vector<T> base_type;
    typedef std::integral_constant<std::size_t, N> ndim;

    multi_array(const std::vector<command_queue>& queues, const extent_gen<N>& sizes)
        : slice(sizes), elements_(queues, sizes.size()) {}

    /// All elements.
    const vector<T>& vec() const { return elements_; }
    vector<T>& vec() { return elements_; }
    /// A view of some elements.
    template <std::size_t... Kept>
    multi_array_view<T, N, Kept...> operator()(const index_gen<N, Kept...>& at) {
        return {elements_, slice(at)};
    }
    template <std::size_t... Kept>
    const multi_array_view<T, N, Kept...> operator()(const index_gen<N, Kept...>& at) const {
        return {const_cast<vector<T>&>(elements_), slice(at)};
    }
    /// The extent of dimension D.
    template <std::size_t D>
    std::size_t size() const {
        static_assert(D < N, "the array has fewer dimensions");
        return slice.dim[D];
    }

    /// Makes slices of vectors of the same extents.
    slicer<N> slice;

private:
    vector<T> elements_;
};

/// The reduction of an array along some of its dimensions.
template <class Reduction, class T, std::size_t N, class Dimensions>
decltype(auto) reduce(const multi_array<T, N>& x, const Dimensions& dimensions) {
    return reduce<Reduction>(slicer<N>(x.slice.dim)[_](x.vec()), dimensions);
}

}  // namespace vex
