#pragma once
// Calls of device functions in array expressions, one for each element; memory and images are passed whole.
// Included by balm/expr.hpp.

#include <type_traits>

#include "balm/device_function.hpp"
#include "balm/expression/assigned.hpp"
#include "balm/image_element.hpp"

namespace balm {

namespace detail {

/// The element type of a function's memory parameter; void for a parameter by value.
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
struct memory_parameter_of<dsl::InOut<T, N>> {
    using element = T;
};
template <class T, space Where>
struct memory_parameter_of<dsl::Ptr<T, Where>> {
    static constexpr bool is_vectors = Where == space::global || Where == space::constant;
    using element = std::conditional_t<is_vectors, T, volatile T>;
};
/// How a function uses the memory of a parameter of type P.
template <class P, class Element>
inline constexpr array::memory_use memory_use_of =
    std::is_const_v<Element> ? array::memory_use::read : array::memory_use::write;
template <class T, class Element>
inline constexpr array::memory_use memory_use_of<dsl::Ptr<T, space::constant>, Element> =
    array::memory_use::read_constant;

/// Appends an image for an image parameter.
template <class P, class A>
void append_image(array::tape& list, const A& a) {
    static_assert(
        P::use != trace::access::out_image,
        "Balm: a function in an expression can only read images: take InImage<T, N> or Sampled<T, N>");
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
void append_argument(array::tape& list, const A& a) {
    using element = typename memory_parameter_of<P>::element;
    if constexpr (is_host_call<A>) {
        append_argument<P>(list, per_element(a));
    } else if constexpr (parameter_is_image<P>) {
        append_image<P>(list, a);
    } else if constexpr (!std::is_void_v<element>) {
        static_assert(is_vector<A>, "Balm: this parameter is memory; pass a vector");
        static_assert(!std::is_volatile_v<element>,
                      "Balm: a function in an expression can only take global or constant memory: In<T>, "
                      "InOut<T>, Ptr<T>, ConstantPtr<T> …");
        if constexpr (is_vector<A>) {
            static_assert(is_same_element<typename A::value_type, std::remove_const_t<element>>,
                          "Balm: the vector and the parameter have different element types");
            list.push_memory(a.state(), memory_use_of<P, element>);
        }
    } else {
        using wanted_type = typename held_by<P>::type;
        static_assert(!host_elements<A>, BALM_HOST_ELEMENTS);
        if constexpr (host_elements<A>)
            return;
        else if constexpr (scalar_type<wanted_type> && are_scalars<A>()) {
            constexpr scalar wanted = scalar_of<wanted_type>;
            constexpr scalar given = array_entering<A>(wanted);
            static_assert(kind_of(given) <= kind_of(wanted), "Balm: this would narrow; cast it");
            append<given>(list, a);
        } else {
            append_as<wanted_type>(list, a);
        }
    }
}

}  // namespace detail

/// Calls a device function element by element. At least one argument is a vector or an expression. A memory
/// parameter, In<T> or Ptr<const T>, takes a whole vector of any size, and reads it at any position. A
/// ConstantPtr<T> takes a vector on one device, which is read from constant memory: throws usage_error if
/// constant memory has no room for it, or if the expression also reads it elsewhere.
///
///     auto force = balm::function("force", [](Index i, In<double> x) { … x[j] … });
///     f = force(balm::element_index(), x);
///
/// A function may write memory: InOut<T>, Out<T> or Ptr<T>. The order of the calls is unspecified; if several
/// calls access one element, use atomics. Such an expression is assigned, or evaluated by balm::eval only for
/// its side effects:
///
///     auto count = balm::function("count", [](UInt bin, InOut<int> bins) { atomic_inc(bins[bin]); });
///     balm::eval(count(x & 255u, bins));
///
/// An image parameter, InImage<T, N> or Sampled<T, N>, takes an image as in a kernel.
template <class R, class... P, class... A>
requires(array_value<A> || ...) auto call_function(const device_function<R, P...>& f, A&&... a) {
    array::tape list;
    (detail::append_argument<P>(list, a), ...);
    if constexpr (std::is_void_v<R>) {
        list.push_call(f.function(), {}, sizeof...(A));
        return expr<void>(std::move(list));
    } else {
        using result = typename detail::held_by<R>::type;
        static_assert(!std::is_void_v<result>,
                      "Balm: a function in an expression must return a single value");
        list.push_call(f.function(), detail::array_type<result>(), sizeof...(A));
        return expr<result>(std::move(list));
    }
}

/// The values of an image at coordinates, through its sampler: x along a row, then y, then z.
///
///     heights = balm::sample(map.sampled({.filter = balm::image_filter::linear}), x, y);
///     red = balm::lane<0>(balm::sample(photo.sampled(), x, y));
template <class T, int N, class... A>
requires array_operands<A...>
auto sample(const sampled_image<T, N>& image, A&&... at) {
    static_assert(sizeof...(A) == N, "Balm: an image of N dimensions is sampled at N coordinates");
    if constexpr (N == 1) {
        static const auto& look =
            *new auto(function("sample(image, x)", [](dsl::Sampled<T, 1> i, dsl::Float x) { return i(x); }));
        return call_function(look, image, static_cast<A&&>(at)...);
    } else if constexpr (N == 2) {
        static const auto& look = *new auto(function(
            "sample(image, x, y)", [](dsl::Sampled<T, 2> i, dsl::Float x, dsl::Float y) { return i(x, y); }));
        return call_function(look, image, static_cast<A&&>(at)...);
    } else {
        static const auto& look =
            *new auto(function("sample(image, x, y, z)", [](dsl::Sampled<T, 3> i, dsl::Float x, dsl::Float y,
                                                            dsl::Float z) { return i(x, y, z); }));
        return call_function(look, image, static_cast<A&&>(at)...);
    }
}

}  // namespace balm
