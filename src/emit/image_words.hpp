#pragma once
// Words for the types of images that dialects share.

#include <string>

#include "ir/ir.hpp"

namespace balm::emit {

/// The scalar of the four values that images of these elements give and take.
scalar register_of(ir::type image);
/// "2d_u8x4", "2d_n_u8x4" (normalised): a word for names of helper functions.
std::string image_word(ir::type image);

}  // namespace balm::emit
