#pragma once
// Slices, permutations, reductions along dimensions and reshapes of vectors and expressions.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>

#include <balm/along.hpp>
#include <balm/reduce.hpp>
#include <balm/view.hpp>

#include "vexcl/detail/element_view.hpp"
#include "vexcl/element_index.hpp"
#include "vexcl/reductor.hpp"
#include "vexcl/tagged_terminal.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {

namespace detail {

/// The elements of a vector, a view or an expression at an offset and strides. Throws usage_error if a
/// position is out of range.
template <class T>
vector_view<balm_element<T>> viewed(const vector<T>& a, const balm::shape& extents,
                                    const balm::strides& apart, std::int64_t offset) {
    balm::vector<balm_element<T>> elements = a.balm_vector().share();
    return {balm::view<balm_element<T>>(elements, extents, apart, offset), a.queues()};
}
template <class T>
vector_view<T> viewed(const vector_view<T>& a, const balm::shape& extents, const balm::strides& apart,
                      std::int64_t offset) {
    return {balm::view<T>(a.balm_view(), extents, apart, offset), a.queues()};
}
template <vexpr A>
vector_view<const element_of<A>> viewed(const A& a, const balm::shape& extents, const balm::strides& apart,
                                        std::int64_t offset) {
    return {balm::view<const element_of<A>>(lower(a), extents, apart, offset), a.queues()};
}
/// The elements at the positions that an expression computes. Positions are not checked.
template <class T>
pointed_view<balm_element<T>> picked(const vector<T>& a, const balm::expr<std::int64_t>& at,
                                     queue_list queues) {
    return *pointer(a.balm_vector().share(), std::move(queues), at);
}
template <class T>
vector_view<T> picked(const vector_view<T>& a, const balm::expr<std::int64_t>& at, queue_list queues) {
    return {a.balm_view()[at], std::move(queues)};
}
template <vexpr A>
vector_view<const element_of<A>> picked(const A& a, const balm::expr<std::int64_t>& at, queue_list queues) {
    return {lower(a)[at], std::move(queues)};
}

}  // namespace detail

/// A strided slice of N dimensions: an offset, and a length and a stride for each dimension.
///
///     vex::gslice<2> block(start, std::array{3, 3}, std::array{columns, 1});
///     y = block(x);
///     block(x) = 0;
template <std::size_t N>
struct gslice {
    std::size_t start = 0;
    std::size_t length[N]{};
    std::ptrdiff_t stride[N]{};

    gslice() = default;
    template <class L, class S>
    gslice(std::size_t first, const std::initializer_list<L>& lengths,
           const std::initializer_list<S>& strides)
        : gslice(first, lengths.begin(), strides.begin()) {}
    template <class L, class S>
    gslice(std::size_t first, const std::array<L, N>& lengths, const std::array<S, N>& strides)
        : gslice(first, lengths.data(), strides.data()) {}
    template <class L, class S>
    gslice(std::size_t first, const L* lengths, const S* strides) : start(first) {
        for (std::size_t k = 0; k < N; ++k) {
            length[k] = static_cast<std::size_t>(lengths[k]);
            stride[k] = static_cast<std::ptrdiff_t>(strides[k]);
        }
    }

    /// The number of elements.
    std::size_t size() const {
        return std::accumulate(length, length + N, std::size_t{1}, std::multiplies<std::size_t>());
    }

    /// The elements of a vector, to read and to assign, or of an expression, to read. Throws usage_error if a
    /// position is out of range.
    template <detail::vexpr A>
    decltype(auto) operator()(const A& a) const {
        const std::array<std::int64_t, N> apart = strides_of_elements();
        return detail::viewed(a, balm::shape(std::span<const std::size_t>(length, N)),
                              balm::strides(std::span<const std::int64_t>(apart)),
                              static_cast<std::int64_t>(start));
    }

private:
    std::array<std::int64_t, N> strides_of_elements() const {
        std::array<std::int64_t, N> each{};
        for (std::size_t k = 0; k < N; ++k) each[k] = stride[k];
        return each;
    }
};

/// The positions start, start + stride, … up to `stop`, exclusive, along a dimension; all positions if
/// default-constructed.
struct range {
    std::ptrdiff_t start = 0, stride = 0, stop = 0;

