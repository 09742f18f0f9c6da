#pragma once
// Element types of vectors: scalars and OpenCL's short vectors (cl_float4 …), their names in OpenCL C, and
// the Balm types of the same layout.

#include "vexcl/detail/opencl.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstring>
#include <ostream>
#include <string>
#include <type_traits>

#include <balm/short_vector.hpp>
#include <balm/structure.hpp>
#include <balm/types.hpp>

#include "vexcl/detail/standard_headers.hpp"

/// OpenCL C's names of unsigned types, for code that host and device share.
typedef unsigned int uint;
typedef unsigned char uchar;

namespace vex {

/// The lane type of a short vector; a scalar type itself.
template <class T>
struct cl_scalar_of {};
/// The short vector of N lanes of type T; T itself if N is 1.
template <class T, int N>
struct cl_vector_of {};
/// The number of lanes of a short vector; 1 for a scalar.
template <class T>
struct cl_vector_length {};
/// Whether vectors may have elements of T. Specialise it as std::true_type for a std::array or std::complex
/// of scalars to store them as short vectors of the same layout.
template <class T>
struct is_cl_native : std::false_type {};
template <class T, T v>
struct is_cl_native<std::integral_constant<T, v>> : std::true_type {};

/// Specialise it with `static std::string get()` for the OpenCL C name of a custom type.
template <class T, class Enable = void>
struct type_name_impl;
/// The OpenCL C name of a type: "float4", "global double *".
template <class T>
std::string type_name() {
    return type_name_impl<T>::get();
}
template <class T>
struct type_name_impl<T&> {
    static std::string get() { return type_name<T>() + " &"; }
};
template <class T>
struct type_name_impl<const T> {
    static std::string get() { return "const " + type_name<T>(); }
};

namespace detail {

/// The scalar type of a nested std::array, and the total number of scalars.
template <class T>
struct packed_numbers {
    using type = T;
    static constexpr std::size_t count = 1;
};
template <class T, std::size_t N>
struct packed_numbers<std::array<T, N>> {
    using type = typename packed_numbers<T>::type;
    static constexpr std::size_t count = N * packed_numbers<T>::count;
};

/// The Balm element type of the same layout as a VexCL element type.
template <class T>
struct balm_element_of {};
template <balm::scalar_type T>
struct balm_element_of<T> {
    using type = balm::canonical<T>;
};
template <balm::structure_type T>
struct balm_element_of<T> {
    using type = T;
};
template <class T, std::size_t N>
requires(is_cl_native<std::array<T, N>>::value) struct balm_element_of<std::array<T, N>> {
    using numbers = packed_numbers<std::array<T, N>>;
    using type = balm::vec<balm::canonical<typename numbers::type>, static_cast<int>(numbers::count)>;
};
template <class T>
requires(is_cl_native<std::complex<T>>::value) struct balm_element_of<std::complex<T>> {
    using type = balm::vec<T, 2>;
};
template <class T>
using balm_element = typename balm_element_of<T>::type;

/// The VexCL element type of a Balm element type: cl_float4 for balm::float4; a scalar type itself.
template <class D>
struct host_element_of {
    using type = D;
};
template <class D>
using host_element = typename host_element_of<D>::type;

template <class T>
concept host_scalar = balm::scalar_type<std::remove_cvref_t<T>>;
template <class T>
concept host_vector = requires {
    requires(cl_vector_length<std::remove_cvref_t<T>>::value > 1);
};
/// A scalar or short vector on the host.
template <class T>
concept host_value = host_scalar<T> || host_vector<T>;

/// Converts an element to the other library's type: scalars by value, others bit by bit.
template <class T>
balm_element<T> to_balm(const T& value) {
    if constexpr (host_scalar<T>) {
        return static_cast<balm_element<T>>(value);
    } else {
        static_assert(sizeof(balm_element<T>) == sizeof(T));
        balm_element<T> same{};
        std::memcpy(&same, &value, sizeof same);
        return same;
    }
}
template <class T, class D>
T from_balm(const D& value) {
    if constexpr (balm::scalar_type<D>) {
        return static_cast<T>(value);
    } else {
        static_assert(sizeof(D) == sizeof(T));
        T same;
        std::memcpy(&same, &value, sizeof same);
        return same;
    }
}

}  // namespace detail

#define VEX_DECLARE_NUMBER(T, name)                                      \
    template <>                                                          \
    struct cl_scalar_of<T> {                                             \
        typedef T type;                                                  \
    };                                                                   \
    template <>                                                          \
    struct cl_vector_of<T, 1> {                                          \
        typedef T type;                                                  \
    };                                                                   \
    template <>                                                          \
    struct cl_vector_length<T> : std::integral_constant<unsigned, 1> {}; \
    template <>                                                          \
    struct is_cl_native<T> : std::true_type {};                          \
    template <>                                                          \
    struct type_name_impl<T> {                                           \
        static std::string get() { return name; }                        \
    };
VEX_DECLARE_NUMBER(float, "float")
VEX_DECLARE_NUMBER(double, "double")
VEX_DECLARE_NUMBER(char, "char")
VEX_DECLARE_NUMBER(signed char, "char")
VEX_DECLARE_NUMBER(unsigned char, "uchar")
VEX_DECLARE_NUMBER(short, "short")
VEX_DECLARE_NUMBER(unsigned short, "ushort")
VEX_DECLARE_NUMBER(int, "int")
VEX_DECLARE_NUMBER(unsigned, "uint")
VEX_DECLARE_NUMBER(long, "long")
VEX_DECLARE_NUMBER(unsigned long, "ulong")
VEX_DECLARE_NUMBER(long long, "long")
VEX_DECLARE_NUMBER(unsigned long long, "ulong")
#undef VEX_DECLARE_NUMBER

template <>
struct type_name_impl<bool> {
    static std::string get() { return "bool"; }
};
template <>
struct type_name_impl<void> {
    static std::string get() { return "void"; }
};

/// Whether T is a scalar that vectors may have as elements.
template <class T>
struct is_cl_scalar : std::bool_constant<detail::host_scalar<T> && is_cl_native<T>::value> {};
/// Whether T is one of OpenCL's short vectors.
template <class T>
struct is_cl_vector : std::bool_constant<detail::host_vector<T>> {};
/// The number of lanes of the smallest short vector that holds this many numbers.
template <unsigned Numbers>
struct cl_fit_vec_size : std::integral_constant<int, (Numbers <= 2   ? static_cast<int>(Numbers)
                                                      : Numbers <= 4 ? 4
                                                      : Numbers <= 8 ? 8
                                                                     : 16)> {};

/// Converts each lane to the lane type of To.
template <class To, class From>
To cl_convert(const From& from) {
    static_assert(cl_vector_length<To>::value == cl_vector_length<From>::value);
    To to;
    for (unsigned k = 0; k < cl_vector_length<To>::value; ++k)
        to.s[k] = static_cast<typename cl_scalar_of<To>::type>(from.s[k]);
    return to;
}

// ---- pointers in signatures of functions ----

/// A pointer into global memory; `T*` means the same.
template <class T>
struct global_ptr {};
/// A pointer into local memory.
template <class T>
struct shared_ptr {};
/// A pointer into private memory.
template <class T>
struct regstr_ptr {};
/// A pointer into constant memory.
template <class T>
struct constant_ptr {};

#define VEX_DECLARE_POINTER(Pointer, space)                                \
    template <class T>                                                     \
    struct type_name_impl<Pointer<T>> {                                    \
        static std::string get() { return space + type_name<T>() + " *"; } \
    };
VEX_DECLARE_POINTER(global_ptr, "global ")
VEX_DECLARE_POINTER(shared_ptr, "local ")
VEX_DECLARE_POINTER(regstr_ptr, "")
VEX_DECLARE_POINTER(constant_ptr, "constant ")
#undef VEX_DECLARE_POINTER
template <class T>
struct type_name_impl<T*> : type_name_impl<global_ptr<T>> {};

}  // namespace vex

