#pragma once
// Stencils: each element of the result is a function of an element and its neighbours. The border defines the
// values outside an array.
//
//     const auto M = balm::view(x, {rows, columns});
//     y = balm::stencil(balm::border::clamp,
//                       [](const auto& u) { return u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4 * u(0, 0); },
//                       M);
//     smooth = balm::convolve(balm::border::mirror, x, {0.25f, 0.5f, 0.25f});
//     echo = balm::convolve(balm::constant_border{0.0f}, signal, impulse_response);

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "balm/function_ref.hpp"
#include "balm/vector.hpp"

namespace balm {

/// The neighbours beyond the border of an array; see also constant_border.
enum class border : std::uint8_t {
    clamp,  ///< the nearest element: … a a | a b c d | d d …
    wrap,   ///< the other end: … c d | a b c d | a b …
    mirror  ///< the array reversed: … b a | a b c d | d c …
};
/// Neighbours beyond the border have this value. Not for structures.
template <class T>
struct constant_border {
    T value{};
};
template <class T>
constant_border(T) -> constant_border<T>;

namespace array {

/// Some elements of a box: a smaller box, or a list of elements whose coordinates are expressions.
struct region {
    shape extents;
    std::array<std::int64_t, shape::max_dimensions> begin{};
    std::vector<expr<std::int64_t>> coordinates{};  ///< of a list: one for each dimension of the box
};

/// The arrays that a stencil reads, of equal extents, and how far it reads from an element.
class stencil_inputs {
public:
    /// Throws usage_error if extents differ.
    stencil_inputs(std::initializer_list<selection>);

    /// The element of an array that is `offset` away from each element of a region. Along dimensions where it
    /// may be beyond the border, the border maps the index. Throws usage_error unless there is an offset for
    /// each dimension.
    tape neighbour(std::size_t array, const region&, border, std::span<const std::int64_t> offset);
    /// Whether these elements are within the array (bool); empty if all are known to be.
    std::optional<tape> is_within(const region&, std::span<const std::int64_t> offset) const;
    /// The coordinate of each element of a region (i64).
    tape coordinate(const region&, int dimension) const;

    /// The stencil as a materialised operand. `value` returns the elements of a region, and calls `neighbour`
    /// for each element that it reads.
    tape computed(trace::type, balm::detail::function_ref<tape(const region&)> value);

private:
    region inner_region() const;
    region rows_of(const region&) const;
    bool find_ends();

    shape box_;
    std::vector<selection> arrays_;
    std::vector<std::optional<selection>> ends_;  ///< of each array: its first and last rows
    std::array<std::int64_t, shape::max_dimensions> ahead_{}, behind_{};  ///< the greatest distances read
};

/// The operations that combine values and weights to elements of a convolution: recorded in its kernel.
struct convolution_terms {
    trace::type value, weight, result;
    const operation* product;  ///< of a weight and a value
    const operation* sum;      ///< of a result and a product, which have the same type
    const operation* zero;     ///< of no operands
};
/// A convolution with weights in memory, as a materialised operand. `constant` is the value beyond the
/// border, or empty.
tape convolved(tape&& x, tape&& weights, tape&& constant, border, const convolution_terms&,
               std::size_t centre, int dimension);
/// Host weights, copied to the first device that computes the tape.
tape weights_near(const tape&, trace::type, const void* weights, std::size_t count);

/// Whether this number of host weights is passed as arguments of the kernel, and not in memory.
bool are_arguments(std::size_t weights, const tape&, int dimension);
/// Throws usage_error for no weights, and for a centre or dimension out of range.
void check_convolution(std::size_t weights, std::size_t centre, int dimension, const shape& box);
/// The number of weights. Throws usage_error for an array of several dimensions.
std::size_t count_of_weights(const tape&);

}  // namespace array

/// An array relative to each element: the argument of a stencil's function.
template <class T>
class neighbours {
public:
    neighbours(array::stencil_inputs& from, std::size_t number, const array::region& where, border beyond,
               std::optional<T> constant)
        : from_(from), number_(number), where_(where), beyond_(beyond), constant_(constant) {}

