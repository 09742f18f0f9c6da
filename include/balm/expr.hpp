#pragma once
// Array expressions: `2 * y - sin(z)` is a flat list of operations and leaves, appended to in place. Nothing
// is computed until it is assigned to a vector or reduced; then it becomes one kernel.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/conversion.hpp"
#include "balm/dsl/value.hpp"
#include "balm/host_array.hpp"
#include "balm/kernel.hpp"
#include "balm/tape.hpp"
#include "balm/types.hpp"

/// What a beginner's mistakes with arrays are answered with.
#define BALM_MANY_VALUES                                                                              \
    "Balm: an array is many values, not one: balm::sum(x) or x[i] is one; functions of elements are " \
    "Balm's: sin(x), not std::sin(x)"
#define BALM_MANY_CONDITIONS                                                                  \
    "Balm: an expression is many values, not one; use balm::all(x > 0), balm::any(x > 0) or " \
    "select(condition, a, b) instead of if, while and ?:"
#define BALM_HOST_ELEMENTS                                                                               \
    "Balm: these elements are on the host; copy them to the device: balm::vector<float> d(x.context(), " \
    "host)"
#define BALM_WHOLE_POSITIONS "Balm: positions are integers; convert them: x[balm::cast<int>(y)]"
#define BALM_TO_HOST "Balm: write std::vector<float> h = x.to_host()"
#define BALM_WHICH_ELEMENTS \
    "Balm: x[i] is the value of an element; set one by x.set(i, value), several at once in x.map()"

namespace balm {

template <class T>
class vector;
template <class T>
class view;
template <class T, int N>
class sampled_image;
template <class T>
class expr;

namespace detail {

/// What begin() of an array would give, for the compiler to say: elements are on a device. Deleted, not
/// BALM_REFUSED, since libraries ask of any type whether it is a range.
struct loop_over_x_to_host_or_x_map;

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<vector<T>> = true;
template <class T>
inline constexpr bool is_expr = false;
template <class T>
inline constexpr bool is_expr<expr<T>> = true;
template <>
inline constexpr bool is_expr<expr<void>> = false;
template <class T>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<view<T>> = true;

/// What the elements of a vector of T are in expressions: `half` is computed with as float, and all complex
/// types of one precision are one.
template <class T>
struct array_element {
    using type = dsl::detail::loaded_type<dsl::detail::memory_element<T>>;
};
template <scalar_type T>
struct array_element<T> {
    using type = canonical<T>;
};
template <class A>
using element_of = typename array_element<typename std::remove_cvref_t<A>::value_type>::type;

/// The device's type for the elements of a vector of T.
template <class T>
trace::type array_type() {
    return type_of_element<dsl::detail::memory_element<T>>();
}
template <scalar_type T>
constexpr trace::type array_type() {
    return scalar_of<T>;
}

}  // namespace detail

namespace detail {
template <class T>
void append_vector(array::tape&, const vector<T>&);
}

/// A vector, a view or an expression.
template <class A>
concept array_value = detail::is_vector<std::remove_cvref_t<A>> || detail::is_view<std::remove_cvref_t<A>> ||
    detail::is_expr<std::remove_cvref_t<A>>;
/// What may stand beside one: a host scalar, short vector or complex number, or a function's call with these.
template <class A>
concept array_operand = array_value<A> || scalar_type<std::remove_cvref_t<A>> || vector_type<A> ||
    complex_type<std::remove_cvref_t<A>> || detail::is_host_call<std::remove_cvref_t<A>>;
template <class... A>
concept array_operands = (array_operand<A> && ...) && (array_value<A> || ...);

namespace detail {
/// Arrays of integers, which are positions in others.
template <class A>
concept array_of_positions =
    array_value<A> && std::integral<element_of<A>> && !std::same_as<element_of<A>, bool>;
/// What is written where positions are wanted, and is none.
template <class A>
concept no_position = std::floating_point<std::remove_cvref_t<A>> ||
    (array_value<A> && !array_of_positions<A>);
}  // namespace detail

/// An expression whose elements are of type T: a scalar, a short vector, complex_value of float or double, or
/// a structure declared with BALM_STRUCT. Keeps the vectors in it alive. `auto e = a + b;` is fine: it is
/// computed with the vectors' values at the time of assignment.
template <class T>
class [[nodiscard("Balm: an expression computes nothing until it is assigned: y = x + 1")]] expr {
public:
    using value_type = T;
    static_assert(std::same_as<T, typename detail::array_element<T>::type>);

