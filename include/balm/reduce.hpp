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
#include "balm/expr.hpp"
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

enum class reduction_kind : std::uint8_t {
    sum,
    sum_compensated,
    product,
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
    std::uint64_t identity = 0;                         ///< of a fold: the bits of its identity
    std::shared_ptr<const ir::function> function = {};  ///< of a fold
};

/// Whether a function combines the elements.
constexpr bool is_fold(reduction_kind kind) {
    return kind == reduction_kind::fold || kind == reduction_kind::fold_without_identity;
}

/// Stores results in slots of 8 bytes in `results`: one each, and for arg_min and arg_max a second one, the
/// position. The values of the tape are the expressions of the reductions, in the same order.
void reduce(tape&&, const reduction* first, std::size_t count, policy, std::uint64_t* results);
/// The same into a vector of one element for each reduction.
void reduce_into(vector_state* const* into, tape&&, const reduction* first, std::size_t count, policy);

/// The type in which elements are summed: booleans are counted in 64 bits, small integers summed in 32.
constexpr scalar sum_type(scalar s) { return s == scalar::boolean ? scalar::i64 : promote(s); }

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
inline constexpr std::size_t result_slots = 1;
template <class T>
inline constexpr std::size_t result_slots<extreme<T>> = 2;

template <class R>
R result_from(const std::uint64_t* slot) {
    R result{};
    std::memcpy(&result, slot, sizeof result);  // little-endian hosts: the low bytes come first
    return result;
}
template <class T>
extreme<T> extreme_from(const std::uint64_t* slot) {
    return {result_from<T>(slot), static_cast<std::size_t>(slot[1])};
}
template <class R>
struct taken {
    static R from(const std::uint64_t*& slot) { return result_from<R>(slot++); }
};
template <class T>
struct taken<extreme<T>> {
    static extreme<T> from(const std::uint64_t*& slot) {
        slot += 2;
        return extreme_from<T>(slot - 2);
    }
};

