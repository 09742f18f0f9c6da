#pragma once
// The parameters of kernels and device functions, one specialisation for each kind: how a trace declares it,
// what the host binds to it at a launch, and what a call inside a kernel passes. The types decide what fits;
// a static_assert reports a mistake in a sentence.

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "balm/bound_kernel.hpp"
#include "balm/dsl/image.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/value.hpp"
#include "balm/sampler.hpp"
#include "balm/shape.hpp"
#include "balm/structure.hpp"
#include "balm/trace.hpp"

namespace balm {

/// Local memory for a kernel's `Local<T>` parameter: room for `count` elements in each work-group.
template <class T>
requires element_type<T> || complex_type<T>
struct local {
    explicit local(std::size_t element_count) : count(element_count) {}
    std::size_t count;
};
/// `byte_count` bytes of local memory, as an argument of a text kernel without a signature, whose text
/// declares the element type: `kernel(balm::local_bytes(1024), n)`.
struct local_bytes {
    explicit local_bytes(std::size_t byte_count) : count(byte_count) {}
    std::size_t count;
};

namespace detail {

/// A host object for device memory, which declares its element type and how kernels may access it.
template <class A>
concept memory_argument = requires(const A& a) {
    typename A::value_type;
    a.storage();
    { A::kernels_may_read } -> std::convertible_to<bool>;
    { A::kernels_may_write } -> std::convertible_to<bool>;
};

template <class A>
bound_argument bind_memory(const A& a) {
    bound_argument bound;
    bound.what = bound_argument::kind::memory;
    bound.memory = a.storage();
    if constexpr (requires { a.byte_offset(); }) {  // perhaps a part of the allocation
        bound.offset = a.byte_offset();
        bound.extent = a.size_bytes();
    } else {
        bound.extent = a.size() * sizeof(typename A::value_type);
    }
    if constexpr (requires { a.shape(); }) {
        const shape sizes = a.shape();
        bound.dimensions = static_cast<std::uint8_t>(sizes.dimensions());
        bound.inner_extents = {static_cast<std::int64_t>(sizes[1]), static_cast<std::int64_t>(sizes[2])};
    }
    return bound;
}
/// Whether two host types are the same element: `long` and `std::int64_t` are.
template <class A, class B>
inline constexpr bool is_same_element = std::same_as<A, B>;
template <scalar_type A, scalar_type B>
inline constexpr bool is_same_element<A, B> = scalar_of<A> == scalar_of<B>;

bound_argument bind_value(const void* bytes, std::size_t size);
bound_argument bind_local(std::size_t count, std::size_t element_size, std::size_t alignment);
bound_argument bind_image(const std::shared_ptr<runtime::storage>&, const sampler&);
[[noreturn]] void argument_does_not_fit(scalar type, scalar given, std::uint64_t value);

#define BALM_HOST_PARAMETER                                                                                   \
    "Balm: parameters must have device types: Int, Float, …, In<T>, Out<T>, InOut<T>, Local<T>; by value, " \
    "not by reference"

/// How each kind of kernel parameter is declared in a trace, and bound to a host argument.
template <class P>
struct parameter {
    static_assert(dsl::detail::always_false<P>, BALM_HOST_PARAMETER);
};

template <scalar_type T>
struct parameter<dsl::Var<T>> {
    static trace::type element() { return scalar_of<T>; }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A& value) {
        static_assert(scalar_type<A>, "Balm: this parameter is passed by value; pass a host scalar");
        static_assert(kind_of(scalar_of<A>) <= kind_of(scalar_of<T>),
                      "Balm: this host value would narrow to the parameter's type; cast it");
        const T converted = static_cast<T>(value);
        if constexpr (std::integral<T> && !std::same_as<T, bool> && std::integral<A>)
            if (!std::in_range<T>(static_cast<canonical_integer<A>>(value)))
                argument_does_not_fit(scalar_of<T>, scalar_of<A>, static_cast<std::uint64_t>(value));
        return bind_value(&converted, sizeof converted);
    }

private:
    /// A type that std::in_range accepts: bool and character types become integers of their size.
    template <class A>
    using canonical_integer =
        std::conditional_t<std::same_as<A, bool>, unsigned char, typename host_type<scalar_of<A>>::type>;
};

/// Vectors and structures are passed in their memory layout.
template <class T>
requires vector_type<T> || structure_type<T>
struct parameter<dsl::Var<T>> {
    static trace::type element() { return type_of_element<T>(); }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A& value) {
        static_assert(std::same_as<A, T>,
                      "Balm: this parameter is a vector or a structure by value; pass one of the same type");
        return bind_value(&value, sizeof value);
    }
};

/// Pointers are parameters of functions only; kernels take memory.
template <class T, space Where>
struct parameter<dsl::Ptr<T, Where>> {
    static trace::type element() { return dsl::Ptr<T, Where>::type(); }
    static constexpr trace::access use = trace::access::value;

