#include "algorithm/sort/sort_key.hpp"

#include <type_traits>

#include "balm/dsl/conversion.hpp"

namespace balm::array {

namespace {

using dsl::cast;
using dsl::Int;
using dsl::Var;

/// The number of NaNs of one sign.
std::uint64_t nan_count(scalar type) {
    switch (type) {
        case scalar::f16: return (std::uint64_t{1} << 10) - 1;
        case scalar::f32: return (std::uint64_t{1} << 23) - 1;
        default: return (std::uint64_t{1} << 52) - 1;
    }
}

/// Maps floats by inverting the sign bit of positive ones and all bits of negative ones (Terdiman, Radix sort
/// revisited, 2000). NaNs of one sign become the least numbers, and subtracting their count wraps them to the
/// end. Bits above the key's own are unspecified.
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
U own_bits(const key_order& how) {
    return static_cast<U>(~U{0} >> (8 * sizeof(U) - static_cast<std::size_t>(how.bits())));
}
template <class U>
Var<U> key_of(const Var<U>& number, const key_order& how) {
    if (!is_floating(how.type)) return ascending_number(number, how);  // its own inverse
    const int width = how.bits();
    const U top = U{1} << (width - 1), all = own_bits<U>(how);
    const Var<U> own = number + static_cast<U>(nan_count(how.type));
    const Var<U> ascending = (how.is_descending ? Var<U>(own ^ all) : own) & all;
    const Var<U> if_negative = (ascending >> (width - 1)) - U{1};
    return ascending ^ (if_negative | top);
}

/// The number of the first NaN.
template <class U>
U first_nan(const key_order& how) {
    return own_bits<U>(how) - static_cast<U>(2 * nan_count(how.type) - 1);
}
template <class U>
Var<U> rank_of(const Var<U>& number, const key_order& how) {
    return is_floating(how.type) ? Var<U>(dsl::min(number, first_nan<U>(how))) : Var<U>(number);
}
/// The digits of all NaNs are those of the greatest number, because tiles of GPUs are padded with it: the
/// padding remains last.
template <class U>
Int digit(const Var<U>& number, const key_order& how, const digit_place& at) {
    const U greatest = static_cast<U>((U{1} << at.bits) - 1);
    const Int own = cast<int>(number >> at.shift & greatest);
    if (!is_floating(how.type) || !at.has_nans) return own;
    return dsl::select(number >= first_nan<U>(how), static_cast<int>(greatest), own);
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

namespace {

template <class U>
trace::node mapped(Var<U> (*map)(const Var<U>&, const key_order&), const trace::node& bits,
                   const key_order& how) {
    return trace::convert(block::node_of(map(Var<U>(trace::convert(bits, scalar_of<U>)), how)),
                          how.bits_type());
}

}  // namespace

std::shared_ptr<vector_state> bits_of(const vector_state& v) {
    return std::make_shared<vector_state>(v.memory(), unsigned_of_bytes(v.element_size()), v.size(),
                                          v.offset());
}

trace::node ordered_number(const trace::node& key_bits, const key_order& how) {
    return how.bits() == 64 ? mapped<std::uint64_t>(ascending_number, key_bits, how)
                            : mapped<std::uint32_t>(ascending_number, key_bits, how);
}
trace::node key_of_number(const trace::node& number, const key_order& how) {
    return how.bits() == 64 ? mapped<std::uint64_t>(key_of, number, how)
                            : mapped<std::uint32_t>(key_of, number, how);
}

trace::node rank_of_number(const trace::node& number, const key_order& how) {
    return how.bits() == 64 ? mapped<std::uint64_t>(rank_of, number, how)
                            : mapped<std::uint32_t>(rank_of, number, how);
}

Int digit_of_number(const trace::node& number, const key_order& how, const digit_place& at) {
    return how.bits() == 64 ? digit(Var<std::uint64_t>(trace::convert(number, scalar::u64)), how, at)
                            : digit(Var<std::uint32_t>(trace::convert(number, scalar::u32)), how, at);
}
Int digit_of(const trace::node& key_bits, const key_order& how, const digit_place& at) {
    return digit_of_number(ordered_number(key_bits, how), how, at);
}

}  // namespace balm::array
