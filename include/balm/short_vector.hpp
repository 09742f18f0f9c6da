#pragma once
// Short vectors on the host, with the layout that they have on devices: aligned to their size, three lanes as
// four.
//
//     balm::float4 v{1, 2, 3, 4};
//     v.x = v[1];
//     auto positions = device.in_buffer<balm::float4>(n);

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

#include "balm/types.hpp"

namespace balm {

/// A 16-bit floating-point number (IEEE 754 binary16), for memory; kernels compute with it as f32.
struct half {
    std::uint16_t bits = 0;

    half() = default;
    /// The nearest half, ties to even; overflow becomes infinity.
    explicit half(float);
    explicit half(double);
    template <std::integral T>
    explicit half(T value)
        : half(static_cast<float>(value)) {}  // which is exact up to 2^24, beyond the greatest half
    explicit operator float() const;
    friend bool operator==(half a, half b) { return static_cast<float>(a) == static_cast<float>(b); }
    /// Prints the number, as the stream prints floats.
    friend std::ostream& operator<<(std::ostream& to, half value) { return write(to, value); }

private:
    static std::ostream& write(std::ostream&, half);
};

namespace detail {

template <class T>
inline constexpr bool is_lane = std::same_as<T, half>;
template <scalar_type T>
inline constexpr bool is_lane<T> = std::same_as<T, canonical<T>>;

template <class T>
inline constexpr scalar lane_scalar = scalar::f16;  // half
template <scalar_type T>
inline constexpr scalar lane_scalar<T> = scalar_of<T>;

template <class T, int N>
struct lanes {
    T s[N];
};
template <class T>
struct lanes<T, 2> {
    T x, y;
};
template <class T>
struct lanes<T, 3> {
    T x, y, z;
};
template <class T>
struct lanes<T, 4> {
    T x, y, z, w;
};

constexpr std::size_t lanes_in_memory(int n) { return n == 3 ? 4 : static_cast<std::size_t>(n); }

}  // namespace detail

/// N = 2, 3, 4, 8 or 16 lanes of one scalar type. Lanes are named x, y, z, w, or s[0] … in longer ones;
/// `v[k]` works for all. Use the names float4, int2, uchar16 …
template <class T, int N>
requires detail::is_lane<T> &&(N == 2 || N == 3 || N == 4 || N == 8 ||
                               N == 16) struct alignas(sizeof(T) * detail::lanes_in_memory(N)) vec
    : detail::lanes<T, N> {
    using value_type = T;
    static constexpr int size() { return N; }

    T& operator[](int k) { return reinterpret_cast<T*>(this)[k]; }
    const T& operator[](int k) const { return reinterpret_cast<const T*>(this)[k]; }

    friend bool operator==(const vec& a, const vec& b) {
        for (int k = 0; k < N; ++k)
            if (!(a[k] == b[k])) return false;
        return true;
    }
    /// Prints the lanes in parentheses, as the stream prints numbers: (1, 2, 3, 4).
    friend std::ostream& operator<<(std::ostream& to, const vec& v) {
        return detail::print_lanes(to, detail::lane_scalar<T>, N, &v);
    }
};

namespace detail {

template <class T>
inline constexpr int lanes_of = 1;
template <class T, int N>
inline constexpr int lanes_of<vec<T, N>> = N;

}  // namespace detail

/// A host type that is a short vector.
template <class T>
concept vector_type = detail::lanes_of<std::remove_cvref_t<T>> >
1;

#define BALM_VECTORS(name, type)  \
    using name##2 = vec<type, 2>; \
    using name##3 = vec<type, 3>; \
    using name##4 = vec<type, 4>; \
    using name##8 = vec<type, 8>; \
    using name##16 = vec<type, 16>;
BALM_VECTORS(bool, bool)
BALM_VECTORS(char, std::int8_t)
BALM_VECTORS(uchar, std::uint8_t)
BALM_VECTORS(short, std::int16_t)
BALM_VECTORS(ushort, std::uint16_t)
BALM_VECTORS(int, std::int32_t)
BALM_VECTORS(uint, std::uint32_t)
BALM_VECTORS(long, std::int64_t)
BALM_VECTORS(ulong, std::uint64_t)
BALM_VECTORS(float, float)
BALM_VECTORS(double, double)
BALM_VECTORS(half, half)
#undef BALM_VECTORS

}  // namespace balm