    /// Use a + b, balm::argument(…) or balm::constant(…).
    explicit expr(array::tape_handle && list) : list_(std::move(list)) {}
    template <class U>
    requires std::same_as<detail::element_of<vector<U>>, T> expr(const vector<U>& v) {  // NOLINT
        detail::append_vector(*list_, v);
    }
    template <class U>
    requires std::same_as<detail::element_of<view<U>>, T> expr(const view<U>& v)  // NOLINT
        : list_(array::read(v.what())) {}

    /// Whether a vector, a view or element_index(offset, size) in it says how many elements it has; scalars,
    /// element_index() and memory that functions take do not.
    bool has_extents() const { return (*list_).size >= 0; }
    /// Its extents: those of a view in it of several dimensions, else one dimension. Throws usage_error where
    /// nothing in it says how many elements it has.
    ///
    ///     auto image = balm::view(2 * x - y, (2 * x - y).extents());
    shape extents() const { return array::box_of(*list_); }
    /// The number of its elements. Throws usage_error where nothing in it says that.
    std::size_t size() const { return extents().count(); }
    /// Its elements, computed, in its extents. Blocks. Throws usage_error where nothing in it says how many
    /// elements it has.
    ///
    ///     std::vector<float> sums = (x + y).to_host();
    [[nodiscard]] host_array<T> to_host() const;

    /// Whether a function in it takes memory that it may write (Mixed<T>, Out<T>, Ptr<T>): such an expression
    /// is assigned or evaluated, and cannot be reduced before that.
    bool writes_memory() const { return (*list_).writes_memory; }

    const array::tape& tape() const& { return *list_; }
    array::tape&& tape()&& { return std::move(*list_); }
    const array::tape_handle& handle() const& { return list_; }
    array::tape_handle&& handle()&& { return std::move(list_); }

    /// The expression at the positions that another one of integers gives: `(a * b)[n - 1 -
    /// balm::element_index()]`. Positions are not checked.
    template <detail::array_of_positions A>
    view<const T> operator[](A&& position) const;

    template <std::same_as<bool> B>
    requires(!std::same_as<T, B>) BALM_REFUSED(BALM_MANY_CONDITIONS)
    explicit operator B() const;
    BALM_REFUSED(BALM_MANY_CONDITIONS)
    operator T() const requires std::same_as<T, bool>;  // NOLINT(google-explicit-constructor)
    BALM_REFUSED(BALM_MANY_VALUES)
    operator T() const requires(!std::same_as<T, bool>);  // NOLINT(google-explicit-constructor)
    template <std::integral I>
    BALM_REFUSED(
        "Balm: an expression has no elements of its own; assign it, balm::vector<float> z = x + y, and read "
        "z[i]; set one by z.set(i, value)")
    T operator[](I index) const;
    template <detail::no_position A>
    BALM_REFUSED(BALM_WHOLE_POSITIONS)
    expr operator[](A&& position) const;
    template <class A>
    requires(!std::same_as<std::remove_cvref_t<A>, expr>) BALM_REFUSED(
        "Balm: an expression is computed, not assigned to; assign to a vector, or to a view of one")
    expr& operator=(A&& a);
    BALM_REFUSED(BALM_TO_HOST)
    operator std::vector<T>() const;  // NOLINT(google-explicit-constructor)
    detail::loop_over_x_to_host_or_x_map begin() const = delete;
    detail::loop_over_x_to_host_or_x_map end() const = delete;

private:
    array::tape_handle list_;
};

/// What functions without a result give in expressions: for balm::eval, and nothing else.
template <>
class [[nodiscard("Balm: the function is called when it is evaluated: balm::eval(f(x))")]] expr<void> {
public:
    explicit expr(array::tape && list) : tape_(std::move(list)) {}

