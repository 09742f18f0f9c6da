#include "algorithm/sort/sort_key.hpp"

#include <type_traits>

#include "balm/dsl/conversion.hpp"

namespace balm::array {

namespace {

using dsl::cast;
using dsl::Int;
using dsl::Var;

/// NaNs of one sign.
std::uint64_t nan_count(scalar type) {
    switch (type) {
        case scalar::f16: return (std::uint64_t{1} << 10) - 1;
        case scalar::f32: return (std::uint64_t{1} << 23) - 1;
        default: return (std::uint64_t{1} << 52) - 1;
    }
}

/// Floats: the sign bit of positive ones and all bits of negative ones are inverted (Terdiman, Radix sort
/// revisited, 2000). NaNs of one sign are then the least numbers, and subtracting their count wraps them to
/// the end. What is above the key's own bits is of no meaning.
template <class U>
Var<U> ascending_number(const Var<U>& key, const key_order& how) {
    const int width = how.bits();
    const U top = U{1} << (width - 1), all = top | (top - 1);
    if (is_floating(how.type)) {
        const Var<U> if_negative = Var<U>(0) - (key >> (width - 1));
        const Var<U> number = key ^ (if_negative | top);
        return (how.is_descending ? Var<U>(number ^ all) : number) - static_cast<U>(nan_count(how.type));
    }
    const U inverted = (is_signed(how.type) ? top : U{0}) ^ (how.is_descending ? all : U{0});
    return inverted == 0 ? Var<U>(key) : key ^ inverted;
}

template <class U>
Int digit(const trace::node& key, const key_order& how, const Int& shift, int count) {
    const Var<U> number = ascending_number(Var<U>(trace::convert(key, scalar_of<U>)), how);
    return cast<int>(number >> shift & static_cast<U>((U{1} << count) - 1));
}

}  // namespace

scalar unsigned_of_bytes(std::size_t bytes) {
    switch (bytes) {
        case 1: return scalar::u8;
        case 2: return scalar::u16;
        case 4: return scalar::u32;
        default: return scalar::u64;
    }
}
scalar key_order::bits_type() const { return unsigned_of_bytes(size_of(type)); }

Int digit_of(const trace::node& key, const key_order& how, const Int& shift, int count) {
    return how.bits() == 64 ? digit<std::uint64_t>(key, how, shift, count)
                            : digit<std::uint32_t>(key, how, shift, count);
}

}  // namespace balm::array
