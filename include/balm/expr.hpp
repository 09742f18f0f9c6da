#pragma once
// Array expressions: `2 * y - sin(z)` is a flat list of operations and leaves, appended to in place. Nothing
// is computed until it is assigned to a vector or reduced; then it becomes one kernel.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/conversion.hpp"
#include "balm/dsl/value.hpp"
#include "balm/image_element.hpp"
#include "balm/inline_vector.hpp"
#include "balm/kernel.hpp"
#include "balm/sampler.hpp"
#include "balm/types.hpp"

namespace balm {

template <scalar_type T>
class vector;
template <class T, int N>
class sampled_image;
template <scalar_type T>
class expr;

namespace array {

class vector_state;

/// One step of an expression in postfix order.
struct step {
    enum class kind : std::uint8_t {
        vector,    ///< an element of leaf number `leaf`
        scalar,    ///< a host value, an argument of the kernel
        constant,  ///< a host value, part of the kernel
        index,     ///< the element's position plus the value in `bits`, an argument of the kernel; `detail`:
                   ///< whether that is a multiple of 4
        apply,     ///< row `detail` of builtins.def on the last `arity` values
        convert,   ///< the last value as `type`
        select,    ///< of the last three values
        memory,    ///< leaf number `leaf` as a whole: for `element`, and for functions that take memory
        element,   ///< of the memory before, at the last value
        image,     ///< image number `leaf`, for functions that take one; `detail` says its type and use
        call       ///< function number `leaf` on the last `arity` values
    };
    kind what = kind::vector;
    scalar type = scalar::nothing;
    std::uint16_t detail = 0;
    std::uint16_t arity = 0;
    std::uint16_t leaf = 0;
    std::uint64_t bits = 0;
};

/// An image that a function takes, and the sampler through which it sees it, if any.
struct image_leaf {
    std::shared_ptr<runtime::storage> memory;
    balm::sampler sampler;
    trace::type type;
    trace::access use = trace::access::in_image;
};

/// The list behind every expr<T>, whatever T.
struct program {
    detail::inline_vector<step, 20> steps;
    detail::inline_vector<std::shared_ptr<vector_state>, 10> vectors;
    detail::inline_vector<std::shared_ptr<const ir::function>, 1> functions;
    std::vector<image_leaf> images;  ///< mostly none
    std::uint64_t hash = 0;          ///< of the structure: not of values, not of which vector is which
    std::int64_t size = -1;          ///< elements, where no vector says it; -1: unknown

    void push(const step&);
    void push_vector(std::shared_ptr<vector_state>, scalar type);
    /// The vector as memory, of any size, of which any element may be read.
    void push_memory(std::shared_ptr<vector_state>, scalar type);
    void push_image(image_leaf);
    void push_value(step::kind, scalar type, std::uint64_t bits);
    void push_call(std::shared_ptr<const ir::function>, scalar type, std::uint16_t arity);
    void append(const program&);

private:
    void push_leaf(step::kind, std::shared_ptr<vector_state>, scalar type);
};

}  // namespace array

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<vector<T>> = true;
template <class T>
inline constexpr bool is_expr = false;
template <class T>
inline constexpr bool is_expr<expr<T>> = true;

}  // namespace detail

/// A vector or an expression.
template <class A>
concept array_value = detail::is_vector<std::remove_cvref_t<A>> || detail::is_expr<std::remove_cvref_t<A>>;
template <class... A>
concept array_operands = ((array_value<A> || scalar_type<std::remove_cvref_t<A>>)&&...) &&
                         (array_value<A> || ...);

/// An expression whose elements are of type T. Keeps the vectors in it alive. `auto e = a + b;` is fine: it
/// is computed with the vectors' values at the time of assignment.
template <scalar_type T>
class expr {
public:
    using value_type = T;
    static_assert(std::same_as<T, canonical<T>>);

    explicit expr(array::program&& list) : program_(std::move(list)) {}
    expr(const vector<T>& v) { program_.push_vector(v.state(), scalar_of<T>); }  // NOLINT

    const array::program& program() const& { return program_; }
    array::program&& program() && { return std::move(program_); }

private:
    array::program program_;
};

