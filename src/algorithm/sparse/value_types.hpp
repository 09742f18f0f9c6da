#pragma once
// The types of matrix entries and column indices, as types of the host and of the kernel language.

#include <cstdint>
#include <utility>

#include "balm/complex_value.hpp"
#include "balm/device_type.hpp"

namespace balm::array {

/// Calls f.operator()<T, I>() for entries of T, or complex_value, and indices of I.
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

}  // namespace balm::array
