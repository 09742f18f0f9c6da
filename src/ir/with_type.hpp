#pragma once
// Dispatches from a type known at run time to one known at compile time.

#include <cstdint>
#include <type_traits>

#include "balm/types.hpp"

namespace balm::ir {

/// Calls f with the std::type_identity of the scalar's host type.
template <class F>
auto with_type(scalar s, F&& f) {
    switch (s) {
        case scalar::boolean: return f(std::type_identity<bool>{});
        case scalar::i8: return f(std::type_identity<std::int8_t>{});
        case scalar::u8: return f(std::type_identity<std::uint8_t>{});
        case scalar::i16: return f(std::type_identity<std::int16_t>{});
        case scalar::u16: return f(std::type_identity<std::uint16_t>{});
        case scalar::i32: return f(std::type_identity<std::int32_t>{});
        case scalar::u32: return f(std::type_identity<std::uint32_t>{});
        case scalar::i64: return f(std::type_identity<std::int64_t>{});
        case scalar::u64: return f(std::type_identity<std::uint64_t>{});
        case scalar::f32: return f(std::type_identity<float>{});
        default: return f(std::type_identity<double>{});
    }
}

}  // namespace balm::ir
