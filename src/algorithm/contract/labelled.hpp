#pragma once
// Operands whose axes have letters: their transposes, diagonals and sums, as tapes.

#include <cstdint>
#include <string>
#include <string_view>

#include "algorithm/contract/subscripts.hpp"
#include "balm/expr.hpp"

namespace balm::array {

/// A tape whose elements are read at one affine position, and a letter for each dimension of that; none, of
/// one element.
struct labelled {
    tape values;
    std::string letters;

    /// Where the elements lie in what is read.
    const affine_map& map() const { return values.maps[values.steps[0].leaf]; }
    /// From one element to the next along the axes of a letter.
    std::int64_t stride_of(char letter) const {
        std::int64_t sum = 0;
        for (std::size_t d = 0; d < letters.size(); ++d)
            if (letters[d] == letter) sum += map().strides[d];
        return sum;
    }
    /// Whether this is an element of a vector.
    bool is_of_vector() const {
        return values.steps.size() == 4 && values.steps[2].what == step::kind::vector;
    }
};

/// The operand with each letter once: what has a letter twice is its diagonal.
labelled with_letters(const tape& operand, std::string_view letters, const letter_extents&);
/// The operand over axes in this order. It is repeated along those that it lacks; it lacks none of them in
/// which it has several elements.
labelled rearranged(const labelled&, std::string_view letters, const letter_extents&);
/// The operand from an element on along the axis of a letter, of as many as `extents` says.
labelled part_of(const labelled&, char letter, std::size_t first, const letter_extents& extents);
/// The sums over all axes but the ones that are kept, in the order of these.
labelled summed(const labelled&, std::string_view kept, const letter_extents&, scalar element);

}  // namespace balm::array