namespace detail {

template <class A>
constexpr scalar array_scalar() {
    if constexpr (array_value<A>)
        return scalar_of<typename std::remove_cvref_t<A>::value_type>;
    else
        return scalar::nothing;
}
template <class A>
constexpr scalar array_entering(scalar strong) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (array_value<A>)
        return array_scalar<A>();
    else if (strong == scalar::nothing)
        return scalar_of<plain>;
    else
        return kind_of(scalar_of<plain>) <= kind_of(strong) ? strong : scalar_of<plain>;
}
template <class... A>
constexpr scalar array_strong() {
    scalar strong = scalar::nothing;
    ((strong = dsl::detail::common_strong(strong, array_scalar<A>())), ...);
    return strong;
}
/// The same for an operator or built-in, where small integers mostly count as i32.
template <builtin B, class A>
constexpr scalar array_operand(scalar strong) {
    const scalar entering = array_entering<A>(strong);
    return array_value<A> ? entering : weak_operand(B, entering);
}
[[noreturn]] void array_scalar_does_not_fit(scalar type);
[[noreturn]] void array_scalar_wraps(scalar type, std::uint64_t value);
/// Refuses an unsigned host value beyond the range of the signed type that it takes, where its number counts.
template <scalar Entering, class A>
void refuse_wrapping([[maybe_unused]] const A& value) {
    using T = typename host_type<Entering>::type;
    if constexpr (std::integral<A> && std::signed_integral<T> && sizeof(A) >= sizeof(T))
        if (value > A{0} &&
            static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<T>::max()))
            array_scalar_wraps(Entering, static_cast<std::uint64_t>(value));
}

template <scalar Entering, class A>
std::uint64_t entering_bits(A value) {
    using T = typename host_type<Entering>::type;
    const T converted = static_cast<T>(value);
    if constexpr (std::integral<A> && std::integral<T> && !std::same_as<T, bool> && sizeof(A) > sizeof(T))
        if (static_cast<A>(converted) != value &&
            static_cast<A>(static_cast<std::make_unsigned_t<T>>(converted)) != value)
            array_scalar_does_not_fit(Entering);
    return dsl::detail::bits_of(converted);
}

/// Appends an operand of any kind.
template <scalar Entering, class A>
void append(array::program& list, const A& a) {
    if constexpr (is_vector<A>)
        list.push_vector(a.state(), Entering);
    else if constexpr (is_expr<A>)
        list.append(a.program());
    else
        list.push_value(array::step::kind::scalar, Entering, entering_bits<Entering>(a));
}
/// The list to append to: the first operand's own, where it is an expression that nobody else will use.
template <scalar Entering, class A>
array::program begin(A&& a) {
    if constexpr (is_expr<std::remove_cvref_t<A>>)
        return static_cast<A&&>(a).program();
    else {
        array::program list;
        append<Entering>(list, a);
        return list;
    }
}

template <scalar S>
using expr_of = expr<typename host_type<S>::type>;

template <builtin B, scalar Strong, class First, class... Rest>
array::program joined(First&& first, const Rest&... rest) {
    if constexpr (!takes_bit_patterns(B)) {
        refuse_wrapping<array_operand<B, First>(Strong)>(first);
        (refuse_wrapping<array_operand<B, Rest>(Strong)>(rest), ...);
    }
    array::program list = begin<array_operand<B, First>(Strong)>(static_cast<First&&>(first));
    (append<array_operand<B, Rest>(Strong)>(list, rest), ...);
    return list;
}

}  // namespace detail

/// Applies a row of builtins.def element by element.
template <builtin B, class... A>
requires array_operands<A...>
auto apply(A&&... a) {
    constexpr scalar strong = detail::array_strong<A...>();
    constexpr scalar result = detail::result_of(B, detail::array_operand<B, A>(strong)...);
    static_assert(result != scalar::nothing,
                  "Balm: this operator or built-in does not take elements of these types (integers wanted?)");
    array::program list = detail::joined<B, strong>(static_cast<A&&>(a)...);
    array::step s;
    s.what = array::step::kind::apply;
    s.type = result;
    s.detail = static_cast<std::uint16_t>(B);
    s.arity = sizeof...(A);
    list.push(s);
    return detail::expr_of<result>(std::move(list));
}

#define BALM_BINARY(symbol, id)                                              \
    template <class L, class R>                                              \
    requires array_operands<L, R>                                            \
    auto operator symbol(L&& l, R&& r) {                                     \
        return apply<builtin::id>(static_cast<L&&>(l), static_cast<R&&>(r)); \
    }
BALM_BINARY(+, add)
BALM_BINARY(-, sub)
BALM_BINARY(*, mul)
BALM_BINARY(/, div)
BALM_BINARY(%, rem)
BALM_BINARY(<<, shl)
BALM_BINARY(>>, shr)
BALM_BINARY(&, bit_and)
BALM_BINARY(|, bit_or)
BALM_BINARY(^, bit_xor)
BALM_BINARY(<, less)
BALM_BINARY(>, greater)
BALM_BINARY(<=, less_equal)
BALM_BINARY(>=, greater_equal)
BALM_BINARY(==, equal)
BALM_BINARY(!=, not_equal)
#undef BALM_BINARY

