#pragma once
// Which slots of diagonals hold entries. Slots without one hold -0, in both parts of a complex number, and
// entries of this value are stored as +0: a sum that begins at +0 is the same with either. So zeros that the
// user stored meet infinite and NaN elements of the operand in every storage. Integers have no second zero;
// their zeros count as absent.

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "balm/complex_value.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/conversion.hpp"

namespace balm::array::diagonal_slots {

template <class T>
using bits_of = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// What a slot without an entry holds.
template <class T>
constexpr T absent() {
    if constexpr (balm::detail::is_complex_value<T>)
        return {absent<typename T::value_type>(), absent<typename T::value_type>()};
    else if constexpr (std::floating_point<T>)
        return T(-0.0);
    else
        return T{};
}
template <class T>
bool is_entry(const T& slot) {
    if constexpr (balm::detail::is_complex_value<T>)
        return is_entry(slot.real()) || is_entry(slot.imag());
    else if constexpr (std::floating_point<T>)
        return std::bit_cast<bits_of<T>>(slot) != std::bit_cast<bits_of<T>>(absent<T>());
    else
        return slot != T{};
}
/// An entry as diagonals store it.
template <class T>
T as_entry(const T& value) {
    return is_entry(value) ? value : T{};
}

// The same in the kernel language.

template <class T>
dsl::Bool is_entry(const dsl::Var<T>& slot) {
    if constexpr (balm::detail::is_complex_value<T>)
        return is_entry(slot.real()) | is_entry(slot.imag());
    else if constexpr (std::floating_point<T>)
        return dsl::bit_cast<bits_of<T>>(slot) != std::bit_cast<bits_of<T>>(absent<T>());
    else
        return slot != T{};
}
template <class T>
dsl::Var<T> as_entry(const dsl::Var<T>& value) {
    return dsl::Var<T>(dsl::select(is_entry(value), value, dsl::Var<T>()));
}

}  // namespace balm::array::diagonal_slots