    template <class A>
    static bound_argument bind(const A&) {
        static_assert(dsl::detail::always_false<A>,
                      "Balm: a kernel cannot take pointers; take In<T>, Out<T>, InOut<T> or Local<T>, and "
                      "address_of their elements");
        return {};
    }
};

template <class P, bool Reads, bool Writes>
struct memory_parameter {
    using T = typename P::value_type;
    static trace::type element() { return type_of_element<T>(); }
    static constexpr trace::access use = P::use;

    template <class A>
    static bound_argument bind(const A& a) {
        static_assert(memory_argument<A>, "Balm: this parameter is memory; pass a buffer or a vector");
        static_assert(is_same_element<typename A::value_type, T>,
                      "Balm: the buffer and the parameter have different element types");
        static_assert(!Reads || A::kernels_may_read,
                      "Balm: an out buffer cannot be an argument for In or InOut; kernels may only write it");
        static_assert(!Writes || A::kernels_may_write,
                      "Balm: an in buffer cannot be an argument for Out or InOut; kernels may only read it");
        return bind_memory(a);
    }
};
template <class T, int N>
struct parameter<dsl::In<T, N>> : memory_parameter<dsl::In<T, N>, true, false> {};
template <class T, int N>
struct parameter<dsl::Out<T, N>> : memory_parameter<dsl::Out<T, N>, false, true> {};
template <class T, int N>
struct parameter<dsl::InOut<T, N>> : memory_parameter<dsl::InOut<T, N>, true, true> {};

template <class T>
struct parameter<dsl::Local<T>> {
    static trace::type element() { return type_of_element<typename dsl::Local<T>::value_type>(); }
    static constexpr trace::access use = trace::access::local;

    static bound_argument bind(const local<T>& room) { return bind_local(room.count, sizeof(T), alignof(T)); }
};

/// An image has the element type and dimensions of the parameter; a sampled image brings its sampler.
template <class P>
struct image_parameter {
    using T = typename P::value_type;
    static trace::type element() { return type_of_image<T>(P::dimensions); }
    static constexpr trace::access use = P::use;

    template <class A>
    static constexpr void check() {
        if constexpr (is_sampled) {
            static_assert(
                requires(const A& a) { a.through(); },
                "Balm: this parameter is a sampled image; pass image.sampled(sampler)");
            static_assert(
                std::same_as<typename A::value_type, T> && A::dimensions == P::dimensions,
                "Balm: the image and the parameter have different element types or numbers of dimensions");
        } else {
            static_assert(
                requires { typename A::image_value_type; },
                "Balm: this parameter is an image; pass a whole image, without a sampler");
            static_assert(
                std::same_as<typename A::image_value_type, T> && A::dimensions == P::dimensions,
                "Balm: the image and the parameter have different element types or numbers of dimensions");
        }
    }
    template <class A>
    static bound_argument bind(const A& a) {
        check<A>();
        if constexpr (is_sampled)
            return bind_image(a.part().memory, a.through());
        else
            return bind_image(a.part().memory, {});
    }

private:
    static constexpr bool is_sampled = P::use == trace::access::sampled_image;
};
template <class T, int N>
struct parameter<dsl::InImage<T, N>> : image_parameter<dsl::InImage<T, N>> {};
template <class T, int N>
struct parameter<dsl::OutImage<T, N>> : image_parameter<dsl::OutImage<T, N>> {};
template <class T, int N>
struct parameter<dsl::Sampled<T, N>> : image_parameter<dsl::Sampled<T, N>> {};

template <class P>
inline constexpr bool parameter_is_image =
    parameter<P>::use == trace::access::in_image || parameter<P>::use == trace::access::sampled_image ||
    parameter<P>::use == trace::access::out_image;

/// The node that is passed for an argument of a call inside a kernel.
template <class P, class A>
trace::node argument_node(A&& a) {
    if constexpr (parameter<P>::use == trace::access::value)
        return dsl::detail::result_node(P(static_cast<A&&>(a)));
    else {
        static_assert(
            requires { std::remove_cvref_t<A>::use; },
            "Balm: this parameter is memory; pass an In, Out, InOut or Local parameter of the calling "
            "kernel");
        static_assert(P::use == std::remove_cvref_t<A>::use,
                      "Balm: memory can only be passed to a parameter of the same kind: In to In, InOut to "
                      "InOut, Local to Local");
        static_assert(is_same_element<typename std::remove_cvref_t<A>::value_type, typename P::value_type>,
                      "Balm: the memory and the parameter have different element types");
        static_assert(!parameter_is_image<P> || std::remove_cvref_t<A>::dimensions == P::dimensions,
                      "Balm: the image and the parameter have different numbers of dimensions");
        return a.node();
    }
}

}  // namespace detail

namespace dsl::detail {

/// An argument of a function that exists only while a kernel is traced.
template <class A>
concept on_device = device_value<A> || requires(const A& a) {
    a.balm_place();
} || requires(const A& a) {
    { a.node() } -> std::convertible_to<node>;
};

}  // namespace dsl::detail

}  // namespace balm