    const array::tape& tape() const& { return tape_; }
    array::tape&& tape()&& { return std::move(tape_); }

private:
    array::tape tape_;
};

namespace detail {

/// Host memory of several elements: std::vector, std::array, balm::host_array, a string.
template <class A>
concept host_elements = !array_operand<A> && requires(const std::remove_cvref_t<A>& a) {
    a.data();
    a.size();
};
template <class L, class R>
concept array_beside_host_elements = (array_value<L> && host_elements<R>) ||
                                     (host_elements<L> && array_value<R>);
template <class L, class R>
concept array_beside_what_is_no_number = (array_value<L> && dsl::detail::not_a_number<R>) ||
                                         (dsl::detail::not_a_number<L> && array_value<R>);

/// The type of an array's elements, where they are scalars.
template <class A>
constexpr scalar array_scalar() {
    if constexpr (array_value<A>) {
        if constexpr (scalar_type<element_of<A>>) return scalar_of<element_of<A>>;
    }
    return scalar::nothing;
}
/// Whether all of these are scalars, or arrays of scalars.
template <class... A>
constexpr bool are_scalars() {
    return ((array_scalar<A>() != scalar::nothing || scalar_type<std::remove_cvref_t<A>>)&&...);
}
/// An operation of the kernel language, element by element: balm/array_elements.hpp.
template <class Operation, class... A>
auto recorded(A&&... a);
template <builtin B>
struct row_operation;
struct select_operation;
template <class A>
constexpr operand_type type_of_operand() {
    if constexpr (array_value<A>)
        return {array_scalar<A>()};
    else
        return {scalar_of<std::remove_cvref_t<A>>, true};
}
template <class... A>
constexpr scalar array_strong() {
    return strong_type({type_of_operand<A>()...});
}
template <class A>
constexpr scalar array_entering(scalar strong) {
    return entering_type(type_of_operand<A>(), strong);
}
template <builtin B, class A>
constexpr scalar array_operand(scalar strong) {
    return entering_type(B, type_of_operand<A>(), strong);
}
[[noreturn]] void array_scalar_does_not_fit(scalar type);
[[noreturn]] void array_scalar_wraps(scalar type, std::uint64_t value);
/// Refuses a host value beyond the range of the signed type that it takes, where its number counts.
template <scalar Entering, class A>
void refuse_wrapping([[maybe_unused]] const A& value) {
    if constexpr (std::integral<A>)
        if (wraps_as<typename host_type<Entering>::type>(value))
            array_scalar_wraps(Entering, static_cast<std::uint64_t>(value));
}

template <scalar Entering, class A>
std::uint64_t entering_bits(A value) {
    using T = typename host_type<Entering>::type;
    if (!dsl::detail::fits<T>(value)) array_scalar_does_not_fit(Entering);
    return dsl::detail::bits_of(static_cast<T>(value));
}

/// Appends a vector; one without a device has no elements.
template <class T>
void append_vector(array::tape& list, const vector<T>& v) {
    if (v.state()) [[likely]]
        list.push_vector(v.state());
    else
        list.push_no_elements(array_type<element_of<vector<T>>>());
}
/// Appends an operand of any kind.
template <scalar Entering, class A>
void append(array::tape& list, A&& a) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (is_vector<plain>)
        append_vector(list, a);
    else if constexpr (is_expr<plain>)
        list.append(static_cast<A&&>(a).tape());
    else if constexpr (is_view<plain>)
        list.append(array::read(a.what()));
    else
        list.push_value(array::step::kind::scalar, Entering, entering_bits<Entering>(a));
}
/// The list to append to: the first operand's own, where it is an expression that nobody else will use.
template <scalar Entering, class A>
array::tape_handle begin(A&& a) {
    if constexpr (is_expr<std::remove_cvref_t<A>>)
        return static_cast<A&&>(a).handle();
    else {
        array::tape_handle list;
        append<Entering>(*list, a);
        return list;
    }
}

/// The host type of a device variable.
template <class P>
struct held_by {
    using type = void;
};
template <class T>
struct held_by<dsl::Var<T>> {
    using type = T;
};
/// Appends what becomes a value of T as the kernel language lets it: balm/array_elements.hpp.
template <class T, class A>
void append_as(array::tape& list, const A& a);

template <scalar S>
using expr_of = expr<typename host_type<S>::type>;

template <builtin B, scalar Strong, class First, class... Rest>
array::tape_handle joined(First&& first, Rest&&... rest) {
    if constexpr (!takes_bit_patterns(B)) {
        refuse_wrapping<array_operand<B, First>(Strong)>(first);
        (refuse_wrapping<array_operand<B, Rest>(Strong)>(rest), ...);
    }
    array::tape_handle list = begin<array_operand<B, First>(Strong)>(static_cast<First&&>(first));
    (append<array_operand<B, Rest>(Strong)>(*list, static_cast<Rest&&>(rest)), ...);
    return list;
}

}  // namespace detail

