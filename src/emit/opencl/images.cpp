// Prints image accesses. The border of images of one or two channels is (0, 0, 0, 1), of which only the zeros
// are used (OpenCL 1.2, section 8.2).

#include "emit/opencl/images.hpp"

#include <fmt/format.h>

#include "emit/builtin_spelling.hpp"
#include "emit/image_words.hpp"
#include "emit/program_parts.hpp"

namespace balm::emit::opencl {

namespace {

/// "f", "i", "ui": the suffix of the language's image functions.
const char* suffix_of(ir::type image) {
    const scalar s = register_of(image);
    return s == scalar::f32 ? "f" : s == scalar::i32 ? "i" : "ui";
}
/// The type of the four channels that these functions return and take.
ir::type four(ir::type image) { return {register_of(image), 4}; }

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

/// The statement `if (inside) write` as a function: writes beyond the edges are undefined in OpenCL C.
helper_function writer_function(program_parts& parts, ir::type image) {
    const int dimensions = image_dimensions(image);
    const std::string name = "balm_write_" + image_word(image);
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

}  // namespace

std::string image_extension(const ir::parameter& p) {
    const bool writes_planes = p.use == ir::access::out_image && image_dimensions(p.what) == 3;
    return writes_planes ? "cl_khr_3d_image_writes" : "";
}

std::string image_parameter(program_parts& parts, const ir::parameter& p, const std::string& name) {
    const bool is_written = p.use == ir::access::out_image;
    const int dimensions = image_dimensions(p.what);
    if (const std::string extension = image_extension(p); !extension.empty())
        parts.extensions.insert(extension);
    return fmt::format("{} image{}d_t {}", is_written ? "write_only" : "read_only", dimensions, name);
}

text read_image(program_parts& parts, ir::type image, bool by_position, const std::string& name,
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

std::string image_writer(program_parts& parts, ir::type image) {
    return parts.use(writer_function(parts, image));
}

std::string image_size(const std::string& name, std::uint64_t dimension) {
    constexpr const char* words[] = {"width", "height", "depth"};
    return fmt::format("get_image_{}({})", words[dimension], name);
}

}  // namespace balm::emit::opencl