template <array::reduction_kind Kind, scalar Element, class R, class A>
lazy_reduction<R> lazily(A&& a) {
    static_assert(
        are_scalars<A>(),
        "Balm: this reduction takes numbers; for short vectors reduce lanes (balm::lane<0>(v)), for complex "
        "numbers abs(z) or real(z), for structures members. sum, sum_compensated, product, min and max of "
        "short vectors and sums of complex numbers can only be returned to the host");
    static_assert(Kind != array::reduction_kind::sum_compensated || is_floating(Element),
                  "Balm: sum_compensated takes floating-point numbers; sums of integers are exact");
    return {begin<array_scalar<A>()>(static_cast<A&&>(a)), {Kind, Element}};
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
    static_assert((std::is_same_v<T, R> && ...),
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

/// Defines name_of(a), name(a) and, if a vector can hold the result, name_into(v, a).
#define BALM_REDUCTION_TO_HOST(name, element, ...)                                                     \
    template <array_value A>                                                                           \
    [[nodiscard]] auto name##_of(A&& a) {                                                              \
        constexpr scalar own = detail::array_scalar<A>();                                              \
        using T [[maybe_unused]] = typename detail::host_type<own>::type;                              \
        return detail::lazily<array::reduction_kind::name, element, __VA_ARGS__>(static_cast<A&&>(a)); \
    }                                                                                                  \
    template <array_value A>                                                                           \
    [[nodiscard]] auto name(A&& a, policy how = policy::run_to_run) {                                  \
        return reduce(how, name##_of(static_cast<A&&>(a)));                                            \
    }                                                                                                  \
    template <detail::host_elements A>                                                                 \
    BALM_REFUSED(BALM_HOST_ELEMENTS)                                                                   \
    float name(const A& a, policy how = policy::run_to_run);
#define BALM_REDUCTION(name, element, ...)                                      \
    BALM_REDUCTION_TO_HOST(name, element, __VA_ARGS__)                          \
    template <class T, array_value A>                                           \
    void name##_into(vector<T>& into, A&& a, policy how = policy::run_to_run) { \
        reduce_into(into, name##_of(static_cast<A&&>(a)), how);                 \
    }

/// The sum of all elements; for booleans, the number of true ones (64 bits). 0 for no elements.
/// Floating-point sums are pairwise: at most 64 terms are added sequentially, then such sums, and so on, so
/// the error grows as the logarithm of the number of elements. Blocks; sum_of(a) is for reduce, and
/// sum_into(v, a) stores the sum in a vector of one element.
///
///     double dot = balm::sum(x * y);
BALM_REDUCTION(sum, array::sum_type(own), typename detail::host_type<array::sum_type(own)>::type)
/// A floating-point sum, nearly as if it were computed in twice the precision and then rounded. Source: A.
/// Neumaier, Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen, 1974; here the errors
/// are carried through all levels.
BALM_REDUCTION(sum_compensated, own, T)
/// The product of all elements, in the type of their sum. 1 for no elements.
BALM_REDUCTION(product, array::sum_type(own), typename detail::host_type<array::sum_type(own)>::type)
/// The smallest element; NaNs are ignored. Throws usage_error for no elements.
BALM_REDUCTION(min, own, T)
/// The largest element; NaNs are ignored. Throws usage_error for no elements.
BALM_REDUCTION(max, own, T)
/// The smallest element and its position, the lowest one if several are equal. NaNs are ignored, unless all
/// elements are NaN: then the result is the first. Throws usage_error for no elements.
///
///     auto [value, position] = balm::arg_min(x);
BALM_REDUCTION_TO_HOST(arg_min, own, extreme<T>)
/// The same for the largest element.
BALM_REDUCTION_TO_HOST(arg_max, own, extreme<T>)
/// The number of true elements; numbers are true unless they are zero. 64 bits.
///
///     if (balm::count(x < 0) > 0) …
BALM_REDUCTION(count, scalar::i64, std::int64_t)
/// Whether any element is true; numbers are true unless they are zero. false for no elements.
BALM_REDUCTION(any, scalar::i32, bool)
#undef BALM_REDUCTION
#undef BALM_REDUCTION_TO_HOST

namespace detail {

/// Reductions of every lane, in one pass, as a short vector.
template <class Of, std::size_t... K, class A>
auto of_lanes(policy how, std::index_sequence<K...>, const A& a, Of&& of) {
    const auto each = reduce(how, of(lane<static_cast<int>(K)>(a))...);
    vec<std::remove_const_t<std::tuple_element_t<0, decltype(each)>>, sizeof...(K)> result;
    ((result[static_cast<int>(K)] = std::get<K>(each)), ...);
    return result;
}

}  // namespace detail

/// The same reductions for short vectors: lane by lane, in one pass. Returns a short vector.
///
///     balm::float4 centre = balm::sum(positions) / float(n);
#define BALM_REDUCTION_OF_LANES(name)                                                                        \
    template <detail::vector_array A>                                                                        \
    [[nodiscard]] auto name(A&& a, policy how = policy::run_to_run) {                                        \
        return detail::of_lanes(how, std::make_index_sequence<detail::lanes_of<detail::element_of<A>>>(), a, \
                                [](auto lane) { return name##_of(std::move(lane)); });                       \
    }
BALM_REDUCTION_OF_LANES(sum)
BALM_REDUCTION_OF_LANES(sum_compensated)
BALM_REDUCTION_OF_LANES(product)
BALM_REDUCTION_OF_LANES(min)
BALM_REDUCTION_OF_LANES(max)
#undef BALM_REDUCTION_OF_LANES

/// The sum of complex numbers.
template <detail::complex_array A>
[[nodiscard]] auto sum(A&& a, policy how = policy::run_to_run) {
    const auto [real_part, imaginary_part] = reduce(how, sum_of(real(a)), sum_of(imag(a)));
    return detail::element_of<A>{real_part, imaginary_part};
}
template <detail::complex_array A>
[[nodiscard]] auto sum_compensated(A&& a, policy how = policy::run_to_run) {
    const auto [real_part, imaginary_part] =
        reduce(how, sum_compensated_of(real(a)), sum_compensated_of(imag(a)));
    return detail::element_of<A>{real_part, imaginary_part};
}

/// Whether all elements are true; numbers are true unless they are zero. true for no elements.
template <array_value A>
[[nodiscard]] auto all_of(A&& a) {
    return detail::lazily<array::reduction_kind::all, scalar::i32, bool>(static_cast<A&&>(a));
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

/// The tape of a fold's elements, which the function accepts.
template <class F>
struct folding;
template <class R, class P, class Q>
struct folding<device_function<R, P, Q>> {
    using type = typename R::value_type;

    template <array_value A>
    static array::tape elements(A&& a) {
        static_assert(are_scalars<A>(),
                      "Balm: this reduction takes numbers; for short vectors fold lanes (balm::lane<0>(v)), "
                      "for complex numbers real(z) and imag(z), for structures members");
        static_assert(
            std::is_same_v<P, R> && std::is_same_v<Q, R>,
            "Balm: the function of a fold must take two values and return one, all of the same type");
        static_assert(
            kind_of(array_scalar<A>()) <= kind_of(scalar_of<type>),
            "Balm: the function of this fold takes a narrower type than that of the elements; cast them");
        return begin<array_scalar<A>()>(static_cast<A&&>(a));
    }
};

}  // namespace detail

/// Combines the elements by a function of two elements. It must be associative and commutative, because the
/// order of elements is unspecified. Combining a value with `identity` must not change the value; the result
/// for no elements is `identity`.
///
///     auto larger = balm::function("larger", [](Double a, Double b) { return max(abs(a), abs(b)); });
///     double norm = balm::fold(x, 0.0, larger);
template <array_value A, scalar_type I, class R, class P, class Q>
auto fold_of(A&& a, I identity, const device_function<R, P, Q>& function) {
    using folding = detail::folding<device_function<R, P, Q>>;
    using T = typename folding::type;
    static_assert(kind_of(scalar_of<I>) <= kind_of(scalar_of<T>),
                  "Balm: the function of this fold takes a narrower type than that of the identity; cast it");
    return lazy_reduction<T>(folding::elements(static_cast<A&&>(a)),
                             {array::reduction_kind::fold, scalar_of<T>,
                              detail::entering_bits<scalar_of<T>>(identity), function.function()});
}
/// The same for a function without an identity, or whose identity is unknown: each partial result carries a
/// flag that says whether it has a value yet. The result for no elements is 0.
///
///     auto further = balm::function("further", [](Int a, Int b) { return select(abs(b) > abs(a), b, a); });
///     furthest = balm::inclusive_scan(balm::fold_of(x, further));
template <array_value A, class R, class P, class Q>
auto fold_of(A&& a, const device_function<R, P, Q>& function) {
    using folding = detail::folding<device_function<R, P, Q>>;
    using T = typename folding::type;
    return lazy_reduction<T>(
        folding::elements(static_cast<A&&>(a)),
        {array::reduction_kind::fold_without_identity, scalar_of<T>, 0, function.function()});
}
template <array_value A, scalar_type I, class R, class P, class Q>
auto fold(A&& a, I identity, const device_function<R, P, Q>& function, policy how = policy::run_to_run) {
    return reduce(how, fold_of(static_cast<A&&>(a), identity, function));
}
template <array_value A, class R, class P, class Q>
auto fold(A&& a, const device_function<R, P, Q>& function, policy how = policy::run_to_run) {
    return reduce(how, fold_of(static_cast<A&&>(a), function));
}
template <class T, array_value A, scalar_type I, class R, class P, class Q>
void fold_into(vector<T>& into, A&& a, I identity, const device_function<R, P, Q>& function,
               policy how = policy::run_to_run) {
    reduce_into(into, fold_of(static_cast<A&&>(a), identity, function), how);
}

}  // namespace balm