    /// The element at these offsets along each dimension: u(0, -1) is the previous one in the same row.
    /// Offsets are the same for all elements. Throws usage_error unless there is one for each dimension.
    template <std::integral... I>
    expr<T> operator()(I... offset) const {
        const std::int64_t offsets[] = {static_cast<std::int64_t>(offset)...};
        return at(offsets);
    }
    /// The same for a list of offsets.
    expr<T> at(std::span<const std::int64_t> offset) const {
        expr<T> near(from_.neighbour(number_, where_, beyond_, offset));
        if constexpr (array_operand<T>) {  // all but structures, which have no constant border
            if (!constant_) return near;
            std::optional<array::tape> is_within = from_.is_within(where_, offset);
            if (!is_within) return near;
            return expr<T>(select(expr<bool>(std::move(*is_within)), std::move(near), *constant_));
        } else {
            return near;
        }
    }
    /// The element's own index along a dimension, counted from 0. Throws usage_error if there is no such
    /// dimension.
    expr<std::int64_t> coordinate(int dimension) const {
        return expr<std::int64_t>(from_.coordinate(where_, dimension));
    }

private:
    array::stencil_inputs& from_;
    const std::size_t number_;
    const array::region& where_;
    const border beyond_;
    const std::optional<T> constant_;
};

namespace detail {

template <class T>
inline constexpr bool is_constant_border = false;
template <class T>
inline constexpr bool is_constant_border<constant_border<T>> = true;
template <class B>
concept border_rule = std::same_as<B, border> || is_constant_border<B>;

template <border_rule B>
border rule_of(const B& beyond) {
    if constexpr (std::same_as<B, border>)
        return beyond;
    else
        return border::clamp;  // keeps all positions inside
}
template <class T, border_rule B>
std::optional<T> constant_of(const B& beyond) {
    if constexpr (std::same_as<B, border>)
        return std::nullopt;
    else {
        static_assert(balm::array_operand<T>,
                      "Balm: structures have no constant border; use clamp, wrap or mirror");
        return static_cast<T>(beyond.value);
    }
}

template <array_value A>
array::selection selected(const A& a) {
    if constexpr (is_view<A>) {
        return a.what();
    } else {
        const expr<element_of<A>> own(a);
        return array::viewed(own.tape(), array::box_of(own.tape()));
    }
}

}  // namespace detail

/// An expression whose element is f(u, v, …), where u, v, … are the arrays relative to it (balm::neighbours),
/// all of the same extents, in one to eight dimensions. f returns an expression of their elements, numbers
/// and functions; pass further arrays to the stencil. f is called several times while the stencil is built.
///
/// The stencil is a materialised operand, computed before the expression that it is part of; assigned alone
/// to a vector, it is computed directly in the vector. One kernel computes the elements whose neighbours are
/// all inside, and loads shared neighbours once (see docs/stencils.md); a second one computes those along the
/// borders. If an array is an expression, it is computed for each neighbour that is read. Throws usage_error
/// if extents differ, or if f captures an array.
///
///     y = balm::stencil(balm::border::wrap,
///                       [](const auto& u, const auto& k) { return k(0) * (u(1) - 2 * u(0) + u(-1)); }, x,
///                       conductivity);
template <detail::border_rule B, class F, array_value... A>
requires(sizeof...(A) > 0) auto stencil(const B& beyond, F&& f, const A&... arrays) {
    using made = std::invoke_result_t<F&, const neighbours<detail::element_of<A>>&...>;
    static_assert(array_value<made>, "Balm: the function of a stencil must return an expression");
    using R = detail::element_of<made>;
    array::stencil_inputs inputs({detail::selected(arrays)...});
    const auto value = [&](const array::region& where) {
        return [&]<std::size_t... K>(std::index_sequence<K...>) {
            const expr<R> own(
                f(neighbours<detail::element_of<A>>(inputs, K, where, detail::rule_of(beyond),
                                                    detail::constant_of<detail::element_of<A>>(beyond))...));
            return own.tape();
        }
        (std::index_sequence_for<A...>{});
    };
    return expr<R>(inputs.computed(detail::array_type<R>(), value));
}

/// The weight of the element itself, and the dimension of the convolution.
struct convolution {
    std::optional<std::size_t> centre{};  ///< default: the middle one, for an even number the second of both
    std::optional<int> dimension{};       ///< default: the last one
};

namespace detail {

template <class R>
trace::node zero_of(const trace::node*) {
    return dsl::detail::result_node(dsl::Var<R>());
}
/// The combination of weights of W and values of T, as in the kernel language.
template <class W, class T>
struct convolution_recorder {
    using product = recorder<row_operation<builtin::mul>, W, T>;
    using result = typename product::result;
    using sum = recorder<row_operation<builtin::add>, result, result>;
    static_assert(std::same_as<typename sum::result, result>);
    static constexpr array::operation zero{&zero_of<result>, "zero"};

