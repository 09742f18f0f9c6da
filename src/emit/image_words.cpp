#include "emit/image_words.hpp"

#include <fmt/format.h>

#include "emit/program_parts.hpp"

namespace balm::emit {

scalar register_of(ir::type image) {
    const scalar value = value_of_image(image).element;
    return is_floating(value) ? scalar::f32 : is_signed(value) ? scalar::i32 : scalar::u32;
}

std::string image_word(ir::type image) {
    const char* normalised = is_normalised(image) ? "n_" : "";
    return fmt::format("{}d_{}{}", image_dimensions(image), normalised,
                       type_word(ir::type(image.element, image.lanes)));
}

}  // namespace balm::emit
