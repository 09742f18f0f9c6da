#pragma once
// Operands whose axes have letters: their transposes, diagonals and sums, as tapes.

#include <cstdint>
#include <string>
#include <string_view>

#include "algorithm/contract/subscripts.hpp"
#include "balm/expr.hpp"

namespace balm::array {

/// A tape whose elements are read at one affine position, and a letter for each dimension of that position;
/// no letters if it has one element.
struct labelled {
    tape values;
    std::string letters;

    /// The map from the axes to the positions that are read.
    const affine_map& map() const { return values.maps[values.steps[0].leaf]; }
    /// The stride between elements along the axes of a letter.
    std::int64_t stride_of(char letter) const {
        std::int64_t sum = 0;
        for (std::size_t d = 0; d < letters.size(); ++d)
            if (letters[d] == letter) sum += map().strides[d];
        return sum;
    }
    /// Whether the elements are read from a vector as they are.
    bool is_of_vector() const {
        return values.steps.size() == 4 && values.steps[2].what == step::kind::vector;
    }
};

/// The operand with each letter once; a repeated letter takes the diagonal.
labelled with_letters(const tape& operand, std::string_view letters, const letter_extents&);
/// The operand over these axes, in this order, repeated along those that it lacks. `letters` must name every
/// axis along which it has several elements.
labelled rearranged(const labelled&, std::string_view letters, const letter_extents&);
/// The operand from element `first` on along the axis of a letter; `extents` has the number of elements.
labelled part_of(const labelled&, char letter, std::size_t first, const letter_extents& extents);
/// The sums over all axes but `kept`, with the axes in the order of `kept`.
labelled summed(const labelled&, std::string_view kept, const letter_extents&, scalar element);

}  // namespace balm::array