    static array::convolution_terms terms() {
        return {array_type<T>(),     array_type<W>(), array_type<result>(),
                &product::operation, &sum::operation, &zero};
    }
};

/// The type of host weights in products with elements of T.
template <class W, class T>
auto entering_weight() {
    if constexpr (scalar_type<W> && scalar_type<T>)
        return std::type_identity<element_of<decltype(std::declval<W>() * std::declval<expr<T>>())>>{};
    else
        return entering_element<row_operation<builtin::mul>, W, 0, W, expr<T>>();
}
template <class U, class W>
U entered(const W& weight) {
    if constexpr (scalar_type<U> && scalar_type<W>) {
        refuse_wrapping<scalar_of<U>>(weight);
        if (!dsl::detail::fits<U>(weight)) array_scalar_does_not_fit(scalar_of<U>);
        return static_cast<U>(weight);
    } else {
        return host_element<U>(weight);
    }
}

/// A convolution with weights, elements of U, in memory.
template <class U, border_rule B, array_value A>
auto convolved(const B& beyond, const A& x, array::tape&& weights, std::size_t centre, int dimension) {
    using T = element_of<A>;
    using made = convolution_recorder<U, T>;
    array::tape constant;
    if (const std::optional<T> value = constant_of<T>(beyond)) append_host<T>(constant, *value);
    return expr<typename made::result>(array::convolved(expr<T>(x).tape(), std::move(weights),
                                                        std::move(constant), rule_of(beyond), made::terms(),
                                                        centre, dimension));
}

/// A convolution whose weights are arguments of a stencil.
template <border_rule B, array_value A, class W>
auto weighted_stencil(const B& beyond, const A& x, const W* weights, std::size_t count, std::size_t centre,
                      int along, int dimensions) {
    return stencil(
        beyond,
        [&](const auto& u) {
            const auto term = [&](std::size_t k) {
                std::array<std::int64_t, shape::max_dimensions> offset{};
                offset[static_cast<std::size_t>(along)] =
                    static_cast<std::int64_t>(centre) - static_cast<std::int64_t>(k);
                return weights[k] * u.at(std::span(offset).first(static_cast<std::size_t>(dimensions)));
            };
            auto sum = +term(0);
            for (std::size_t k = 1; k < count; ++k) sum = std::move(sum) + term(k);
            return sum;
        },
        x);
}

}  // namespace detail

/// The convolution of an array with weights along one dimension: element i is the sum of weights[k] * x[i +
/// centre - k], added in the order of k. There may be any number of weights, even more than elements;
/// changing host weights never recompiles. Throws usage_error for no weights, and for a centre or dimension
/// out of range.
///
///     smooth = balm::convolve(balm::border::mirror, x, weights);
///     edges = balm::convolve(balm::border::clamp, image, {1, 0, -1}, {.dimension = 0});
template <detail::border_rule B, array_value A, class W>
requires(!array_value<W>) && requires(const W& w) {
    std::data(w);
    std::size(w);
}
auto convolve(const B& beyond, const A& x, const W& weights, const convolution& how = {}) {
    using own = std::remove_cvref_t<decltype(*std::data(weights))>;
    const std::size_t count = std::size(weights);
    const shape box = array::box_of(detail::selected(x).where);
    const std::size_t centre = how.centre.value_or(count / 2);
    const int along = how.dimension.value_or(box.dimensions() - 1);
    array::check_convolution(count, centre, along, box);
    using made = decltype(detail::weighted_stencil(beyond, x, std::data(weights), count, centre, along, 1));
    if (array::are_arguments(count, expr<detail::element_of<A>>(x).tape(), along))
        return made(
            detail::weighted_stencil(beyond, x, std::data(weights), count, centre, along, box.dimensions()));
    using U = typename decltype(detail::entering_weight<own, detail::element_of<A>>())::type;
    std::vector<U> entering;
    entering.reserve(count);
    for (std::size_t k = 0; k < count; ++k) entering.push_back(detail::entered<U>(std::data(weights)[k]));
    return made(detail::convolved<U>(beyond, x,
                                     array::weights_near(expr<detail::element_of<A>>(x).tape(),
                                                         detail::array_type<U>(), entering.data(), count),
                                     centre, along));
}
template <detail::border_rule B, array_value A, scalar_type T>
auto convolve(const B& beyond, const A& x, std::initializer_list<T> weights, const convolution& how = {}) {
    return convolve(beyond, x, std::span<const T>(weights.begin(), weights.size()), how);
}
/// The same with weights on the device: a vector, a view or an expression of one dimension.
///
///     matched = balm::convolve(balm::constant_border{0.0f}, received, pulse[n - 1 - balm::element_index()]);
template <detail::border_rule B, array_value A, array_value W>
auto convolve(const B& beyond, const A& x, const W& weights, const convolution& how = {}) {
    using U = detail::element_of<W>;
    array::tape list = expr<U>(weights).tape();
    const std::size_t count = array::count_of_weights(list);
    const shape box = array::box_of(detail::selected(x).where);
    const std::size_t centre = how.centre.value_or(count / 2);
    const int along = how.dimension.value_or(box.dimensions() - 1);
    array::check_convolution(count, centre, along, box);
    return detail::convolved<U>(beyond, x, std::move(list), centre, along);
}

}  // namespace balm
