#pragma once
// The types of matrix entries and column indices, on the host and in the kernel language.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "algorithm/sparse/operand_form.hpp"
#include "balm/complex_value.hpp"
#include "balm/device_type.hpp"
#include "balm/short_vector.hpp"

namespace balm::array {

/// Calls f.operator()<T, I>() for entries of T (complex ones are complex_value) and indices of I.
template <class F>
decltype(auto) with_types(trace::type value, scalar index, F&& f) {
    const auto with_value = [&]<class T>() -> decltype(auto) {
        if (index == scalar::i64) return f.template operator()<T, std::int64_t>();
        return f.template operator()<T, std::int32_t>();
    };
    const bool is_complex = value.lanes == 2;
    switch (value.element) {
        case scalar::i32: return with_value.template operator()<std::int32_t>();
        case scalar::u32: return with_value.template operator()<std::uint32_t>();
        case scalar::i64: return with_value.template operator()<std::int64_t>();
        case scalar::u64: return with_value.template operator()<std::uint64_t>();
        case scalar::f32:
            if (is_complex) return with_value.template operator()<complex_value<float>>();
            return with_value.template operator()<float>();
        default:
            if (is_complex) return with_value.template operator()<complex_value<double>>();
            return with_value.template operator()<double>();
    }
}

/// Integers wrap.
template <class T>
void add_to(T& sum, const T& more) {
    sum = static_cast<T>(sum + more);
}
inline void add_to(std::int32_t& sum, std::int32_t more) {
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(more));
}
inline void add_to(std::int64_t& sum, std::int64_t more) {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(more));
}
template <class T>
void add_to(complex_value<T>& sum, const complex_value<T>& more) {
    sum.real_part += more.real_part;
    sum.imaginary_part += more.imaginary_part;
}

/// Whether operands may hold several columns as lanes of short vectors.
constexpr bool has_lanes_of_columns(trace::type value) {
    return value.lanes == 1 && (value.element == scalar::f32 || value.element == scalar::f64);
}
/// Calls f.operator()<T, I, X>() for factors T, indices of I, and operands whose elements X are those of the
/// product or `lanes` lanes of it. A factor is an entry, converted to the product's type; beside a complex
/// operand, real entries stay real.
template <class F>
decltype(auto) with_operands(trace::type value, scalar index, const operand_form& form, F&& f) {
    return with_types(form.type, index, [&]<class P, class I>() -> decltype(auto) {
        if constexpr (std::floating_point<P>) {
            if (form.lanes == 8) return f.template operator()<P, I, vec<P, 8>>();
            if (form.lanes == 4) return f.template operator()<P, I, vec<P, 4>>();
            if (form.lanes == 2) return f.template operator()<P, I, vec<P, 2>>();
        }
        if constexpr (balm::detail::is_complex_value<P>)
            if (value.lanes == 1) return f.template operator()<typename P::value_type, I, P>();
        return f.template operator()<P, I, P>();
    });
}

}  // namespace balm::array
