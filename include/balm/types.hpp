#pragma once
// The element types of Balm, by size and signedness, shared by host arrays, device values and kernel
// parameters. `long` and `long long` are the same type here if both have 64 bits.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

namespace balm {

/// The scalar types of the device. A boolean is one byte in memory; f16 is a memory type only, and is
/// computed as f32.
enum class scalar : std::uint8_t { nothing, boolean, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16 };

/// The three kinds of scalar: a value never narrows implicitly to a smaller kind.
enum class scalar_kind : std::uint8_t { boolean, integer, floating };

constexpr bool is_floating(scalar s) { return s >= scalar::f32; }
constexpr bool is_integer(scalar s) { return s >= scalar::i8 && s <= scalar::u64; }
constexpr bool is_signed(scalar s) {
    return s == scalar::i8 || s == scalar::i16 || s == scalar::i32 || s == scalar::i64 || is_floating(s);
}
constexpr scalar_kind kind_of(scalar s) {
    return is_floating(s)  ? scalar_kind::floating
           : is_integer(s) ? scalar_kind::integer
                           : scalar_kind::boolean;
}
/// Bytes of one element in memory.
constexpr std::size_t size_of(scalar s) {
    constexpr std::uint8_t sizes[] = {0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2};
    return sizes[static_cast<std::size_t>(s)];
}
/// "bool", "i8" … "f64".
const char* to_string(scalar) noexcept;

/// A host type that is an element type of Balm.
template <class T>
concept scalar_type = std::is_arithmetic_v<T> && !std::same_as<T, long double> && sizeof(T) <= 8;

namespace detail {

template <class T>
constexpr scalar scalar_of_type() {
    if constexpr (std::same_as<T, bool>)
        return scalar::boolean;
    else if constexpr (std::floating_point<T>)
        return sizeof(T) == 4 ? scalar::f32 : scalar::f64;
    else {
        constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<scalar>(static_cast<int>(scalar::i8) + 2 * log + (std::is_signed_v<T> ? 0 : 1));
    }
}

template <scalar S>
using scalar_tag = std::integral_constant<scalar, S>;

// Declared only: their return types are the host types of the scalars.
void host_of(scalar_tag<scalar::nothing>);
bool host_of(scalar_tag<scalar::boolean>);
std::int8_t host_of(scalar_tag<scalar::i8>);
std::uint8_t host_of(scalar_tag<scalar::u8>);
std::int16_t host_of(scalar_tag<scalar::i16>);
std::uint16_t host_of(scalar_tag<scalar::u16>);
std::int32_t host_of(scalar_tag<scalar::i32>);
std::uint32_t host_of(scalar_tag<scalar::u32>);
std::int64_t host_of(scalar_tag<scalar::i64>);
std::uint64_t host_of(scalar_tag<scalar::u64>);
float host_of(scalar_tag<scalar::f32>);
double host_of(scalar_tag<scalar::f64>);

template <scalar S>
struct host_type {
    using type = decltype(host_of(scalar_tag<S>{}));
};

}  // namespace detail

/// The Balm scalar of a host type.
template <scalar_type T>
inline constexpr scalar scalar_of = detail::scalar_of_type<T>();

/// The canonical host type of a size and signedness (`long` -> `std::int64_t`).
template <scalar_type T>
using canonical = typename detail::host_type<scalar_of<T>>::type;

/// C++'s usual arithmetic conversions, by size and signedness.
constexpr scalar promote(scalar s) {
    return s < scalar::i32 ? scalar::i32 : s == scalar::f16 ? scalar::f32 : s;
}
constexpr scalar common_scalar(scalar a, scalar b) {
    a = promote(a);
    b = promote(b);
    return a > b ? a : b;  // the order of the enumeration is the rank: u32 beats i32, i64 beats u32 …
}
/// A host scalar beside device values is weak: it takes their type if that is of the same or a greater kind
/// (`Float x; x * 2.0` is a Float); otherwise C++'s promotion applies (`Int i; i * 2.5` is a Double).
constexpr scalar common_with_weak(scalar strong, scalar weak) {
    return kind_of(weak) <= kind_of(strong) ? promote(strong) : common_scalar(strong, weak);
}

namespace detail {
/// Prints contiguous numbers, in parentheses, in the format of the stream.
std::ostream& print_lanes(std::ostream&, scalar, std::uint8_t lanes, const void* at);
}  // namespace detail

}  // namespace balm
