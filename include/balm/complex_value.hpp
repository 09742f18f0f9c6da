#pragma once
// Complex numbers on the host, as kernels accept them: std::complex<float>, or any type with the same layout.
// This header does not include <complex>; balm/dsl/complex.hpp defines the device types.

#include <concepts>
#include <iosfwd>
#include <type_traits>

#include "balm/types.hpp"

namespace balm {

/// A host type of two floating-point numbers, the real and the imaginary part, such as std::complex<T>.
template <class T>
concept complex_type = requires(const T& z) {
    typename T::value_type;
    { z.real() } -> std::convertible_to<typename T::value_type>;
    { z.imag() } -> std::convertible_to<typename T::value_type>;
}
&&std::floating_point<typename T::value_type> && sizeof(typename T::value_type) <= 8 &&
    sizeof(T) == 2 * sizeof(typename T::value_type) && std::is_trivially_copyable_v<T>;

/// Represents all complex types of one precision in kernels. It is aligned to its size, as on devices.
template <std::floating_point T>
struct alignas(2 * sizeof(T)) complex_value {
    using value_type = T;
    T real_part = 0, imaginary_part = 0;

    constexpr T real() const { return real_part; }
    constexpr T imag() const { return imaginary_part; }
    friend bool operator==(const complex_value&, const complex_value&) = default;
    /// The two parts in parentheses: (1, 2).
    friend std::ostream& operator<<(std::ostream& to, const complex_value& z) {
        return detail::print_lanes(to, scalar_of<T>, 2, &z);
    }
};

namespace detail {

template <class T>
inline constexpr bool is_complex_value = false;
template <std::floating_point T>
inline constexpr bool is_complex_value<complex_value<T>> = true;

}  // namespace detail
}  // namespace balm