// ---- short vectors ----

namespace vex {

#define VEX_DECLARE_SHORT_VECTOR(name, N)                                           \
    template <>                                                                     \
    struct cl_scalar_of<cl_##name##N> {                                             \
        typedef cl_##name type;                                                     \
    };                                                                              \
    template <>                                                                     \
    struct cl_vector_of<cl_##name, N> {                                             \
        typedef cl_##name##N type;                                                  \
    };                                                                              \
    template <>                                                                     \
    struct cl_vector_length<cl_##name##N> : std::integral_constant<unsigned, N> {}; \
    template <>                                                                     \
    struct is_cl_native<cl_##name##N> : std::true_type {};                          \
    template <>                                                                     \
    struct type_name_impl<cl_##name##N> {                                           \
        static std::string get() { return #name #N; }                               \
    };                                                                              \
    template <>                                                                     \
    struct detail::balm_element_of<cl_##name##N> {                                  \
        using type = balm::vec<balm::canonical<cl_##name>, N>;                      \
    };                                                                              \
    template <>                                                                     \
    struct detail::host_element_of<balm::vec<balm::canonical<cl_##name>, N>> {      \
        using type = cl_##name##N;                                                  \
    };
#define VEX_DECLARE_SHORT_VECTORS(name) \
    VEX_DECLARE_SHORT_VECTOR(name, 2)   \
    VEX_DECLARE_SHORT_VECTOR(name, 4)   \
    VEX_DECLARE_SHORT_VECTOR(name, 8)   \
    VEX_DECLARE_SHORT_VECTOR(name, 16)
