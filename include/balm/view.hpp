#pragma once
// Views: some of a vector's or an expression's elements in an order of one's own. A view is a function from
// its index to theirs, so that it stands in expressions, is assigned to and is viewed again as a vector is.

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

#define BALM_READ_ONLY_VIEW                                                                             \
    "Balm: this view is read-only: it is of an expression or of a const vector; assign to a view of a " \
    "vector"

namespace balm {

/// The positions begin, begin + stride, … of a dimension, up to `end`, which is not one of them. A negative
/// stride goes down: slice(n - 1, -1, -2).
constexpr array::slice_part slice(std::int64_t begin, std::int64_t end, std::int64_t stride = 1) {
    return {array::slice_part::kind::range, begin, end, stride};
}
/// All positions of a dimension, the last one first.
inline constexpr array::slice_part reversed{array::slice_part::kind::reversed};

namespace array {

/// What a view refers to: what `of` gives at the index that `where` computes for each of the view's.
struct selection {
    tape of;
    tape where;
};

/// The elements of a tape in row-major order. Throws usage_error where they are of another number.
selection viewed(tape of, const shape& extents);
/// Those that strides apart lie. Throws usage_error where some would lie beyond the tape's.
selection viewed(tape of, const shape& extents, const strides&, std::int64_t offset);
selection viewed(const selection&, const shape& extents, const strides&, std::int64_t offset);
selection sliced(const selection&, std::span<const slice_part>);
selection transposed(const selection&, std::span<const int> order);
selection broadcast(const selection&, const shape& extents);
selection reshaped(const selection&, const shape& extents);
/// The elements at the positions that a tape gives.
selection picked(const selection&, tape positions);

/// One vector that an assignment writes, and at which of its elements.
struct target {
    vector_state* vector = nullptr;
    const tape* where = nullptr;  ///< null: at the element's own index
    std::size_t first = 0;        ///< of a part: the positions are those of a whole, where it begins here
    bool is_part = false;         ///< positions that are not in it are left out
};
/// Computes every element of the targets in one kernel: a value of the tape for each of them. Where values
/// depend on what targets hold elsewhere they are computed in temporaries first.
void assign(std::span<const target>, tape&&);

/// Sets elements of a vector, which `target.of` is.
void assign(const selection& target, tape&& value);

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

/// Elements of a vector (T), to read and to assign, or of an expression or constant vector (const T), to
/// read; in one to eight dimensions, in row-major order. Nothing is copied: the view reads the elements as
/// they are when it is read, and keeps them alive.
///
///     auto M = balm::view(x, {rows, columns});
///     y = M(balm::all, 3);                                  // a column
///     M(0, balm::all) = 0.0;                                // a row
///     M(balm::slice(1, rows - 1), balm::all) += 1.0;        // all but two rows
///     auto turned = M.transpose()(balm::reversed, balm::all);
///
/// A view equals another in an expression if their extents do; a vector combines with any view of the same
/// element count, in row-major order. What is assigned is computed from the elements as they were before:
/// `M(balm::all, 0) = M(0, balm::all)` is right.
template <class T>
class [[nodiscard("Balm: a view is a place: assign to it, M(i, j) = 1, or read it, M.to_host()")]] view {
    using element = typename detail::array_element<std::remove_const_t<T>>::type;

public:
    using value_type = std::remove_const_t<T>;

    /// The elements of a vector in row-major order. Throws usage_error where extents are not its size.
    view(vector<value_type> & x, const shape& extents) : what_(array::viewed(program_of(x), extents)) {}
    view(const vector<value_type>& x, const shape& extents) requires std::is_const_v<T>
        : what_(array::viewed(program_of(x), extents)) {}
    /// The elements of another view: its reshape(extents).
    view(const view& of, const shape& extents) : what_(array::reshaped(of.what_, extents)) {}
    /// The elements of an expression.
    view(expr<element> e, const shape& extents) requires std::is_const_v<T>
        : what_(array::viewed(std::move(e).tape(), extents)) {}
    /// The elements that lie at offset + i * strides[0] + j * strides[1] + …, for each (i, j, …) in the
    /// extents, counted in row-major order where the expression has several dimensions: what slices,
    /// transposes, diagonals, overlapping windows (to be read) and broadcasts (strides of 0) are made of.
    /// Throws usage_error where one of them lies outside, and for another number of strides than extents.
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
        : what_(array::viewed(of.what_, extents, apart, offset)) {}
    /// To be read only.
    view(const view<value_type>& other) requires std::is_const_v<T> : what_(other.what()) {}
    /// Use x[…].
    explicit view(array::selection what) : what_(std::move(what)) {}

