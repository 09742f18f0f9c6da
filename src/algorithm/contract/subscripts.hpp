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
    std::array<std::string, 2> operands;  ///< the second one empty, where there is one operand
    std::string output;
};

/// Throws usage_error for what is no subscripts of as many operands.
subscripts parsed(std::string_view words, std::size_t operands);

/// How many elements there are along the axes of each letter.
class letter_extents {
public:
    /// Throws usage_error where letters and operands do not fit.
    letter_extents(const subscripts&, std::span<const shape> boxes, std::string_view words);
    std::size_t operator[](char letter) const { return extents_[static_cast<unsigned char>(letter)]; }
    /// Those of some letters; one element, where there is none.
    shape of(std::string_view letters) const;
    /// The same but for one letter.
    letter_extents with(char letter, std::size_t extent) const {
        letter_extents made = *this;
        made.extents_[static_cast<unsigned char>(letter)] = extent;
        return made;
    }

private:
    std::array<std::size_t, 256> extents_{};
};

/// The letters of the first list that the other one has, or has not, in order.
std::string common(std::string_view list, std::string_view others);
std::string without(std::string_view list, std::string_view others);
inline bool has(std::string_view list, char letter) { return list.find(letter) != std::string_view::npos; }

}  // namespace balm::array
