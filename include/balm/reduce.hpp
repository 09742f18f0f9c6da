#pragma once
// Reductions of vectors and expressions to a single value: sums, products, extremes and their positions,
// conditions, custom functions. The expression is computed inside the reduction's kernel, without
// intermediate storage. Several reductions share one pass.
//
//     double dot = balm::sum(x * y);
//     auto [least, most] = balm::reduce(balm::min_of(x), balm::max_of(x));
//     balm::sum_into(norm, r * r);  // stays on the device

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "balm/array_elements.hpp"
#include "balm/device_function.hpp"
#include "balm/expr.hpp"
#include "balm/inline_vector.hpp"
#include "balm/vector.hpp"

namespace balm {

/// What a reduction guarantees if rounding makes its result depend on the order of operations: for
/// floating-point sums and products, and for custom functions. Integers, extremes and conditions are the same
/// in any order.
enum class policy : std::uint8_t {
    run_to_run,  ///< the same bits in every run on a device, independent of timing; the default
    portable     ///< the same bits on every device and backend: the order depends on the number of elements
                 ///< alone
};

/// An element and its position.
template <scalar_type T>
struct extreme {
    T value{};
    std::size_t position = 0;
    friend bool operator==(const extreme&, const extreme&) = default;
};

namespace array {

/// The bytes of an element in memory.
using element_bytes = detail::inline_vector<std::byte, 16>;

enum class reduction_kind : std::uint8_t {
    sum,
    sum_compensated,
    product,
    product_of_complex,
    min,
    max,
    arg_min,
    arg_max,
    any,
    all,
    count,
    fold,
    fold_without_identity
};

/// A reduction of one expression.
struct reduction {
    reduction_kind kind = reduction_kind::sum;
    trace::type element;                                ///< what elements are converted to
    std::uint64_t identity = 0;                         ///< of a fold of scalars: the bits of its identity
    std::shared_ptr<const ir::function> function = {};  ///< of a fold
    /// Of a fold of elements that are no scalars: the result of no elements; empty: a scalar 0.
    element_bytes nothing = {};
    std::uint32_t statement = 0;  ///< the number of its statement, if it shares a kernel with others
};

/// Whether a function combines the elements.
constexpr bool is_fold(reduction_kind kind) {
    return kind == reduction_kind::fold || kind == reduction_kind::fold_without_identity;
}

/// Stores results in slots of 8 bytes in `results`, one or as many as a result fills, and for arg_min and
/// arg_max another one, the position. The values of the tape are the expressions of the reductions, in the
/// same order.
void reduce(tape&&, const reduction* first, std::size_t count, policy, std::uint64_t* results);
/// The same into a vector of one element for each reduction.
void reduce_into(vector_state* const* into, tape&&, const reduction* first, std::size_t count, policy);

/// The type in which elements are summed: 64 bits for booleans and for integers of 8 and 16 bits, whose sums
/// soon exceed 32; all others keep their type.
constexpr scalar sum_type(scalar s) {
    if (s >= scalar::i32) return promote(s);
    return s == scalar::u8 || s == scalar::u16 ? scalar::u64 : scalar::i64;
}

}  // namespace array

/// A lazy reduction: what `sum_of`, `min_of` … return and `reduce` takes. R is the type of its result.
template <class R>
class lazy_reduction {
public:
    using result_type = R;

    lazy_reduction(array::tape&& list, array::reduction how) : tape_(std::move(list)), how_(std::move(how)) {}