VEX_DECLARE_SHORT_VECTORS(float)
VEX_DECLARE_SHORT_VECTORS(double)
VEX_DECLARE_SHORT_VECTORS(char)
VEX_DECLARE_SHORT_VECTORS(uchar)
VEX_DECLARE_SHORT_VECTORS(short)
VEX_DECLARE_SHORT_VECTORS(ushort)
VEX_DECLARE_SHORT_VECTORS(int)
VEX_DECLARE_SHORT_VECTORS(uint)
VEX_DECLARE_SHORT_VECTORS(long)
VEX_DECLARE_SHORT_VECTORS(ulong)
#undef VEX_DECLARE_SHORT_VECTORS
#undef VEX_DECLARE_SHORT_VECTOR

namespace detail {

/// A short vector itself, or a scalar broadcast to every lane.
template <class V, class A>
V all_lanes_of(const A& a) {
    if constexpr (std::is_same_v<V, A>) {
        return a;
    } else {
        V all;
        for (unsigned k = 0; k < cl_vector_length<V>::value; ++k)
            all.s[k] = static_cast<typename cl_scalar_of<V>::type>(a);
        return all;
    }
}

}  // namespace detail
}  // namespace vex

// Lane-by-lane arithmetic of short vectors and scalars on the host. OpenCL's types are in the global
// namespace, so argument-dependent lookup finds their operators there. They are templates because overloads
// for each type would all be candidates of every `+`.
#define VEX_LANE_BY_LANE(op)                                                                        \
    template <vex::detail::host_vector V, class A>                                                  \
    requires(std::is_same_v<V, A> || std::is_arithmetic_v<A>) V& operator op##=(V& a, const A& b) { \
        const V each = vex::detail::all_lanes_of<V>(b);                                             \
        for (unsigned k = 0; k < vex::cl_vector_length<V>::value; ++k) a.s[k] op## = each.s[k];     \
        return a;                                                                                   \
    }                                                                                               \
    template <vex::detail::host_vector V, class A>                                                  \
    requires(std::is_same_v<V, A> || std::is_arithmetic_v<A>) V operator op(V a, const A& b) {      \
        return a op## = b;                                                                          \
    }                                                                                               \
    template <class A, vex::detail::host_vector V>                                                  \
    requires std::is_arithmetic_v<A> V operator op(const A& a, const V& b) {                        \
        return vex::detail::all_lanes_of<V>(a) op b;                                                \
    }
VEX_LANE_BY_LANE(+)
VEX_LANE_BY_LANE(-)
VEX_LANE_BY_LANE(*)
VEX_LANE_BY_LANE(/)
#undef VEX_LANE_BY_LANE
template <vex::detail::host_vector V>
V operator-(const V& a) {
    return 0 - a;
}
/// Prints the lanes in braces.
template <vex::detail::host_vector V>
std::ostream& operator<<(std::ostream& to, const V& v) {
    for (unsigned k = 0; k < vex::cl_vector_length<V>::value; ++k) to << (k == 0 ? "{" : ",") << +v.s[k];
    return to << '}';
}