namespace detail {

/// The operand, or the call as an expression.
template <class A>
A&& per_element(A&& a) {
    return static_cast<A&&>(a);
}
template <class A>
requires is_host_call<std::remove_cvref_t<A>>
auto per_element(A&& a) {
    return expr<typename std::remove_cvref_t<A>::value_type>(
        array::tape_handle(array::tape(a.expression().list())));
}
template <class... A>
inline constexpr bool have_host_call = (is_host_call<std::remove_cvref_t<A>> || ...);

}  // namespace detail

/// Applies a row of builtins.def element by element.
template <builtin B, class... A>
requires array_operands<A...>
auto apply(A&&... a) {
    if constexpr (detail::have_host_call<A...>) {
        return apply<B>(detail::per_element(static_cast<A&&>(a))...);
    } else if constexpr (!detail::are_scalars<A...>()) {
        return detail::recorded<detail::row_operation<B>>(static_cast<A&&>(a)...);
    } else {
        constexpr scalar strong = detail::array_strong<A...>();
        constexpr scalar result = detail::result_of(B, detail::array_operand<B, A>(strong)...);
        static_assert(
            result != scalar::nothing,
            "Balm: this operator or built-in does not take elements of these types (integers wanted?)");
        array::tape_handle list = detail::joined<B, strong>(static_cast<A&&>(a)...);
        array::step& s = list->push(array::step::kind::apply);
        s.type = result;
        s.detail = static_cast<std::uint16_t>(B);
        s.arity = sizeof...(A);
        return detail::expr_of<result>(std::move(list));
    }
}

#define BALM_BINARY(symbol, id)                                              \
    template <class L, class R>                                              \
    requires array_operands<L, R>                                            \
    auto operator symbol(L&& l, R&& r) {                                     \
        return apply<builtin::id>(static_cast<L&&>(l), static_cast<R&&>(r)); \
    }
BALM_BINARY_OPERATORS(BALM_BINARY)
#undef BALM_BINARY
#define BALM_BINARY(symbol, id)                                                           \
    template <class L, class R>                                                           \
    requires detail::array_beside_host_elements<L, R> BALM_REFUSED(BALM_HOST_ELEMENTS)    \
    expr<float> operator symbol(L&& l, R&& r);                                            \
    template <class L, class R>                                                           \
    requires detail::array_beside_what_is_no_number<L, R> BALM_REFUSED(BALM_NOT_A_NUMBER) \
    expr<float> operator symbol(L&& l, R&& r);
BALM_BINARY_OPERATORS(BALM_BINARY)
#undef BALM_BINARY

/// The elements as another type, as C++ converts them; floating to integer saturates and turns NaN into 0.
/// Short vectors lane by lane: see balm/array_elements.hpp.
template <scalar_type T, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> cast(A&& a) {
    array::tape_handle list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::step& s = list->push(array::step::kind::convert);
    s.type = scalar_of<T>;
    s.arity = 1;
    return expr<canonical<T>>(std::move(list));
}

namespace detail {

/// The elements as truth values: a number counts as true unless it is zero.
template <class A>
decltype(auto) as_condition(A&& a) {
    static_assert(
        are_scalars<A>(),
        "Balm: a short vector or a complex number is no condition; compare it, or write any_lane(v) or "
        "all_lanes(v) of truth values");
    if constexpr (scalar_type<std::remove_cvref_t<A>>)
        return a != std::remove_cvref_t<A>{};
    else if constexpr (array_scalar<A>() == scalar::boolean)
        return static_cast<A&&>(a);
    else
        return cast<bool>(static_cast<A&&>(a));
}

}  // namespace detail

