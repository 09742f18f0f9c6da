#pragma once
// The letters of an Einstein summation. In: the string, and the extents of the operands. Out: a letter for
// each axis, checked.

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "balm/shape.hpp"

namespace balm::array {

struct subscripts {
    std::array<std::string, 2> operands;  ///< the second is empty if there is one operand
    std::string output;
};

/// Throws usage_error unless `words` are valid subscripts of this number of operands.
subscripts parsed(std::string_view words, std::size_t operands);

/// The extent of the axes of each letter.
class letter_extents {
public:
    /// Throws usage_error if the letters do not fit the operands.
    letter_extents(const subscripts&, std::span<const shape> boxes, std::string_view words);
    std::size_t operator[](char letter) const { return extents_[static_cast<unsigned char>(letter)]; }
    /// The extents of these letters; one element if there are none.
    shape of(std::string_view letters) const;
    /// The same with another extent for one letter.
    letter_extents with(char letter, std::size_t extent) const {
        letter_extents made = *this;
        made.extents_[static_cast<unsigned char>(letter)] = extent;
        return made;
    }

private:
    std::array<std::size_t, 256> extents_{};
};

/// The letters of `list` that are (common) or are not (without) among `others`, in order.
std::string common(std::string_view list, std::string_view others);
std::string without(std::string_view list, std::string_view others);
inline bool has(std::string_view list, char letter) { return list.find(letter) != std::string_view::npos; }

}  // namespace balm::array
