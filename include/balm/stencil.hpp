#pragma once
// Stencils: each element of the result is a function of an element and its neighbours. What lies beyond the
// border of an array is what the border says.
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

/// What the neighbours beyond the border of an array are; see also constant_border.
enum class border : std::uint8_t {
    clamp,  ///< the nearest element: … a a | a b c d | d d …
    wrap,   ///< the other end: … c d | a b c d | a b …
    mirror  ///< the array backwards: … b a | a b c d | d c …
};
/// Neighbours beyond the border have this value. Not for structures.
template <class T>
struct constant_border {
    T value{};
};
template <class T>
constant_border(T) -> constant_border<T>;

namespace array {

/// Some elements of a box: a smaller box, or a list of elements whose coordinates expressions give.
struct region {
    shape extents;
    std::array<std::int64_t, shape::max_dimensions> begin{};
    std::vector<expr<std::int64_t>> coordinates{};  ///< of a list: one for each dimension of the box
};

/// The arrays that a stencil reads, of equal extents, and how far it reads from an element.
class stencil_inputs {
public:
    /// Throws usage_error where extents differ.
    stencil_inputs(std::initializer_list<selection>);

    /// An array's element that is `offset` away from each of a region. Along dimensions where some may be
    /// beyond the border, the index is what the border makes of it. Throws usage_error unless there is an
    /// offset for each dimension.
    tape neighbour(std::size_t array, const region&, border, std::span<const std::int64_t> offset);
    /// Whether they are within the array (bool); nothing where all of them are known to be.
    std::optional<tape> is_within(const region&, std::span<const std::int64_t> offset) const;
    /// The coordinate of each element of a region (i64).
    tape coordinate(const region&, int dimension) const;

    /// The stencil as a leaf of expressions. `value` gives a region's elements, and calls `neighbour` for
    /// what it reads.
    tape computed(trace::type, balm::detail::function_ref<tape(const region&)> value);

private:
    region inner_region() const;

    shape box_;
    std::vector<selection> arrays_;
    std::array<std::int64_t, shape::max_dimensions> ahead_{}, behind_{};  ///< the farthest that is read
};

/// How the elements of a convolution are made of values and weights: recorded in its kernel.
struct convolution_terms {
    trace::type value, weight, result;
    const operation* product;  ///< of a weight and a value
    const operation* sum;      ///< of a result and a product, which are of the same type
    const operation* zero;     ///< of nothing
};
/// A convolution whose weights are in memory, as a leaf of expressions. `constant` is empty, or what lies
/// beyond the border.
tape convolved(tape&& x, tape&& weights, tape&& constant, border, const convolution_terms&,
               std::size_t centre, int dimension);
/// Host weights in the memory of the first device where the tape is computed.
tape weights_near(const tape&, trace::type, const void* weights, std::size_t count);

/// Whether so many weights of the host's are arguments of the kernel of an array, or in memory.
bool are_arguments(std::size_t weights, const tape&, int dimension);
/// Throws usage_error unless there is such a centre and dimension.
void check_convolution(std::size_t weights, std::size_t centre, int dimension, const shape& box);
/// How many weights an array has. Throws usage_error for one of several dimensions.
std::size_t count_of_weights(const tape&);

}  // namespace array

/// An array as a stencil's function sees it from each element.
template <class T>
class neighbours {
public:
    neighbours(array::stencil_inputs& from, std::size_t number, const array::region& where, border beyond,
               std::optional<T> constant)
        : from_(from), number_(number), where_(where), beyond_(beyond), constant_(constant) {}

    /// The element so many places away along each dimension: u(0, -1) is the one before in the same row.
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
    /// The element's own index along a dimension, counted from 0.
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
        return border::clamp;  // so that no position is outside
}
template <class T, border_rule B>
std::optional<T> constant_of(const B& beyond) {
    if constexpr (std::same_as<B, border>)
        return std::nullopt;
    else {
        static_assert(balm::array_operand<T>,
                      "Balm: structures have no constant border; take clamp, wrap or mirror");
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

/// An expression whose element is f(u, v, …): u, v, … are the arrays as seen from it (balm::neighbours), all
/// of the same extents, in one to eight dimensions. f gives an expression of what it reads, numbers and
/// functions; other arrays are given to the stencil. It is called when the stencil is made, several times.
///
/// The stencil is computed as a whole before the expression that it is part of; assigned to a vector alone,
/// in place. Elements whose neighbours are all inside are computed by one kernel, which loads what they share
/// once (see docs/stencils.md); those along the border by small ones. Neighbours of an expression are
/// computed for each element that reads them. Throws usage_error for arrays of other extents, and where f
/// reads an array by its name.
///
///     y = balm::stencil(balm::border::wrap,
///                       [](const auto& u, const auto& k) { return k(0) * (u(1) - 2 * u(0) + u(-1)); }, x,
///                       conductivity);
template <detail::border_rule B, class F, array_value... A>
requires(sizeof...(A) > 0) auto stencil(const B& beyond, F&& f, const A&... arrays) {
    using made = std::invoke_result_t<F&, const neighbours<detail::element_of<A>>&...>;
    static_assert(array_value<made>, "Balm: the function of a stencil gives an expression of what it reads");
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

/// Which of the weights is an element's own, and along which dimension the convolution is.
struct convolution {
    std::optional<std::size_t> centre{};  ///< the middle one, of an even number the second of both
    std::optional<int> dimension{};       ///< the last one
};

namespace detail {

template <class R>
trace::node zero_of(const trace::node*) {
    return dsl::detail::result_node(dsl::Var<R>());
}
/// How weights of W and values of T are combined, as the kernel language does.
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

/// The type with which host weights enter products with elements of T.
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

/// A convolution whose weights, elements of U, are in memory.
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

/// A convolution whose weights are the arguments of a stencil.
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
/// centre - k], added up in the order of k. There may be any number of weights, also more than elements;
/// changing host weights never recompiles. Throws usage_error for no weights, and for a centre or
/// dimension that is not there.
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