template <array_value A>
auto operator-(A&& a) {
    return apply<builtin::neg>(static_cast<A&&>(a));
}
template <array_value A>
auto operator+(A&& a) {
    if constexpr (detail::are_scalars<A>())
        return cast<typename detail::host_type<promote(detail::array_scalar<A>())>::type>(
            static_cast<A&&>(a));
    else
        return expr<detail::element_of<A>>(detail::begin<scalar::nothing>(static_cast<A&&>(a)));
}
template <array_value A>
auto operator~(A&& a) {
    return apply<builtin::bit_not>(static_cast<A&&>(a));
}
template <array_value A>
auto operator!(A&& a) {
    if constexpr (detail::are_scalars<A>())
        return apply<builtin::logical_not>(detail::as_condition(static_cast<A&&>(a)));
    else
        return apply<builtin::logical_not>(static_cast<A&&>(a));
}
template <class L, class R>
requires array_operands<L, R>
auto operator&&(L&& l, R&& r) {
    return apply<builtin::bit_and>(detail::as_condition(detail::per_element(static_cast<L&&>(l))),
                                   detail::as_condition(detail::per_element(static_cast<R&&>(r))));
}
template <class L, class R>
requires array_operands<L, R>
auto operator||(L&& l, R&& r) {
    return apply<builtin::bit_or>(detail::as_condition(detail::per_element(static_cast<L&&>(l))),
                                  detail::as_condition(detail::per_element(static_cast<R&&>(r))));
}

/// The built-in functions, element by element: one template a row of builtins.def, named as the row.
#define BALM_DEFINE_1(id)                               \
    template <array_value A>                            \
    auto id(A&& a) {                                    \
        return apply<builtin::id>(static_cast<A&&>(a)); \
    }
#define BALM_DEFINE_2(id)         \
    template <class A, class B>   \
    requires array_operands<A, B> \
    auto id(A&& a, B&& b) { return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b)); }
#define BALM_DEFINE_3(id)                                                                         \
    template <class A, class B, class C>                                                          \
    requires array_operands<A, B, C>                                                              \
    auto id(A&& a, B&& b, C&& c) {                                                                \
        return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c)); \
    }
#define BALM_BUILTIN(id, arity, ...) BALM_DEFINE_##arity(id)
#include "balm/builtins.def"
#undef BALM_DEFINE_1
#undef BALM_DEFINE_2
#undef BALM_DEFINE_3

/// The elements as another type, rounded as told; see dsl::convert.
template <scalar_type T, rounding How = detail::usual_rounding<T>, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> convert(A&& a) {
    return detail::converted<canonical<T>, How, detail::element_of<A>>(static_cast<A&&>(a));
}
/// The elements as an integer type; what is beyond its range becomes the nearest end of the range.
template <scalar_type T, rounding How = rounding::toward_zero, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> convert_sat(A&& a) {
    return detail::saturated<canonical<T>, How, detail::element_of<A>>(static_cast<A&&>(a));
}
/// The elements' bits as a type of the same size.
template <scalar_type T, array_value A>
requires(detail::are_scalars<A>()) expr<canonical<T>> bit_cast(A&& a) {
    return detail::reinterpreted_as<canonical<T>, detail::element_of<A>>(static_cast<A&&>(a));
}

/// `condition ? if_true : if_false`, element by element.
template <class C, class A, class B>
requires array_operands<C, A, B>
auto select(C&& condition, A&& if_true, B&& if_false) {
    if constexpr (detail::have_host_call<C, A, B>) {
        return select(detail::per_element(static_cast<C&&>(condition)),
                      detail::per_element(static_cast<A&&>(if_true)),
                      detail::per_element(static_cast<B&&>(if_false)));
    } else if constexpr (!detail::are_scalars<C, A, B>()) {
        return detail::recorded<detail::select_operation>(
            static_cast<C&&>(condition), static_cast<A&&>(if_true), static_cast<B&&>(if_false));
    } else {
        constexpr scalar strong = detail::array_strong<A, B>();
        constexpr scalar a = detail::array_entering<A>(strong), b = detail::array_entering<B>(strong);
        constexpr scalar result = detail::chosen_type(a, b);
        detail::refuse_wrapping<a>(if_true);
        detail::refuse_wrapping<b>(if_false);
        array::tape list = detail::begin<scalar::boolean>(detail::as_condition(static_cast<C&&>(condition)));
        detail::append<a>(list, if_true);
        detail::append<b>(list, if_false);
        array::step& s = list.push(array::step::kind::select);
        s.type = result;
        s.arity = 3;
        return detail::expr_of<result>(std::move(list));
    }
}