    view(const view&) = default;
    view(view &&) noexcept = default;
    ~view() = default;

    /// Its extents; of one dimension where it is made by positions.
    shape extents() const { return array::box_of(what_.where); }
    std::size_t size() const { return extents().count(); }

    /// Some of the elements: an index, balm::all, balm::reversed or balm::slice(…) for each dimension. Those
    /// of an index are no dimensions of the result. Throws usage_error for positions that are not there.
    template <class... Part>
    view operator()(const Part&... part) const {
        const array::slice_part parts[] = {array::part_of(part)...};
        return view(array::sliced(what_, parts));
    }
    /// The elements at the positions that an expression of integers gives, counted in row-major order.
    /// Positions are not checked.
    template <detail::array_of_positions A>
    view operator[](A&& position) const {
        return view(array::picked(what_, detail::positions(static_cast<A&&>(position))));
    }
    template <detail::no_position A>
    BALM_REFUSED(BALM_WHOLE_POSITIONS)
    view operator[](A&& position) const;
    template <std::integral I>
    BALM_REFUSED(
        "Balm: positions are in parentheses: M(i, j) is one element to assign to, M.to_host()(i, j) to read")
    value_type
    operator[](I index) const;
    BALM_REFUSED(BALM_MANY_VALUES) operator value_type() const;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_TO_HOST)
    operator std::vector<value_type>() const;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_DATA) value_type* data() const;
    detail::loop_over_x_to_host_or_x_map begin() const = delete;
    detail::loop_over_x_to_host_or_x_map end() const = delete;
    /// The dimensions in another order; without one, in reverse.
    view transpose(std::initializer_list<int> order = {}) const {
        return view(array::transposed(what_, {order.begin(), order.size()}));
    }
    /// The same elements, in row-major order, in other extents of as many. Throws usage_error for others.
    view reshape(const shape& to) const { return view(array::reshaped(what_, to)); }
    /// Dimensions of size 1, and missing ones in front, are repeated: a row for every row. To be read only.
    view<const T> broadcast(const shape& to) const { return view<const T>(array::broadcast(what_, to)); }

    /// Computes the expression for every element, in one kernel. The extents must be equal. Where positions
    /// occur twice, one of their values stays. Throws usage_error.
    template <class A>
    requires(!std::is_const_v<T>) &&
        (array_operand<A> || std::same_as<std::remove_cvref_t<A>, T>)view& operator=(A&& a) {
        array::assign(what_, detail::assigned<value_type>(detail::per_element(static_cast<A&&>(a))));
        return *this;
    }
    view& operator=(const view& other) { return *this = expr<element>(other); }
    template <detail::host_elements A>
    BALM_REFUSED(BALM_HOST_ELEMENTS)
    view& operator=(const A& a);
    template <dsl::detail::not_a_number A>
    BALM_REFUSED(BALM_NOT_A_NUMBER)
    view& operator=(A value);
    template <class A>
    requires std::is_const_v<T> && array_operand<A> BALM_REFUSED(BALM_READ_ONLY_VIEW)
    view& operator=(A&& a);

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

    /// The elements in the view's shape, copied. Blocks.
    [[nodiscard]] host_array<value_type> to_host() const {
        host_array<value_type> got(extents());
        vector<value_type>(expr<element>(*this)).read(got);
        return got;
    }

    const array::selection& what() const { return what_; }

private:
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
    return view<const T>(array::selection{*list_, detail::positions(static_cast<A&&>(position))});
}

}  // namespace balm