/// The elements as another type, as C++ converts them; floating to integer saturates and turns NaN into 0.
template <scalar_type T, array_value A>
expr<canonical<T>> cast(A&& a) {
    array::program list = detail::begin<detail::array_scalar<A>()>(static_cast<A&&>(a));
    array::step s;
    s.what = array::step::kind::convert;
    s.type = scalar_of<T>;
    s.arity = 1;
    list.push(s);
    return expr<canonical<T>>(std::move(list));
}

namespace detail {

/// The elements as truth values: a number counts as true unless it is zero.
template <class A>
decltype(auto) as_condition(A&& a) {
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
    return cast<typename detail::host_type<promote(detail::array_scalar<A>())>::type>(static_cast<A&&>(a));
}
template <array_value A>
auto operator~(A&& a) {
    return apply<builtin::bit_not>(static_cast<A&&>(a));
}
template <array_value A>
auto operator!(A&& a) {
    return apply<builtin::logical_not>(detail::as_condition(static_cast<A&&>(a)));
}
template <class L, class R>
requires array_operands<L, R>
auto operator&&(L&& l, R&& r) {
    return apply<builtin::bit_and>(detail::as_condition(static_cast<L&&>(l)),
                                   detail::as_condition(static_cast<R&&>(r)));
}
template <class L, class R>
requires array_operands<L, R>
auto operator||(L&& l, R&& r) {
    return apply<builtin::bit_or>(detail::as_condition(static_cast<L&&>(l)),
                                  detail::as_condition(static_cast<R&&>(r)));
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
expr<canonical<T>> convert(A&& a) {
    return detail::converted<canonical<T>, How, typename std::remove_cvref_t<A>::value_type>(
        static_cast<A&&>(a));
}
/// The elements as an integer type; what is beyond its range becomes the nearest end of the range.
template <scalar_type T, rounding How = rounding::toward_zero, array_value A>
expr<canonical<T>> convert_sat(A&& a) {
    return detail::saturated<canonical<T>, How, typename std::remove_cvref_t<A>::value_type>(
        static_cast<A&&>(a));
}
/// The elements' bits as a type of the same size.
template <scalar_type T, array_value A>
expr<canonical<T>> bit_cast(A&& a) {
    return detail::reinterpreted_as<canonical<T>, typename std::remove_cvref_t<A>::value_type>(
        static_cast<A&&>(a));
}

/// `condition ? if_true : if_false`, element by element.
template <class C, class A, class B>
requires array_operands<C, A, B>
auto select(C&& condition, A&& if_true, B&& if_false) {
    constexpr scalar strong = detail::array_strong<A, B>();
    constexpr scalar a = detail::array_entering<A>(strong), b = detail::array_entering<B>(strong);
    constexpr scalar result = a == b ? a : common_scalar(a, b);
    detail::refuse_wrapping<a>(if_true);
    detail::refuse_wrapping<b>(if_false);
    array::program list = detail::begin<scalar::boolean>(detail::as_condition(static_cast<C&&>(condition)));
    detail::append<a>(list, if_true);
    detail::append<b>(list, if_false);
    array::step s;
    s.what = array::step::kind::select;
    s.type = result;
    s.arity = 3;
    list.push(s);
    return detail::expr_of<result>(std::move(list));
}

/// The position of each element, plus an offset: 0, 1, 2, …
inline expr<std::int64_t> element_index(std::int64_t offset = 0) {
    array::program list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    return expr<std::int64_t>(std::move(list));
}
/// The same for a given number of elements, where no vector in the expression says it.
inline expr<std::int64_t> element_index(std::int64_t offset, std::size_t size) {
    array::program list;
    list.push_value(array::step::kind::index, scalar::i64, static_cast<std::uint64_t>(offset));
    list.size = static_cast<std::int64_t>(size);
    return expr<std::int64_t>(std::move(list));
}

/// A value that is part of the kernel's source. Each new value compiles a new kernel; a plain scalar is an
/// argument, which does not.
template <scalar_type T>
expr<canonical<T>> constant(T value) {
    array::program list;
    list.push_value(array::step::kind::constant, scalar_of<T>,
                    dsl::detail::bits_of(static_cast<canonical<T>>(value)));
    return expr<canonical<T>>(std::move(list));
}

namespace detail {

/// What a function's parameter in memory points to; void for a parameter by value.
template <class P>
struct memory_parameter_of {
    using element = void;
};
template <class T, int N>
struct memory_parameter_of<dsl::In<T, N>> {
    using element = const T;
};
template <class T, int N>
struct memory_parameter_of<dsl::Out<T, N>> {
    using element = T;
};
template <class T, int N>
struct memory_parameter_of<dsl::Mixed<T, N>> {
    using element = T;
};
template <class T, space Where>
struct memory_parameter_of<dsl::Ptr<T, Where>> {
    using element = std::conditional_t<Where == space::global, T, volatile T>;
};

/// Appends an image for a parameter that is one.
template <class P, class A>
void append_image(array::program& list, const A& a) {
    static_assert(P::use != trace::access::out_image,
                  "Balm: in an expression a function only reads images: take InImage<T, N> or Sampled<T, N>");
    parameter<P>::template check<A>();
    array::image_leaf leaf;
    leaf.memory = a.part().memory;
    if constexpr (P::use == trace::access::sampled_image) leaf.sampler = a.through();
    leaf.type = parameter<P>::element();
    leaf.use = P::use;
    list.push_image(std::move(leaf));
}

/// Appends an argument for a parameter of type P.
template <class P, class A>
void append_argument(array::program& list, const A& a) {
    using element = typename memory_parameter_of<P>::element;
    if constexpr (parameter_is_image<P>) {
        append_image<P>(list, a);
    } else if constexpr (!std::is_void_v<element>) {
        static_assert(is_vector<A>, "Balm: this parameter is memory; give it a vector");
        static_assert(std::is_const_v<element>,
                      "Balm: in an expression a function only reads vectors: take In<T> or Ptr<const T>");
        if constexpr (is_vector<A>) {
            static_assert(is_same_element<typename A::value_type, std::remove_const_t<element>>,
                          "Balm: the vector's elements are of another type than the parameter's");
            list.push_memory(a.state(), array_scalar<A>());
        }
    } else {
        constexpr scalar wanted = scalar_of<typename P::value_type>;
        constexpr scalar given = array_entering<A>(wanted);
        static_assert(kind_of(given) <= kind_of(wanted), "Balm: this would narrow; cast it");
        append<given>(list, a);
    }
}

}  // namespace detail

/// A device function, element by element: at least one argument is a vector or an expression. A parameter
/// that is memory, In<T> or Ptr<const T>, takes a vector as a whole, of any size, and reads what it wants.
///
///     auto force = balm::function("force", [](Index i, In<double> x) { … x[j] … });
///     f = force(balm::element_index(), x);
///
/// A parameter that is an image, InImage<T, N> or Sampled<T, N>, takes one as a kernel does.
template <class R, class... P, class... A>
requires(array_value<A> || ...) auto call_function(const device_function<R, P...>& f, A&&... a) {
    array::program list;
    (detail::append_argument<P>(list, a), ...);
    constexpr scalar result = scalar_of<typename R::value_type>;
    list.push_call(f.function(), result, sizeof...(A));
    return detail::expr_of<result>(std::move(list));
}

/// What an image shows at each place, through its sampler: x along a row, then y, then z. The image is one of
/// numbers, not of vectors of them, for which a function takes what it wants of the element:
///
///     heights = balm::sample(map.sampled({.filter = balm::image_filter::linear}), x, y);
///     auto red = balm::function("red", [](Sampled<balm::float4, 2> i, Float x, Float y) { return Float(i(x,
///     y).x); }); r = red(photo.sampled(), x, y);
template <class T, int N, class... A>
requires array_operands<A...>
auto sample(const sampled_image<T, N>& image, A&&... at) {
    static_assert(sizeof...(A) == N, "Balm: an image of N dimensions is sampled at N coordinates");
    static_assert(
        scalar_type<decltype(detail::image_value<T>())>,
        "Balm: the image's elements are vectors; write a function that says which number of them is meant");
    if constexpr (N == 1) {
        static const auto look =
            function("sample(image, x)", [](dsl::Sampled<T, 1> i, dsl::Float x) { return i(x); });
        return call_function(look, image, static_cast<A&&>(at)...);
    } else if constexpr (N == 2) {
        static const auto look = function(
            "sample(image, x, y)", [](dsl::Sampled<T, 2> i, dsl::Float x, dsl::Float y) { return i(x, y); });
        return call_function(look, image, static_cast<A&&>(at)...);
    } else {
        static const auto look = function(
            "sample(image, x, y, z)",
            [](dsl::Sampled<T, 3> i, dsl::Float x, dsl::Float y, dsl::Float z) { return i(x, y, z); });
        return call_function(look, image, static_cast<A&&>(at)...);
    }
}

}  // namespace balm