namespace detail {

/// An expression of integers as positions (i64).
template <class A>
array::tape positions(A&& a) {
    static_assert(kind_of(array_scalar<A>()) == scalar_kind::integer, "Balm: positions are integers");
    return cast<std::int64_t>(static_cast<A&&>(a)).tape();
}

}  // namespace detail

namespace detail {
/// How many positions there are from `offset` on. Throws usage_error where the last one is beyond an i64.
std::int64_t checked_positions(std::int64_t offset, const shape&);
}  // namespace detail

/// The position of each element, plus an offset: 0, 1, 2, …
inline expr<std::int64_t> element_index(std::int64_t offset = 0) {
    array::tape list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    return expr<std::int64_t>(std::move(list));
}
/// The same for a given number of elements, where no vector in the expression says it. Throws usage_error
/// where a position is beyond what an std::int64_t counts.
inline expr<std::int64_t> element_index(std::int64_t offset, std::size_t size) {
    array::tape list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    list.size = detail::checked_positions(offset, shape(size));
    return expr<std::int64_t>(std::move(list));
}

/// A value that is part of the kernel's source. Each new value compiles a new kernel; a plain scalar is an
/// argument, which does not.
template <scalar_type T>
expr<canonical<T>> constant(T value) {
    array::tape list;
    list.push_value(array::step::kind::constant, scalar_of<T>,
                    dsl::detail::bits_of(static_cast<canonical<T>>(value)));
    return expr<canonical<T>>(std::move(list));
}

class context;

namespace array {
/// One kernel that computes the tape for every index, and keeps nothing of it.
void evaluate(tape&&);
/// Has a tape without vectors computed on the devices of the context.
void place_on(const context&, tape&);
}  // namespace array

/// The expression, to be computed on the devices of a context where no vector in it says on which: of random
/// numbers, indices and images alone. Otherwise that is the device of a default context. Over several devices
/// each computes its share, as if the expression was a vector of the context. Throws usage_error for an
/// expression of vectors on other devices. An assignment computes where its target is.
///
///     auto inside = length(rnd(balm::element_index(0, n), seed)) < 1.0;
///     double pi = 4.0 * balm::sum(balm::on(all_gpus, inside)) / n;
template <array_value A>
expr<detail::element_of<A>> on(const context& where, A&& a) {
    array::tape_handle list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::place_on(where, *list);
    return expr<detail::element_of<A>>(std::move(list));
}

/// Computes an expression for its effects alone: those of functions that write memory, print or check.
/// Nothing is stored. Throws usage_error where no vector in it says how many elements it has, or on which
/// device they are.
template <class T>
void eval(expr<T> e) {
    array::evaluate(std::move(e).tape());
}

/// An expression computed once, and used as often as the function given uses it. (What is the same by the
/// look of it is computed once anyway; this is for what has effects, for scalars, which are arguments each
/// time that they are written, and for lists that would grow long.)
///
///     y = balm::let(sin(s * x), [](auto z) { return z * z + z; });
template <array_value A, class F>
auto let(A&& a, F&& f) {
    array::tape list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    const trace::type type = detail::array_type<detail::element_of<A>>();
    array::tape name;
    name.size = list.size;
    name.push_kept(type, list.push_keep(type));
    auto body = static_cast<F&&>(f)(expr<detail::element_of<A>>(std::move(name)));
    static_assert(array_value<decltype(body)>, "Balm: the function that let is given returns an expression");
    using result = detail::element_of<decltype(body)>;
    detail::append<detail::array_scalar<decltype(body)>()>(list, body);
    list.push_within(detail::array_type<result>());
    return expr<result>(std::move(list));
}

}  // namespace balm

#include "balm/array_elements.hpp"
#include "balm/function_calls.hpp"
