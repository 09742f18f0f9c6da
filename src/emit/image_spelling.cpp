// PTX is quoted from the PTX ISA, section 9.7.10 (tex, sust). `tex` always gives four values of 32 bits, of
// which an image of fewer numbers uses the first; `sust.b` counts x in bytes, and its `.zero` drops what lies
// beyond the edges. In OpenCL C the border of images of one or two numbers is (0, 0, 0, 1), of which only
// zeros are used (OpenCL 1.2, section 8.2).

#include "emit/image_spelling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/lanes.hpp"

namespace balm::emit {

namespace {

using runtime::dialect;

bool is_opencl(const program_parts& parts) { return parts.language == dialect::opencl_c; }

/// The scalar of the four values that images of these elements give and take.
scalar register_of(ir::type image) {
    const scalar value = value_of_image(image).element;
    return is_floating(value) ? scalar::f32 : is_signed(value) ? scalar::i32 : scalar::u32;
}
/// "f", "i", "ui": what the names of OpenCL C's functions end in.
const char* suffix_of(ir::type image) {
    const scalar s = register_of(image);
    return s == scalar::f32 ? "f" : s == scalar::i32 ? "i" : "ui";
}
/// "2d_u8x4", "2d_unorm8x4": a word for names of helper functions.
std::string word_of(ir::type image) {
    const char* normalised = is_normalised(image) ? "n_" : "";
    return fmt::format("{}d_{}{}", image_dimensions(image), normalised,
                       type_word(ir::type(image.element, image.lanes)));
}
/// The type of the four values.
ir::type four(ir::type image) { return {register_of(image), 4}; }

// ---- OpenCL C

/// "x", "(int2)(x, y)", "(int4)(x, y, z, 0)"
std::string opencl_place(bool by_position, const std::vector<std::string>& at) {
    if (at.size() == 1) return at[0];
    const char* type = by_position ? "int" : "float";
    const char* rest = by_position ? ", 0" : ", 0.0f";
    return fmt::format("({}{})({}{})", type, at.size() == 2 ? 2 : 4, joined(at), at.size() == 2 ? "" : rest);
}

/// The sampler of reads by position.
std::string position_sampler(program_parts& parts) {
    return parts.use({"balm_by_position",
                      "constant sampler_t balm_by_position =\n"
                      "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"});
}

text opencl_read(program_parts& parts, ir::type image, bool by_position, const std::string& name,
                 const std::string& sampler, const std::vector<std::string>& at) {
    std::string words =
        fmt::format("read_image{}({}, {}, {})", suffix_of(image), name,
                    by_position ? position_sampler(parts) : sampler, opencl_place(by_position, at));
    if (image.lanes == 1) words += ".x";
    if (image.lanes == 2) words += ".xy";
    const ir::type value = value_of_image(image);
    if (size_of(value.element) == 4) return {words, postfix};
    const std::string to = type_name(parts, value);
    if (value.lanes == 1) return {fmt::format("({}){}", to, words), unary};
    return {fmt::format("convert_{}({})", to, words), postfix};
}

/// The statement `if (inside) write` as a function: what lies beyond the edges is undefined in OpenCL C.
helper_function opencl_writer(program_parts& parts, ir::type image) {
    const int dimensions = image_dimensions(image);
    const std::string name = "balm_write_" + word_of(image);
    const ir::type value = value_of_image(image);
    constexpr const char* axes[] = {"x", "y", "z"};
    constexpr const char* sizes[] = {"width", "height", "depth"};
    std::string parameters = fmt::format("write_only image{}d_t image", dimensions);
    std::string inside;
    std::vector<std::string> place;
    for (int d = 0; d < dimensions; ++d) {
        parameters += fmt::format(", int {}", axes[d]);
        inside +=
            fmt::format("{0}{1} >= 0 && {1} < get_image_{2}(image)", d ? " && " : "", axes[d], sizes[d]);
        place.emplace_back(axes[d]);
    }
    parameters += fmt::format(", {} value", type_name(parts, value));
    const std::string all = type_name(parts, four(image));
    const std::string given = value.lanes == 1              ? fmt::format("({})(value, 0, 0, 1)", all)
                              : value.lanes == 2            ? fmt::format("({})(value.x, value.y, 0, 1)", all)
                              : size_of(value.element) == 4 ? "value"
                                                            : fmt::format("convert_{}(value)", all);
    return make_helper(parts.language, name, "void", parameters,
                       fmt::format("if ({})\n        write_image{}(image, {}, {});", inside, suffix_of(image),
                                   opencl_place(true, place), given));
}

// ---- CUDA C++

/// What backend/cuda/image.hpp passes: image_argument.
void declare_image(program_parts& parts) {
    parts.use({"balm_image",
               "struct balm_image {\n    unsigned long long object;\n    int width, height, depth;\n};\n"});
}

/// "{%5, %6}": operands of PTX from a number on; three dimensions are given as four.
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
helper_function cuda_reader(program_parts& parts, ir::type image) {
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
    return make_helper(parts.language, "balm_read_" + word_of(image), type_name(parts, value), parameters,
                       body);
}

/// A lane of a value as the bits that the surface takes, an unsigned int.
std::string stored_lane(program_parts& parts, ir::type image, const std::string& lane) {
    if (is_normalised(image)) {
        // As OpenCL C has it: scaled, rounded to the nearest, and then saturated (OpenCL 1.2,
        // section 8.3.1.1).
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
helper_function cuda_writer(program_parts& parts, ir::type image) {
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
    // x beyond 2^31 bytes would come round to the front.
    const std::string body = fmt::format(
        "if (x < 0 || x >= image.width) return;\n"
        "    asm volatile(\"sust.b.{}d{}.b{}.zero [%0, {}], {{{}}};\"\n        : : {} : \"memory\");",
        dimensions, vector, 8 * size_of(image.element), ptx_place(1, dimensions), registers, inputs);
    return make_helper(parts.language, "balm_write_" + word_of(image), "void", parameters, body);
}

}  // namespace

std::string image_parameter(program_parts& parts, const ir::parameter& p, const std::string& name) {
    if (!is_opencl(parts)) {
        declare_image(parts);
        return "const balm_image " + name;
    }
    const bool is_written = p.use == ir::access::out_image;
    const int dimensions = image_dimensions(p.what);
    if (is_written && dimensions == 3) parts.extensions.insert("cl_khr_3d_image_writes");
    return fmt::format("{} image{}d_t {}", is_written ? "write_only" : "read_only", dimensions, name);
}

bool has_own_sampler(const program_parts& parts, const ir::parameter& p) {
    return is_opencl(parts) && p.use == ir::access::sampled_image;
}

text spell_read_image(program_parts& parts, ir::type image, bool by_position, const std::string& name,
                      const std::string& sampler, const std::vector<std::string>& at) {
    if (is_opencl(parts)) return opencl_read(parts, image, by_position, name, sampler, at);
    const std::string reader = parts.use(cuda_reader(parts, image));
    std::vector<std::string> coordinates = at;
    if (by_position)  // the middle of the element
        for (std::string& each : coordinates) each = fmt::format("(float)({}) + 0.5f", each);
    return {fmt::format("{}({}, {})", reader, name, joined(coordinates)), postfix};
}

std::string spell_write_image(program_parts& parts, ir::type image, const std::string& name,
                              const std::vector<std::string>& position, const std::string& value) {
    const std::string writer =
        parts.use(is_opencl(parts) ? opencl_writer(parts, image) : cuda_writer(parts, image));
    return fmt::format("{}({}, {}, {})", writer, name, joined(position), value);
}

std::string spell_image_size(program_parts& parts, ir::type, const std::string& name,
                             std::uint64_t dimension) {
    constexpr const char* words[] = {"width", "height", "depth"};
    if (is_opencl(parts)) return fmt::format("get_image_{}({})", words[dimension], name);
    return fmt::format("{}.{}", name, words[dimension]);
}

}  // namespace balm::emit
