#include "support/interpreter_atomic.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace balm::test {

namespace {

template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);  // little-endian, as all hosts of Balm
    return value;
}
template <class T>
std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// An element after an atomic operation with these values.
template <class T>
std::uint64_t after(ir::atomic_op what, std::uint64_t old_bits, std::uint64_t a_bits, std::uint64_t b_bits) {
    const T old = from_bits<T>(old_bits), a = from_bits<T>(a_bits);
    if constexpr (std::is_floating_point_v<T>) {
        if (what == ir::atomic_op::add) return to_bits<T>(old + a);
        if (what == ir::atomic_op::sub) return to_bits<T>(old - a);
        if (what == ir::atomic_op::min) return a < old || std::isnan(old) ? a_bits : old_bits;
        if (what == ir::atomic_op::max) return a > old || std::isnan(old) ? a_bits : old_bits;
    } else {
        using U = std::make_unsigned_t<T>;
        switch (what) {
            case ir::atomic_op::add: return to_bits<U>(static_cast<U>(old) + static_cast<U>(a));
            case ir::atomic_op::sub: return to_bits<U>(static_cast<U>(old) - static_cast<U>(a));
            case ir::atomic_op::min: return to_bits<T>(a < old ? a : old);
            case ir::atomic_op::max: return to_bits<T>(a > old ? a : old);
            case ir::atomic_op::inc: return to_bits<T>(old >= a ? 0 : old + 1);
            case ir::atomic_op::dec: return to_bits<T>(old == 0 || old > a ? a : old - 1);
            case ir::atomic_op::bit_and: return old_bits & a_bits;
            case ir::atomic_op::bit_or: return old_bits | a_bits;
            case ir::atomic_op::bit_xor: return old_bits ^ a_bits;
            default: break;
        }
    }
    if (what == ir::atomic_op::exchange || what == ir::atomic_op::store) return a_bits;
    if (what == ir::atomic_op::load) return old_bits;
    if (what == ir::atomic_op::compare_exchange) return old_bits == a_bits ? b_bits : old_bits;
    throw std::runtime_error(fmt::format("interpreter: atomic {} of floats", ir::to_string(what)));
}
}  // namespace

std::uint64_t after_atomic(ir::atomic_op what, scalar s, std::uint64_t old, std::uint64_t a,
                           std::uint64_t b) {
    switch (s) {
        case scalar::i32: return after<std::int32_t>(what, old, a, b);
        case scalar::u32: return after<std::uint32_t>(what, old, a, b);
        case scalar::i64: return after<std::int64_t>(what, old, a, b);
        case scalar::u64: return after<std::uint64_t>(what, old, a, b);
        case scalar::f32: return after<float>(what, old, a, b);
        case scalar::f64: return after<double>(what, old, a, b);
        default: throw std::runtime_error(fmt::format("interpreter: atomic of {}", to_string(s)));
    }
}

}  // namespace balm::test