    range() = default;
    range(std::ptrdiff_t position) : start(position), stride(1), stop(position + 1) {}  // NOLINT
    range(std::ptrdiff_t first, std::ptrdiff_t end) : start(first), stride(1), stop(end) {}
    range(std::ptrdiff_t first, std::ptrdiff_t step, std::ptrdiff_t end)
        : start(first), stride(step), stop(end) {}

    bool empty() const { return start == 0 && stride == 0 && stop == 0; }
    std::size_t length() const {
        const auto distance = static_cast<std::size_t>(std::abs(stop - start));
        const auto step = static_cast<std::size_t>(std::abs(stride));
        return step == 0 ? 0 : (distance + step - 1) / step;
    }
};
/// All positions of a dimension.
inline const range _;

/// A list of extents: `vex::extents[rows][columns]`.
template <std::size_t N>
struct extent_gen {
    std::array<std::size_t, N> dim;

    extent_gen<N + 1> operator[](std::size_t extent) const {
        extent_gen<N + 1> more{};
        std::copy(dim.begin(), dim.end(), more.dim.begin());
        more.dim.back() = extent;
        return more;
    }
    std::size_t size() const {
        return std::accumulate(dim.begin(), dim.end(), std::size_t{1}, std::multiplies<std::size_t>());
    }
};
inline const extent_gen<0> extents{};

/// A list of ranges and single positions: `vex::indices[range(0, 2)][5]`. Kept… are the dimensions indexed by
/// a range.
template <std::size_t N, std::size_t... Kept>
struct index_gen {
    std::array<range, N> ranges;

    index_gen<N + 1, Kept..., N> operator[](const range& r) const {
        return more<index_gen<N + 1, Kept..., N>>(r);
    }
    template <std::integral I>
    index_gen<N + 1, Kept...> operator[](I position) const {
        return more<index_gen<N + 1, Kept...>>(range(static_cast<std::ptrdiff_t>(position)));
    }

private:
    template <class More>
    More more(const range& r) const {
        More made{};
        std::copy(ranges.begin(), ranges.end(), made.ranges.begin());
        made.ranges.back() = r;
        return made;
    }
};
inline const index_gen<0> indices{};

/// Makes slices of vectors that hold arrays of N dimensions in row-major order.
///
///     vex::slicer<2> slice(vex::extents[rows][columns]);
///     y = slice[3](x);                                  // a row
///     y = slice[vex::_][3](x);                          // a column
///     slice[vex::range(0, 2, rows)](x) = 0;             // every second row
template <std::size_t N>
struct slicer {
    std::array<std::size_t, N> dim, stride;

    template <class I>
    slicer(const std::array<I, N>& sizes) {  // NOLINT(google-explicit-constructor)
        init(sizes.data());
    }
    template <class I>
    slicer(const I* sizes) {  // NOLINT(google-explicit-constructor)
        init(sizes);
    }
    slicer(const extent_gen<N>& sizes) { init(sizes.dim.data()); }  // NOLINT

    template <std::size_t... Kept>
    gslice<N> operator()(const index_gen<N, Kept...>& at) const {
        gslice<N> made(0, dim, stride);
        for (std::size_t k = 0; k < N; ++k) narrow(made, k, at.ranges[k]);
        return made;
    }
    /// A slice that has been narrowed in dimensions 0 to C.
    template <std::size_t C>
    struct slice : gslice<N> {
        slice(const gslice<N>& of, const slicer& from) : gslice<N>(of), parent(from) {}
        slice<C + 1> operator[](const range& r) const {
            static_assert(C + 1 < N, "the slice has no further dimensions to index");
            slice<C + 1> made(*this, parent);
            parent.narrow(made, C + 1, r);
            return made;
        }
        slicer parent;
    };
    slice<0> operator[](const range& r) const {
        slice<0> made(gslice<N>(0, dim, stride), *this);
        narrow(made, 0, r);
        return made;
    }

private:
    template <class I>
    void init(const I* sizes) {
        for (std::size_t k = 0; k < N; ++k) dim[k] = static_cast<std::size_t>(sizes[k]);
        stride.back() = 1;
        for (std::size_t k = N - 1; k-- > 0;) stride[k] = stride[k + 1] * dim[k + 1];
    }
    static void narrow(gslice<N>& of, std::size_t k, const range& r) {
        if (r.empty()) return;
        of.start = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(of.start) + r.start * of.stride[k]);
        of.length[k] = r.length();
        of.stride[k] *= r.stride;
    }
};

