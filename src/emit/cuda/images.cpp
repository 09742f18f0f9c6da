// PTX follows the PTX ISA, section 9.7.10 (tex, sust). `tex` always returns four 32-bit values, of which
// images with fewer lanes use the first ones; `sust.b` counts x in bytes, and its `.zero` drops writes beyond
// the edges.

#include "emit/cuda/images.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/builtin_spelling.hpp"
#include "emit/image_words.hpp"
#include "emit/lanes.hpp"
#include "emit/program_parts.hpp"

namespace balm::emit::cuda {

namespace {

/// The same as image_argument of driver/cuda/image.hpp.
void declare_image(program_parts& parts) {
    parts.use({"balm_image",
               "struct balm_image {\n    unsigned long long object;\n    int width, height, depth;\n};\n"});
}

/// "{%5, %6}": PTX operands from number `first` on; three dimensions take four operands.
std::string ptx_place(int first, int dimensions) {
    std::string list;
    for (int k = 0; k < (dimensions == 3 ? 4 : dimensions); ++k)
        list += fmt::format("{}%{}", k ? ", " : "", first + std::min(k, dimensions - 1));
    return "{" + list + "}";
}

std::string result_of_lanes(program_parts& parts, ir::type value, const char* const* lanes) {
    const std::string scalar_type = type_name(parts, ir::type(value.element));
    const auto lane = [&](int k) {
        return size_of(value.element) == 4 ? std::string(lanes[k])
                                           : fmt::format("({}){}", scalar_type, lanes[k]);
    };
    if (value.lanes == 1) return lane(0);
    std::string list;
    for (int k = 0; k < value.lanes; ++k) list += (k ? ", " : "") + lane(k);
    return fmt::format("{}({})", type_name(parts, value), list);
}

/// A function of coordinates that reads through the texture.
helper_function reader_function(program_parts& parts, ir::type image) {
    const int dimensions = image_dimensions(image);
    const ir::type value = value_of_image(image);
    const scalar four_of = register_of(image);
    const char* ptx_type = four_of == scalar::f32 ? "f32" : four_of == scalar::i32 ? "s32" : "u32";
    const char letter = four_of == scalar::f32 ? 'f' : 'r';
    constexpr const char* axes[] = {"x", "y", "z"};
    constexpr const char* lanes[] = {"r", "g", "b", "a"};
    std::string parameters = "const balm_image image", inputs = "\"l\"(image.object)";
    for (int d = 0; d < dimensions; ++d) {
        parameters += fmt::format(", float {}", axes[d]);
        inputs += fmt::format(", \"f\"({})", axes[d]);
    }
    const std::string body = fmt::format(
        "{0} r, g, b, a;\n"
        "    asm(\"tex.{1}d.v4.{2}.f32 {{%0, %1, %2, %3}}, [%4, {3}];\"\n"
        "        : \"={4}\"(r), \"={4}\"(g), \"={4}\"(b), \"={4}\"(a) : {5});\n"
        "    return {6};",
        type_name(parts, ir::type(four_of)), dimensions, ptx_type, ptx_place(5, dimensions), letter, inputs,
        result_of_lanes(parts, value, lanes));
    return make_helper(parts.language, "balm_read_" + image_word(image), type_name(parts, value), parameters,
                       body);
}

/// A lane of a value as the bits that the surface stores, an unsigned int.
std::string stored_lane(program_parts& parts, ir::type image, const std::string& lane) {
    if (is_normalised(image)) {
        // As in OpenCL C: scaled, saturated and rounded to nearest (OpenCL 1.2, section 8.3.1.1).
        const bool has_sign = is_signed(image.element);
        const int most = (1 << (8 * size_of(image.element) - (has_sign ? 1 : 0))) - 1;
        const helper_function fraction = make_helper(
            parts.language, "balm_fraction", "unsigned int", "float value, float least, float most",
            "return (unsigned int)__float2int_rn(\n"
            "        value != value ? 0.0f : fminf(fmaxf(value * most, least), most));");
        return fmt::format("{}({}, {}.0f, {}.0f)", parts.use(fraction), lane, has_sign ? -most - 1 : 0, most);
    }
    if (image.element == scalar::f16)
        return fmt::format("(unsigned int){}({})",
                           half_conversion(parts, ir::type(scalar::u16), ir::type(scalar::f32)), lane);
    if (image.element == scalar::f32) return fmt::format("__float_as_uint({})", lane);
    return fmt::format("(unsigned int){}", lane);
}

/// A function of a position that writes through the surface.
helper_function writer_function(program_parts& parts, ir::type image) {
    const int dimensions = image_dimensions(image);
    const ir::type value = value_of_image(image);
    constexpr const char* axes[] = {"x", "y", "z"};
    std::string parameters = "const balm_image image";
    std::string inputs =
        fmt::format(R"("l"(image.object), "r"(x * {}))", size_of(image.element) * image.lanes);
    for (int d = 0; d < dimensions; ++d) {
        parameters += fmt::format(", int {}", axes[d]);
        if (d > 0) inputs += fmt::format(", \"r\"({})", axes[d]);
    }
    parameters += fmt::format(", {} value", type_name(parts, value));
    std::string registers;
    for (int k = 0; k < image.lanes; ++k) {
        registers += fmt::format("{}%{}", k ? ", " : "", 1 + dimensions + k);
        const std::string lane = image.lanes == 1 ? "value" : "value." + lane_name(image.lanes, k);
        inputs += fmt::format(", \"r\"({})", stored_lane(parts, image, lane));
    }
    const std::string vector = image.lanes == 1 ? "" : fmt::format(".v{}", +image.lanes);
    // x beyond 2^31 bytes would wrap around to the front.
    const std::string body = fmt::format(
        "if (x < 0 || x >= image.width) return;\n"
        "    asm volatile(\"sust.b.{}d{}.b{}.zero [%0, {}], {{{}}};\"\n        : : {} : \"memory\");",
        dimensions, vector, 8 * size_of(image.element), ptx_place(1, dimensions), registers, inputs);
    return make_helper(parts.language, "balm_write_" + image_word(image), "void", parameters, body);
}

}  // namespace

std::string image_parameter(program_parts& parts, const ir::parameter&, const std::string& name) {
    declare_image(parts);
    return "const balm_image " + name;
}

text read_image(program_parts& parts, ir::type image, bool by_position, const std::string& name,
                const std::string&, const std::vector<std::string>& at) {
    const std::string reader = parts.use(reader_function(parts, image));
    std::vector<std::string> coordinates = at;
    if (by_position)  // the centre of the element
        for (std::string& each : coordinates) each = fmt::format("(float)({}) + 0.5f", each);
    return {fmt::format("{}({}, {})", reader, name, joined(coordinates)), postfix};
}

std::string image_writer(program_parts& parts, ir::type image) {
    return parts.use(writer_function(parts, image));
}

std::string image_size(const std::string& name, std::uint64_t dimension) {
    constexpr const char* words[] = {"width", "height", "depth"};
    return fmt::format("{}.{}", name, words[dimension]);
}

}  // namespace balm::emit::cuda