    const array::tape& tape() const& { return tape_; }
    array::tape&& tape() && { return std::move(tape_); }
    const array::reduction& how() const { return how_; }

private:
    array::tape tape_;
    array::reduction how_;
};

namespace detail {

template <class R>
inline constexpr std::size_t result_slots = (sizeof(R) + 7) / 8;
template <class T>
inline constexpr std::size_t result_slots<extreme<T>> = 2;

/// Whether a result is a value and a position.
template <class R>
inline constexpr bool is_with_position = false;
template <class T>
inline constexpr bool is_with_position<extreme<T>> = true;

template <class R>
R result_from(const std::uint64_t* slot) {
    R result{};
    std::memcpy(static_cast<void*>(&result), slot,
                sizeof result);  // little-endian hosts: the low bytes come first
    return result;
}
template <class T>
extreme<T> extreme_from(const std::uint64_t* slot) {
    return {result_from<T>(slot), static_cast<std::size_t>(slot[1])};
}
template <class R>
struct taken {
    static R from(const std::uint64_t*& slot) {
        slot += result_slots<R>;
        return result_from<R>(slot - result_slots<R>);
    }
};
template <class T>
struct taken<extreme<T>> {
    static extreme<T> from(const std::uint64_t*& slot) {
        slot += 2;
        return extreme_from<T>(slot - 2);
    }
};

/// The type of a sum or product of elements of T, and of their other reductions: short vectors are reduced
/// lane by lane.
template <class T>
struct reduced_element {
    using sum = T;
};
template <scalar_type T>
struct reduced_element<T> {
    using sum = typename host_type<array::sum_type(scalar_of<T>)>::type;
};
template <class T, int N>
struct reduced_element<vec<T, N>> {
    using sum = vec<typename reduced_element<T>::sum, N>;
};

template <class T>
inline constexpr bool is_floating_element = std::floating_point<T> || is_complex_value<T>;
template <class T, int N>
inline constexpr bool is_floating_element<vec<T, N>> = std::floating_point<T>;

template <class T>
struct extreme_element {
    using type = T;
};
template <scalar_type T>
struct extreme_element<T> {
    using type = extreme<T>;
};

/// A reduction with a state of type State and a result of type R.
template <array::reduction_kind Kind, class State, class R, class A>
lazy_reduction<R> lazily(A&& a) {
    using kinds = array::reduction_kind;
    constexpr bool adds = Kind == kinds::sum || Kind == kinds::sum_compensated || Kind == kinds::product;
    constexpr bool takes_lanes = adds || Kind == kinds::min || Kind == kinds::max;
    static_assert(
        are_scalars<A>() || (takes_lanes && vector_array<A>) || (adds && complex_array<A>),
        "Balm: this reduction takes numbers; for short vectors reduce lanes (balm::lane<0>(v)), for complex "
        "numbers abs(z) or real(z), for structures members. sum, sum_compensated and product also take short "
        "vectors and complex numbers, min and max short vectors, and fold any elements");
    static_assert(Kind != kinds::sum_compensated || is_floating_element<element_of<A>>,
                  "Balm: sum_compensated takes floating-point numbers; sums of integers are exact");
    constexpr kinds kind = Kind == kinds::product && complex_array<A> ? kinds::product_of_complex : Kind;
    return {begin<array_scalar<A>()>(static_cast<A&&>(a)), {kind, array_type<State>()}};
}

/// Whether a vector of T holds results of type R.
template <class T, class R>
inline constexpr bool holds_result = std::is_same_v<T, R>;
template <complex_type T, class R>
inline constexpr bool holds_result<T, R> = std::is_same_v<typename array_element<T>::type, R>;

/// Host values that become elements: identities, initial values.
template <class I>
concept host_element_value = element_type<I> || complex_type<I>;

template <class T>
array::element_bytes bytes_of_element(const T& element) {
    array::element_bytes made;
    std::memcpy(made.extend(sizeof element), &element, sizeof element);
    return made;
}

template <class First, class... Rest>
array::tape joined_programs(lazy_reduction<First>&& first, const lazy_reduction<Rest>&... rest) {
    array::tape list = std::move(first).tape();
    (list.append(rest.tape()), ...);
    return list;
}

}  // namespace detail

/// Computes reductions of expressions of the same number of elements in one kernel, which reads each vector
/// once. Returns a tuple of the results, or the result itself if there is one reduction. Throws usage_error
/// if the numbers of elements or the devices differ, and for extremes of no elements. Blocks.
///
///     auto [dot, least, most] = balm::reduce(balm::sum_of(x * y), balm::min_of(x), balm::max_of(abs(x)));
template <class First, class... Rest>
[[nodiscard]] auto reduce(policy how, lazy_reduction<First> first, lazy_reduction<Rest>... rest) {
    constexpr std::size_t slots = (detail::result_slots<First> + ... + detail::result_slots<Rest>);
    const array::reduction asked[] = {first.how(), rest.how()...};
    std::uint64_t results[slots] = {};
    array::reduce(detail::joined_programs(std::move(first), rest...), asked, 1 + sizeof...(Rest), how,
                  results);
    const std::uint64_t* next = results;
    if constexpr (sizeof...(Rest) == 0)
        return detail::taken<First>::from(next);
    else
        return std::tuple<First, Rest...>{detail::taken<First>::from(next),
                                          detail::taken<Rest>::from(next)...};
}
template <class First, class... Rest>
[[nodiscard]] auto reduce(lazy_reduction<First> first, lazy_reduction<Rest>... rest) {
    return reduce(policy::run_to_run, std::move(first), std::move(rest)...);
}

/// The same into existing vectors of one element, of the results' types, on the device: nothing is copied to
/// the host. Does not block. Throws usage_error if a vector has another size or is on another device.
///
///     balm::reduce_into(std::tie(dot, least), balm::sum_of(x * y), balm::min_of(x));
template <class... T, class... R>
requires(sizeof...(T) == sizeof...(R)) void reduce_into(policy how, std::tuple<vector<T>&...> into,
                                                        lazy_reduction<R>... from) {
    static_assert((detail::holds_result<T, R> && ...),
                  "Balm: the target of a reduction must have the result's type as its element type; cast the "
                  "expression, or, for arg_min and arg_max, reduce to the host");
    const array::reduction asked[] = {from.how()...};
    std::apply(
        [&](vector<T>&... target) {
            array::vector_state* const targets[] = {target.state().get()...};
            array::reduce_into(targets, detail::joined_programs(std::move(from)...), asked, sizeof...(R),
                               how);
        },
        into);
}
template <class... T, class... R>
requires(sizeof...(T) == sizeof...(R)) void reduce_into(std::tuple<vector<T>&...> into,
                                                        lazy_reduction<R>... from) {
    reduce_into(policy::run_to_run, into, std::move(from)...);
}
template <class T, class R>
void reduce_into(vector<T>& into, lazy_reduction<R> from, policy how = policy::run_to_run) {
    reduce_into(how, std::tie(into), std::move(from));
}

/// Defines name_of(a), name(a) and, if a vector can hold the result, name_into(v, a), from the types of the
/// state and the result for elements of T.
#define BALM_REDUCTION_TO_HOST(name, ...)                                                     \
    template <array_value A>                                                                  \
    [[nodiscard]] auto name##_of(A&& a) {                                                     \
        using T [[maybe_unused]] = detail::element_of<A>;                                     \
        return detail::lazily<array::reduction_kind::name, __VA_ARGS__>(static_cast<A&&>(a)); \
    }                                                                                         \
    template <array_value A>                                                                  \
    [[nodiscard]] auto name(A&& a, policy how = policy::run_to_run) {                         \
        return reduce(how, name##_of(static_cast<A&&>(a)));                                   \
    }                                                                                         \
    template <detail::host_elements A>                                                        \
    BALM_REFUSED(BALM_HOST_ELEMENTS)                                                          \
    float name(const A& a, policy how = policy::run_to_run);
#define BALM_REDUCTION(name, ...)                                               \
    BALM_REDUCTION_TO_HOST(name, __VA_ARGS__)                                   \
    template <class T, array_value A>                                           \
    void name##_into(vector<T>& into, A&& a, policy how = policy::run_to_run) { \
        reduce_into(into, name##_of(static_cast<A&&>(a)), how);                 \
    }

/// The sum of all elements; for booleans, the number of true ones. 0 for no elements. The sum of booleans and
/// of integers of 8 and 16 bits has 64 bits; all others have the elements' type. (An expression such as x * y
/// of small integers has elements of 32 bits, as in C++: cast an operand to sum its elements in 64.) Short
/// vectors are summed lane by lane, as by all reductions that take them: sum, sum_compensated, product, min
/// and max. Complex numbers have sums and products. Floating-point sums are pairwise: at most 64 terms are
/// added sequentially, then such sums, and so on, so the error grows as the logarithm of the number of
/// elements. Blocks; sum_of(a) is for reduce, and sum_into(v, a) stores the sum in a vector of one element.
///
///     double dot = balm::sum(x * y);
BALM_REDUCTION(sum, typename detail::reduced_element<T>::sum, typename detail::reduced_element<T>::sum)
/// A floating-point sum, nearly as if it were computed in twice the precision and then rounded. Source: A.
/// Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974; here the errors
/// are carried through all levels.
BALM_REDUCTION(sum_compensated, T, T)
/// The product of all elements, in the type of their sum. 1 for no elements.
BALM_REDUCTION(product, typename detail::reduced_element<T>::sum, typename detail::reduced_element<T>::sum)
/// The smallest element; NaNs are ignored. Throws usage_error for no elements.
BALM_REDUCTION(min, T, T)
/// The largest element; NaNs are ignored. Throws usage_error for no elements.
BALM_REDUCTION(max, T, T)
/// The smallest element and its position, the lowest one if several are equal. NaNs are ignored, unless all
/// elements are NaN: then the result is the first. Throws usage_error for no elements.
///
///     auto [value, position] = balm::arg_min(x);
BALM_REDUCTION_TO_HOST(arg_min, T, typename detail::extreme_element<T>::type)
/// The same for the largest element.
BALM_REDUCTION_TO_HOST(arg_max, T, typename detail::extreme_element<T>::type)
/// The number of true elements; numbers are true unless they are zero. 64 bits.
///
///     if (balm::count(x < 0) > 0) …
BALM_REDUCTION(count, std::int64_t, std::int64_t)
/// Whether any element is true; numbers are true unless they are zero. false for no elements.
BALM_REDUCTION(any, std::int32_t, bool)
#undef BALM_REDUCTION
#undef BALM_REDUCTION_TO_HOST

/// Whether all elements are true; numbers are true unless they are zero. true for no elements.
template <array_value A>
[[nodiscard]] auto all_of(A&& a) {
    return detail::lazily<array::reduction_kind::all, std::int32_t, bool>(static_cast<A&&>(a));
}
template <array_value A>
void all_into(vector<bool>& into, A&& a, policy how = policy::run_to_run) {
    reduce_into(into, all_of(static_cast<A&&>(a)), how);
}
/// The implementation of balm::all(a).
template <array_value A>
bool every(A&& a) {
    return reduce(all_of(static_cast<A&&>(a)));
}

namespace detail {

template <class T>
inline constexpr bool is_device_function = false;
template <class R, class... P>
inline constexpr bool is_device_function<device_function<R, P...>> = true;
/// A host value: a number, a short vector, a complex number or a structure.
template <class I>
concept fold_identity = !is_device_function<I> && !array_value<I>;

/// A fold of elements by a function that accepts them.
template <class F>
struct folding;
template <class R, class P, class Q>
struct folding<device_function<R, P, Q>> {
    using type = typename held_by<R>::type;
    static_assert(std::is_same_v<P, R> && std::is_same_v<Q, R>,
                  "Balm: the function of a fold must take two values and return one, all of the same type");

    template <array_value A>
    static array::tape elements(A&& a) {
        if constexpr (scalar_type<type>) {
            static_assert(are_scalars<A>(),
                          "Balm: the function of this fold takes numbers; for short vectors, complex numbers "
                          "and structures write a function of two of them");
            static_assert(
                kind_of(array_scalar<A>()) <= kind_of(scalar_of<type>),
                "Balm: the function of this fold takes a narrower type than that of the elements; cast them");
        } else {
            static_assert(std::is_same_v<element_of<A>, type>,
                          "Balm: the function of a fold takes two elements; these have another type");
        }
        return begin<array_scalar<A>()>(static_cast<A&&>(a));
    }
    static array::reduction without_identity(const device_function<R, P, Q>& function) {
        array::reduction how{array::reduction_kind::fold_without_identity, array_type<type>(), 0,
                             function.function()};
        if constexpr (!scalar_type<type>) how.nothing = bytes_of_element(type{});
        return how;
    }
    template <class I>
    static array::reduction with_identity(const I& identity, const device_function<R, P, Q>& function) {
        if constexpr (scalar_type<type>) {
            static_assert(scalar_type<I>, "Balm: the identity of this fold must be a number");
            static_assert(
                kind_of(scalar_of<I>) <= kind_of(scalar_of<type>),
                "Balm: the function of this fold takes a narrower type than that of the identity; cast it");
            return {array::reduction_kind::fold, scalar_of<type>, entering_bits<scalar_of<type>>(identity),
                    function.function()};
        } else {
            // The identity changes no value, so it is only the result of no elements.
            static_assert(std::is_same_v<typename array_element<I>::type, type>,
                          "Balm: the identity of a fold must have the type of the elements");
            array::reduction how = without_identity(function);
            how.nothing = bytes_of_element(host_element<type>(identity));
            return how;
        }
    }
};

}  // namespace detail

/// Combines the elements by a function of two elements. It must be associative and commutative, because the
/// order of elements is unspecified. Combining a value with `identity` must not change the value; the result
/// for no elements is `identity`. Elements are numbers, complex numbers, short vectors or structures.
///
///     auto larger = balm::function("larger", [](Double a, Double b) { return max(abs(a), abs(b)); });
///     double norm = balm::fold(x, 0.0, larger);
template <array_value A, detail::fold_identity I, class R, class P, class Q>
auto fold_of(A&& a, const I& identity, const device_function<R, P, Q>& function) {
    using folding = detail::folding<device_function<R, P, Q>>;
    return lazy_reduction<typename folding::type>(folding::elements(static_cast<A&&>(a)),
                                                  folding::with_identity(identity, function));
}
/// The same for a function without an identity, or whose identity is unknown: each partial result carries a
/// flag that says whether it has a value yet. The result for no elements is 0.
///
///     auto further = balm::function("further", [](Int a, Int b) { return select(abs(b) > abs(a), b, a); });
///     furthest = balm::inclusive_scan(balm::fold_of(x, further));
template <array_value A, class R, class P, class Q>
auto fold_of(A&& a, const device_function<R, P, Q>& function) {
    using folding = detail::folding<device_function<R, P, Q>>;
    return lazy_reduction<typename folding::type>(folding::elements(static_cast<A&&>(a)),
                                                  folding::without_identity(function));
}
template <array_value A, detail::fold_identity I, class R, class P, class Q>
auto fold(A&& a, const I& identity, const device_function<R, P, Q>& function,
          policy how = policy::run_to_run) {
    return reduce(how, fold_of(static_cast<A&&>(a), identity, function));
}
template <array_value A, class R, class P, class Q>
auto fold(A&& a, const device_function<R, P, Q>& function, policy how = policy::run_to_run) {
    return reduce(how, fold_of(static_cast<A&&>(a), function));
}
template <class T, array_value A, detail::fold_identity I, class R, class P, class Q>
void fold_into(vector<T>& into, A&& a, const I& identity, const device_function<R, P, Q>& function,
               policy how = policy::run_to_run) {
    reduce_into(into, fold_of(static_cast<A&&>(a), identity, function), how);
}

}  // namespace balm
