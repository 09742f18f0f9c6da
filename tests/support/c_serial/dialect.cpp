#include "support/c_serial/dialect.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "emit/builtin_spelling.hpp"
#include "emit/program_parts.hpp"

namespace balm::test {

namespace {

using emit::builtin_spelling;
using emit::dialect;
using emit::program_parts;

/// "balm_serial::max<int>"
std::string on_type(std::string_view function, scalar type) {
    return fmt::format("balm_serial::{}<{}>", function, emit::type_name(c_serial(), type));
}

builtin_spelling row(const dialect&, builtin what, scalar type) {
    constexpr const char* lists[] = {"()", "($0)", "($0, $1)", "($0, $1, $2)"};
    const ir::builtin_info& info = ir::info(what);
    return {on_type(info.name, type) + lists[info.arity], true, {}};
}

std::string atomic(ir::atomic_op what, scalar element) {
    return on_type(fmt::format("atomic_{}", ir::to_string(what)), element);
}

std::string fence(trace::memory_scope) { return ";"; }

emit::helper_function prefetch(const dialect& d) {
    return emit::make_helper(d, "balm_prefetch", "void", "const void*", "");
}

// ---- images

/// Those whose elements are the values themselves.
ir::type element_of(ir::type image) {
    const ir::type value = value_of_image(image);
    if (is_normalised(image) || size_of(value.element) != 4 || image.element == scalar::f16)
        throw std::runtime_error(
            "c_serial: images of elements that are no 32-bit numbers cannot be printed serially");
    return value;
}

std::string image_parameter(program_parts&, const ir::parameter&, const std::string& name) {
    return "const balm_serial::image " + name;
}

emit::text read_image(program_parts& parts, ir::type image, bool by_position, const std::string& name,
                      const std::string&, const std::vector<std::string>& at) {
    return {fmt::format("balm_serial::{}<{}>({}, {})", by_position ? "read" : "sample",
                        type_name(parts, element_of(image)), name, emit::joined(at)),
            emit::postfix};
}

std::string image_writer(program_parts& parts, ir::type image) {
    return fmt::format("balm_serial::write<{}>", type_name(parts, element_of(image)));
}

std::string image_size(const std::string& name, std::uint64_t dimension) {
    return fmt::format("(int){}.extents[{}]", name, dimension);
}

constexpr dialect table = {
    .name = "plain C++",
    .has = {.is_cpp = true, .has_pow_of_f32 = true, .passes_addresses = true},
    .say = {.scalars = {"void", "bool", "signed char", "unsigned char", "short", "unsigned short", "int",
                        "unsigned int", "long long", "unsigned long long", "float", "double"},
            .kernel = "static ",
            .only_for = "",
            .helper = "static inline ",
            .device_function = "static inline ",
            .number_function = "static inline ",
            .member_function = "",
            .aligned = "alignas({})",
            .global_memory = "",
            .local_memory = "",
            .local_array = "static ",
            .local_room = "",
            .constant_array = "static const ",
            .zeroed = " = {}",
            .restrict_pointer = "__restrict__ ",
            .long_suffix = "LL",
            .f32_bits = "balm_serial::f32(",
            .f32_end = ")",
            .f64_bits = "balm_serial::f64(",
            .f64_end = ")",
            .f32_to_word = "balm_serial::bits_of",
            .f64_to_word = "balm_serial::bits_of",
            .word_to_f32 = "balm_serial::f32",
            .word_to_f64 = "balm_serial::f64",
            .f64_to_long = "balm_serial::long_of",
            .half_to_f32 = "return balm_serial::of_half(a);",
            .f32_to_half = "return balm_serial::to_half(a);",
            .places = {"(long long)balm_serial::here.global_id[$]",
                       "(long long)balm_serial::here.local_id[$]", "(long long)balm_serial::here.group_id[$]",
                       "(long long)balm_serial::here.global_size[$]",
                       "(long long)balm_serial::here.local_size[$]", "(long long)balm_serial::here.groups[$]",
                       "0LL", "(long long)balm_serial::here.local_linear_id",
                       "(long long)balm_serial::here.local_linear_size",
                       "(long long)(balm_serial::here.local_linear_id / 32)"},
            .linear_places = {"(long long)balm_serial::here.local_linear_id",
                              "(long long)balm_serial::here.local_linear_size",
                              "(long long)(balm_serial::here.local_linear_id / 32)"},
            .axes = {"0", "1", "2"},
            .local_barrier = "balm_serial::barrier();",
            .global_barrier = "balm_serial::barrier();",
            .full_barrier = "balm_serial::barrier();"},
    .row = row,
    .atomic = atomic,
    .fence = fence,
    .prefetch = prefetch,
    .image = {image_parameter, read_image, image_writer, image_size},
};

}  // namespace

const dialect& c_serial() noexcept { return table; }

}  // namespace balm::test
