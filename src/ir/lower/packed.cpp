#include "ir/lower/packed.hpp"

#include <algorithm>
#include <vector>

namespace balm::ir {

namespace {

value_id compose(scalar element, std::span<const value_id> values, builder& to) {
    if (values.size() == 1) return values[0];
    const type vector(element, static_cast<std::uint8_t>(values.size()));
    return to.make(opcode::compose, value_of_memory(vector), values);
}

}  // namespace

std::uint8_t packed_elements::elements() const {
    const std::size_t most = (element_ == scalar::f16 ? 8 : 16) / size_of(element_);
    return static_cast<std::uint8_t>(std::min<std::size_t>(width_, most));
}

type packed_elements::access() const {
    if (!is_in_words()) return type(element_, elements());
    if (elements() < elements_of_word()) return elements() * size_of(element_) == 1 ? element_ : scalar::u16;
    return type(scalar::u32, static_cast<std::uint8_t>(elements() / elements_of_word()));
}

value_id packed_elements::lane(value_id loaded, std::uint8_t k, builder& to) const {
    const type whole = to.type_of(loaded);
    if (elements() == 1) return loaded;
    if (!is_in_words()) return to.make(opcode::swizzle, whole.element, {loaded}, 0, k);
    value_id word = loaded;
    if (whole.lanes > 1)
        word = to.make(opcode::swizzle, scalar::u32, {loaded}, 0, k / elements_of_word());
    else if (whole.element != scalar::u32)
        word = to.make(opcode::convert, scalar::u32, {loaded});
    const std::uint64_t shift = bits() * (k % elements_of_word());
    if (shift > 0) word = to.apply(builtin::shr, word, to.constant(shift, scalar::u32), scalar::u32);
    if (element_ == scalar::boolean) word = to.make(opcode::convert, scalar::u8, {word});
    return to.make(opcode::convert, element_, {word});
}

value_id packed_elements::pack(std::span<const value_id> values, builder& to) const {
    return is_in_words() && elements() > 1 ? words(values, to) : compose(element_, values, to);
}

value_id packed_elements::words(std::span<const value_id> values, builder& to) const {
    const scalar part_type = size_of(element_) == 1 ? scalar::u8 : scalar::u16;
    std::vector<value_id> all;
    for (std::size_t k = 0; k < values.size(); ++k) {
        value_id part =
            to.make(opcode::convert, scalar::u32, {to.make(opcode::convert, part_type, {values[k]})});
        if (k % elements_of_word() == 0) {
            all.push_back(part);
            continue;
        }
        const value_id shift = to.constant(bits() * (k % elements_of_word()), scalar::u32);
        part = to.apply(builtin::shl, part, shift, scalar::u32);
        all.back() = to.apply(builtin::bit_or, all.back(), part, scalar::u32);
    }
    if (values.size() < elements_of_word()) return to.make(opcode::convert, scalar::u16, {all[0]});
    return compose(scalar::u32, all, to);
}

}  // namespace balm::ir
