#pragma once
// Views: selected elements of a vector or expression, in any order. A view is a function from its index to
// theirs, so it is an operand of expressions, can be assigned to, and can be viewed again, like a vector.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>

#include "balm/affine_map.hpp"
#include "balm/all.hpp"
#include "balm/expr.hpp"
#include "balm/host_array.hpp"
#include "balm/shared_state.hpp"

#define BALM_READ_ONLY_VIEW                                                                                 \
    "Balm: this view is read-only: it views an expression or a const vector; assign to a view of a vector " \
    "that is not const"

namespace balm {

/// The positions begin, begin + stride, … before `end` of a dimension. A negative stride counts down:
/// slice(n - 1, -1, -2).
constexpr array::slice_part slice(std::int64_t begin, std::int64_t end, std::int64_t stride = 1) {
    return {array::slice_part::kind::range, begin, end, stride};
}
/// All positions of a dimension, the last one first.
inline constexpr array::slice_part reversed{array::slice_part::kind::reversed};

namespace array {

/// The elements of a view: `of`, at the index that `where` computes for each index of the view.
struct selection {
    tape of;
    tape where;
};

/// The elements of a tape in row-major order. Throws usage_error if their number differs from that of the
/// extents.
selection viewed(tape of, const shape& extents);
/// The elements at an offset and strides. Throws usage_error if some would be out of range.
selection viewed(tape of, const shape& extents, const strides&, std::int64_t offset);
selection viewed(const selection&, const shape& extents, const strides&, std::int64_t offset);
selection sliced(const selection&, std::span<const slice_part>);
selection transposed(const selection&, std::span<const int> order);
selection broadcast(const selection&, const shape& extents);
selection reshaped(const selection&, const shape& extents);
/// The elements at the positions that a tape computes.
selection picked(const selection&, tape positions);

/// A vector that an assignment writes, and the positions of the written elements.
struct target {
    vector_state* vector = nullptr;
    const tape* where = nullptr;  ///< null: the element's own index
    std::size_t first = 0;        ///< for a part: its first position in the whole, in which positions count
    bool is_part = false;         ///< positions outside of it are skipped
};
/// Computes every element of the targets in one kernel; the tape has a value for each target. Values that
/// depend on other elements of the targets are computed in temporaries first.
void assign(std::span<const target>, tape&&);

/// Assigns to elements of a vector, which is `target.of`.
void assign(const selection& target, tape&& value);
/// Throws usage_error: the target is a read-only view.
[[noreturn]] void refuse_to_assign();

constexpr slice_part part_of(const slice_part& part) { return part; }
constexpr slice_part part_of(all_type) { return {}; }
template <std::integral I>
constexpr slice_part part_of(I index) {
    return {slice_part::kind::one, static_cast<std::int64_t>(index), 0, 1};
}
template <std::floating_point F>
BALM_REFUSED(BALM_WHOLE_POSITIONS)
slice_part part_of(F index);

}  // namespace array

/// Selected elements of a vector (T), to read and to assign, or of an expression or constant vector (const
/// T), to read; in one to eight dimensions, in row-major order. Nothing is copied: the view reads the current
/// elements whenever it is read, and keeps them alive.
///
///     auto M = balm::view(x, {rows, columns});
///     y = M(balm::all, 3);                                  // a column
///     M(0, balm::all) = 0.0;                                // a row
///     M(balm::slice(1, rows - 1), balm::all) += 1.0;        // all but two rows
///     auto turned = M.transpose()(balm::reversed, balm::all);
///
/// Two views in one expression must have equal extents, unless one has a single element, which counts as a
/// scalar; a vector combines with any view of the same element count, in row-major order. An assignment reads
/// the old values: `M(balm::all, 0) = M(0, balm::all)` is correct.
///
/// Assignment from another view assigns elements, too, with or without std::move(). Views are exchanged by
/// swap(): std::swap, std::rotate, std::sort, std::partition and the like order a container of views, and
/// exchange structures that hold vectors and views, without copying elements. A view that was moved from
/// (`auto b = std::move(a)`) throws usage_error when it is read, and views what is assigned to it next.
/// std::remove and the erase() of std::vector assign to views that were not moved from, and so copy elements:
/// rotate the view to the end of the container, then pop_back().
template <class T>
class [[nodiscard(
    "Balm: a view on its own does nothing: assign to it, M(i, j) = 1, or read it, M.to_host()")]] view {
    using element = typename detail::array_element<std::remove_const_t<T>>::type;

public:
    using value_type = std::remove_const_t<T>;

    /// The elements of a vector in row-major order. Throws usage_error if the extents do not have as many.
    view(vector<value_type> & x, const shape& extents) : what_(array::viewed(program_of(x), extents)) {}
    view(const vector<value_type>& x, const shape& extents) requires std::is_const_v<T>
        : what_(array::viewed(program_of(x), extents)) {}
    /// The elements of another view: its reshape(extents).
    view(const view& of, const shape& extents) : what_(array::reshaped(of.what(), extents)) {}
    /// The elements of an expression.
    view(expr<element> e, const shape& extents) requires std::is_const_v<T>
        : what_(array::viewed(std::move(e).tape(), extents)) {}
    /// The elements at offset + i * strides[0] + j * strides[1] + … for each (i, j, …) in the extents,
    /// counted in row-major order if the expression has several dimensions. This expresses slices,
    /// transposes, diagonals, overlapping windows (to be read) and broadcasts (strides of 0). Throws
    /// usage_error if a position is out of range, or if the numbers of strides and extents differ.
    ///
    ///     auto diagonal = balm::view(x, {n}, {n + 1});               // of an n x n matrix
    ///     auto windows = balm::view(signal, {count, 64}, {16, 1});   // windows of 64, every 16 elements
    view(vector<value_type> & x, const shape& extents, const strides& apart, std::int64_t offset = 0)
        : what_(array::viewed(program_of(x), extents, apart, offset)) {}
    view(const vector<value_type>& x, const shape& extents, const strides& apart,
         std::int64_t offset = 0) requires std::is_const_v<T>
        : what_(array::viewed(program_of(x), extents, apart, offset)) {}
    view(expr<element> e, const shape& extents, const strides& apart,
         std::int64_t offset = 0) requires std::is_const_v<T>
        : what_(array::viewed(std::move(e).tape(), extents, apart, offset)) {}
    view(const view& of, const shape& extents, const strides& apart, std::int64_t offset = 0)
        : what_(array::viewed(of.what(), extents, apart, offset)) {}
    /// Read-only.
    view(const view<value_type>& other) requires std::is_const_v<T> : what_(other.what()) {}
    /// Use x[…].
    explicit view(array::selection what) : what_(std::move(what)) {}

    view(const view&) = default;
    view(view &&) noexcept = default;
    ~view() = default;

    /// The extents; one dimension for a view by positions.
    shape extents() const { return array::box_of(what().where); }
    std::size_t size() const { return extents().count(); }

    /// Some of the elements: an index, balm::all, balm::reversed or balm::slice(…) for each dimension. An
    /// index drops its dimension. Throws usage_error for positions out of range.
    template <class... Part>
    view operator()(const Part&... part) const {
        const array::slice_part parts[] = {array::part_of(part)...};
        return view(array::sliced(what(), parts));
    }
    /// The elements at the positions that an expression of integers computes, counted in row-major order.
    /// Positions are not checked.
    template <detail::array_of_positions A>
    view operator[](A&& position) const {
        return view(array::picked(what(), detail::positions(static_cast<A&&>(position))));
    }
    template <detail::no_position A>
    BALM_REFUSED(BALM_WHOLE_POSITIONS)
    view operator[](A&& position) const;
    template <std::integral I>
    BALM_REFUSED(
        "Balm: index a view with parentheses: M(i, j) to assign an element, M.to_host()(i, j) to read one")
    value_type
    operator[](I index) const;
    BALM_REFUSED(BALM_MANY_VALUES) operator value_type() const;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_TO_HOST)
    operator std::vector<value_type>() const;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_DATA) value_type* data() const;
    detail::loop_over_x_to_host_or_x_map begin() const = delete;
    detail::loop_over_x_to_host_or_x_map end() const = delete;
    /// The dimensions in another order; without an argument, in reverse order.
    view transpose(std::initializer_list<int> order = {}) const {
        return view(array::transposed(what(), {order.begin(), order.size()}));
    }
    /// The same elements, in row-major order, with other extents. Throws usage_error if the element counts
    /// differ.
    view reshape(const shape& to) const { return view(array::reshaped(what(), to)); }
    /// Repeats dimensions of size 1, and missing leading ones: a row for every row. Read-only.
    view<const T> broadcast(const shape& to) const { return view<const T>(array::broadcast(what(), to)); }

    /// Computes the expression for every element, in one kernel. The extents must be equal. If a position
    /// repeats, which value wins is unspecified. Throws usage_error.
    template <class A>
    requires(!std::is_const_v<T> && !std::same_as<std::remove_cvref_t<A>, view>) &&
        (array_operand<A> || std::same_as<std::remove_cvref_t<A>, T>)view& operator=(A&& a) {
        array::assign(what(), detail::assigned<value_type>(detail::per_element(static_cast<A&&>(a))));
        return *this;
    }
    /// The same for the elements of another view; a view that was moved from views what the other one does.
    view& operator=(const view& other) {
        if (is_moved_from())
            what_ = other.what_;
        else if constexpr (std::is_const_v<T>)
            array::refuse_to_assign();
        else
            *this = expr<element>(other);
        return *this;
    }
    /// The same: std::move() changes nothing unless this view was moved from.
    view& operator=(view&& other) {
        if (!is_moved_from()) return *this = std::as_const(other);
        what_ = std::move(other.what_);
        return *this;
    }
    /// Exchanges what the views view; no elements are copied.
    friend void swap(view & a, view & b) noexcept { std::swap(a.what_, b.what_); }
    template <detail::host_elements A>
    BALM_REFUSED(BALM_HOST_ELEMENTS)
    view& operator=(const A& a);
    template <dsl::detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    view& operator=(A value);
    template <class A>
    requires(std::is_const_v<T> && !std::same_as<std::remove_cvref_t<A>, view>) &&
        array_operand<A> BALM_REFUSED(BALM_READ_ONLY_VIEW) view& operator=(A&& a);