namespace detail {
/// The result of vex::permutation().
class permutation {
public:
    permutation(balm::expr<std::int64_t> at, queue_list queues)
        : at_(std::move(at)), queues_(std::move(queues)) {}
    template <vexpr A>
    decltype(auto) operator()(const A& a) const {
#if defined(VEXCL_CHECK_SIZES) && VEXCL_CHECK_SIZES > 1
        const auto of = lower(a);
        if (at_.has_extents() && of.has_extents() && at_.size() > 0) {
            const queue_list own = queues_ ? queues_ : a.queues();
            const on_queues scope(own);
            precondition(
                !balm::any(reducible(at_ < 0 || at_ >= static_cast<std::int64_t>(of.size()), queues_, own)),
                "Permutation will result in array overrun");
        }
#endif
        return picked(a, at_, queues_ ? queues_ : a.queues());
    }

private:
    balm::expr<std::int64_t> at_;
    queue_list queues_;
};
}  // namespace detail
/// Applied to a vector, its elements at the positions that an expression of integers computes, to read and to
/// assign; applied to an expression, to read. Positions are not checked.
///
///     y = vex::permutation(n - 1 - vex::element_index())(x);
template <detail::vexpr I>
const detail::permutation permutation(const I& positions) {
    return {detail::assigned<std::int64_t>(positions), detail::queues_of(positions)};
}

// ---- reductions along dimensions ----

/// The reduction along some dimensions of a slice; the other dimensions remain. It is materialised before the
/// expression that contains it.
///
///     y = vex::reduce<vex::SUM>(slice[vex::_](x), 1);              // each row
///     y = vex::reduce<vex::MAX>(vex::extents[n][m], x, 0);         // each column
template <class Reduction, class T, std::size_t N>
decltype(auto) reduce(const vector_view<T>& of, const std::array<std::size_t, N>& dimensions) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return detail::wrap(detail::reduction_of<Reduction, std::remove_const_t<T>>::along(
                                balm::view<const std::remove_const_t<T>>(of.balm_view()),
                                balm::along(static_cast<int>(dimensions[K])...)),
                            of.queues());
    }
    (std::make_index_sequence<N>());
}
template <class Reduction, class T>
decltype(auto) reduce(const vector_view<T>& of, std::size_t dimension) {
    return reduce<Reduction>(of, std::array<std::size_t, 1>{dimension});
}
template <class Reduction, class T, std::size_t N>
decltype(auto) reduce(const vector_view<T>& of, const extent_gen<N>& dimensions) {
    return reduce<Reduction>(of, dimensions.dim);
}
template <class Reduction, std::size_t M, detail::vexpr A, class Dimensions>
decltype(auto) reduce(const gslice<M>& slice, const A& a, const Dimensions& dimensions) {
    return reduce<Reduction>(slice(a), dimensions);
}
template <class Reduction, std::size_t M, detail::vexpr A, class Dimensions>
decltype(auto) reduce(const extent_gen<M>& sizes, const A& a, const Dimensions& dimensions) {
    const auto all = slicer<M>(sizes)[_](a);
    if constexpr (requires { dimensions.dim; })
        return reduce<Reduction>(all, dimensions.dim);
    else
        return reduce<Reduction>(all, dimensions);
}

/// Transposes and broadcasts an array to the extents `to`: dimension k of the array becomes dimension from[k]
/// of the result, and the array is repeated along all other dimensions.
///
///     z = vex::reshape(x, vex::extents[n][m], vex::extents[1]);    // every row is x
template <detail::vexpr A, std::size_t To, std::size_t From>
decltype(auto) reshape(const A& a, const std::array<std::size_t, To>& to,
                       const std::array<std::size_t, From>& from) {
    gslice<To> repeated;
    std::copy(to.begin(), to.end(), repeated.length);
    std::ptrdiff_t stride = 1;
    for (std::size_t k = From; k-- > 0;) {
        repeated.stride[from[k]] += stride;
        stride *= static_cast<std::ptrdiff_t>(to[from[k]]);
    }
    return repeated(a);
}
template <detail::vexpr A, std::size_t To, std::size_t From>
decltype(auto) reshape(const A& a, const extent_gen<To>& to, const extent_gen<From>& from) {
    return reshape(a, to.dim, from.dim);
}

}  // namespace vex
