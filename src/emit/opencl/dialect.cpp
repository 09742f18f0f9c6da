#include "emit/opencl/dialect.hpp"

#include <fmt/format.h>

#include <set>

#include "balm/error.hpp"
#include "emit/builtin_spelling.hpp"
#include "emit/opencl/images.hpp"
#include "emit/program_parts.hpp"
#include "emit/ptx.hpp"

namespace balm::emit::opencl {

namespace {

using ir::atomic_op;
using ir::sub_group_op;

builtin_spelling row(const dialect& d, builtin what, scalar type) {
    if (what == builtin::abs && is_integer(type) && is_signed(type))
        return {fmt::format("({})abs($0)", type_name(d, type)), true, {}};
    if (is_named_by_kind(what)) return spell_by_kind(what, type);
    return spell_given(d, ir::info(what).opencl, what, type);
}

/// Operations on 32-bit integers, and on 64-bit ones by two extensions (OpenCL 1.2, section 6.12.11, and
/// sections 9.3 and 9.4 of the extension specification).
std::string atomic(atomic_op what, scalar element) {
    constexpr const char* names[] = {"add", "sub", "xchg", "min",     "max", "", "",
                                     "and", "or",  "xor",  "cmpxchg", "",    ""};
    const std::string name = names[static_cast<std::size_t>(what)];
    const bool takes = is_integer(element) || (what == atomic_op::exchange && element == scalar::f32);
    if (name.empty() || !takes) return {};
    return (size_of(element) == 8 ? "atom_" : "atomic_") + name;
}

std::string atomic_extension(atomic_op what, scalar element) {
    if (size_of(element) < 8) return {};
    switch (what) {
        case atomic_op::load:
        case atomic_op::store: return {};
        case atomic_op::min:
        case atomic_op::max:
        case atomic_op::bit_and:
        case atomic_op::bit_or:
        case atomic_op::bit_xor:
            if (is_integer(element)) return "cl_khr_int64_extended_atomics";
            [[fallthrough]];
        default: return "cl_khr_int64_base_atomics";
    }
}

std::string fence(trace::memory_scope) { return "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"; }

/// PoCL's prefetch does nothing.
helper_function prefetch(const dialect& d) {
    return {"balm_prefetch", fmt::format("{}void balm_prefetch(const global void* at) {{\n"
                                         "#if defined(__x86_64__) || defined(__aarch64__)\n"
                                         "    __builtin_prefetch((const void*)(size_t)at);\n"
                                         "#else\n"
                                         "    prefetch((const global uchar*)at, 1);\n"
                                         "#endif\n"
                                         "}}\n",
                                         d.say.helper)};
}

helper_function streaming_store(program_parts& parts, ir::type memory) {
    const std::string name = "balm_stream_" + type_word(memory);
    return {name, fmt::format("{0}void {1}(global {2}* to, {2} value) {{\n"
                              "#if defined(__clang__)\n"
                              "    __builtin_nontemporal_store(value, to);\n"
                              "#else\n"
                              "    *to = value;\n"
                              "#endif\n"
                              "}}\n",
                              parts.language.say.helper, name, type_name(parts, memory))};
}

std::string head(const program_parts& parts) {
    std::string text;
    std::set<std::string> extensions = parts.extensions;
    if (parts.uses_f64) extensions.insert("cl_khr_fp64");
    for (const std::string& extension : extensions)
        text += fmt::format("#pragma OPENCL EXTENSION {} : enable\n", extension);
    return text + "#pragma OPENCL FP_CONTRACT OFF\n";
}

/// PoCL 3.1 runs the code between two barriers in a loop over the work-items, but executes a branch that
/// directly follows a barrier once for all of them; and LLVM merges the barriers before and at the end of a
/// loop, which turns a divergent branch before them into an inner loop around a barrier. Statements that LLVM
/// neither moves nor merges, after each barrier, prevent both.
constexpr std::string_view fenced_barriers = R"(#ifdef POCL_DEVICE_ADDRESS_BITS
static __attribute__((always_inline)) void balm_fenced(void) { __asm__ volatile(""); }
#define barrier(...) (barrier(__VA_ARGS__), balm_fenced())
#endif
)";

constexpr dialect portable = {
    .name = "OpenCL",
    .has = {.has_vectors = true,
            .has_address_spaces = true,
            .has_samplers = true,
            .has_grid_offset = true,
            .masks_shift_counts = true,
            .keeps_texts = true},
    .say = {.scalars = {"void", "bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                        "float", "double"},
            .kernel = "kernel ",
            .only_for = "__attribute__((reqd_work_group_size({0}, {1}, {2}))) ",
            .helper = "static inline ",
            .device_function = "",
            // PoCL would inline it into loops only after vectorising them.
            .number_function = "static inline __attribute__((always_inline)) ",
            .member_function = "",
            .aligned = "",
            .global_memory = "global ",
            .local_memory = "local ",
            .local_array = "local ",
            .local_room = "",
            .constant_array = "constant ",
            .zeroed = " = {0}",
            .restrict_pointer = "restrict ",
            .long_suffix = "L",
            .f32_bits = "as_float(",
            .f32_end = "u)",
            .f64_bits = "as_double(",
            .f64_end = "UL)",
            .f32_to_word = "as_uint",
            .f64_to_word = "as_ulong",
            .word_to_f32 = "as_float",
            .word_to_f64 = "as_double",
            .f64_to_long = "as_long",
            .half_to_f32 = "return vload_half(0, (const half*)&a);",
            .f32_to_half = "ushort bits;\n    vstore_half_rte(a, 0, (half*)&bits);\n    return bits;",
            .places = {"(long)get_global_id($)", "(long)get_local_id($)", "(long)get_group_id($)",
                       "(long)get_global_size($)", "(long)get_local_size($)", "(long)get_num_groups($)", "0L",
                       "(long)get_local_id(0)", "(long)get_local_size(0)", "(long)(get_local_id(0) / 32)"},
            .linear_places = {"(long)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * "
                              "get_local_size(0) + get_local_id(0))",
                              "(long)(get_local_size(0) * get_local_size(1) * get_local_size(2))",
                              "(long)(((get_local_id(2) * get_local_size(1) + get_local_id(1)) * "
                              "get_local_size(0) + get_local_id(0)) / 32)"},
            .axes = {"0", "1", "2"},
            .local_barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
            .global_barrier = "barrier(CLK_GLOBAL_MEM_FENCE);",
            .full_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
    .row = row,
    .atomic = atomic,
    .atomic_extension = atomic_extension,
    .image_extension = image_extension,
    .sub_group = nullptr,
    .counting_barrier = nullptr,
    .fence = fence,
    .prefetch = prefetch,
    .streaming_store = streaming_store,
    .least_streaming_bytes = 16,  // CPUs have no vector instruction for less, nor loops of such stores
    .image = {image_parameter, read_image, image_writer, image_size},
    .fenced_barriers = fenced_barriers,
    .head = head,
};

// ---- with PTX

/// A function of a condition.
sync_spelling vote(const dialect& d, const char* name, const char* result, const char* instructions,
                   const char* clobbers) {
    const std::string body = fmt::format(
        "{0} result;\n    asm volatile(\"{{ .reg .pred holds; setp.ne.s32 holds, %1, 0; {1} }}\"\n"
        "                 : \"=r\"(result) : \"r\"(condition){2});\n    return result;",
        result, instructions, clobbers);
    return {std::string(name) + "($0)", {make_helper(d, name, result, "int condition", body)}};
}

sync_spelling sub_group(const dialect& d, sub_group_op what, scalar element) {
    if (what == sub_group_op::ballot)
        return vote(d, "balm_ballot", "uint", "vote.sync.ballot.b32 %0, holds, 0xffffffff;", "");
    if (what == sub_group_op::barrier)
        return {R"(asm volatile("bar.warp.sync 0xffffffff;" : : : "memory"))", {}};
    return ptx::shuffle(d, what, element);
}

sync_spelling counting_barrier(const dialect& d) {
    return vote(d, "balm_barrier_count", "int", "bar.red.popc.u32 %0, 0, holds;", " : \"memory\"");
}

std::string ptx_fence(trace::memory_scope among) {
    constexpr const char* words[] = {"cta", "gl", "sys"};
    return fmt::format(R"(asm volatile("membar.{};" : : : "memory");)",
                       words[static_cast<std::size_t>(among)]);
}

constexpr dialect with_ptx = [] {
    dialect d = portable;
    d.has.has_ptx = d.has.has_sub_groups = d.has.has_pow_of_f32 = true;
    d.sub_group = sub_group;
    d.counting_barrier = counting_barrier;
    d.fence = ptx_fence;
    d.prefetch = ptx::prefetch;
    d.fenced_barriers = {};
    d.streaming_store = nullptr;
    d.say.outlined_function = "__attribute__((noinline)) ";
    return d;
}();

}  // namespace

const dialect& opencl_c() noexcept { return portable; }
const dialect& opencl_ptx() noexcept { return with_ptx; }

}  // namespace balm::emit::opencl