#define BALM_COMPOUND(symbol, id)                                                            \
    template <class A>                                                                       \
    requires(!std::is_const_v<T>) && array_operands<view, A> view& operator symbol(A&& a) {  \
        return *this = apply<builtin::id>(*this, static_cast<A&&>(a));                       \
    }                                                                                        \
    template <class A>                                                                       \
    requires std::is_const_v<T> && array_operands<view, A> BALM_REFUSED(BALM_READ_ONLY_VIEW) \
    view& operator symbol(A&& a);                                                            \
    template <detail::host_elements A>                                                       \
    BALM_REFUSED(BALM_HOST_ELEMENTS)                                                         \
    view& operator symbol(const A& a);
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND

    /// Copies the elements to the host, in the view's shape. Blocks.
    [[nodiscard]] host_array<value_type> to_host() const {
        host_array<value_type> got(extents());
        vector<value_type>(expr<element>(*this)).read(got);
        return got;
    }

    const array::selection& what() const {
        if (is_moved_from()) [[unlikely]]
            detail::moved_from("a view");
        return what_;
    }

private:
    bool is_moved_from() const { return what_.where.steps.size() == 0; }
    static array::tape program_of(const vector<value_type>& x) { return expr<element>(x).tape(); }

    array::selection what_;
};

template <class T>
view(vector<T>&, shape) -> view<T>;
template <class T>
view(const vector<T>&, shape) -> view<const T>;
template <class T>
view(expr<T>, shape) -> view<const T>;
template <class T>
view(vector<T>&, shape, strides, std::int64_t = 0) -> view<T>;
template <class T>
view(const vector<T>&, shape, strides, std::int64_t = 0) -> view<const T>;
template <class T>
view(expr<T>, shape, strides, std::int64_t = 0) -> view<const T>;
template <class T>
view(const view<T>&, shape) -> view<T>;
template <class T>
view(const view<T>&, shape, strides, std::int64_t = 0) -> view<T>;

template <class T>
template <detail::array_of_positions A>
view<const T> expr<T>::operator[](A&& position) const {
    return view<const T>(array::selection{tape(), detail::positions(static_cast<A&&>(position))});
}

}  // namespace balm
