#pragma once
// Names for the types of images, shared by dialects.

#include <string>

#include "ir/ir.hpp"

namespace balm::emit {

/// The scalar type of the four values that reads and writes of such images use.
scalar register_of(ir::type image);
/// "2d_u8x4", "2d_n_u8x4" (normalised): a word for names of helper functions.
std::string image_word(ir::type image);

}  // namespace balm::emit
