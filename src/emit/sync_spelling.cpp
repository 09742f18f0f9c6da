// PTX is quoted from the PTX ISA, sections 9.7.13 (barriers, fences, votes) and 9.7.9 (shuffles). A shuffle
// is given the last lane that is there, so that the instruction itself keeps a lane's own value where the
// other is absent; CUDA's __shfl_sync cannot be told.

#include "emit/sync_spelling.hpp"

#include <fmt/format.h>

#include "balm/error.hpp"

namespace balm::emit {

namespace {

using ir::sub_group_op;
using runtime::dialect;

void need_column(dialect d, bool takes_ptx, const char* what) {
    if (d == dialect::opencl_c && !takes_ptx)
        throw error(fmt::format("internal: {} in portable OpenCL C, which has none", what));
}

/// The word in which a value's bits pass through PTX: 32 or 64 bits.
struct bits_of_value {
    std::string type, word, to_word, from_word;
    bool wide;

    bits_of_value(dialect d, scalar s)
        : type(type_name(d, s)),
          word(type_name(d, size_of(s) == 8 ? scalar::u64 : scalar::u32)),
          wide(size_of(s) == 8) {
        if (!is_floating(s)) {
            to_word = "(" + word + ")value";
            from_word = "(" + type + ")";
        } else if (d == dialect::opencl_c) {
            to_word = "as_" + word + "(value)";
            from_word = "as_" + type;
        } else {
            to_word = wide ? "(unsigned long long)__double_as_longlong(value)" : "__float_as_uint(value)";
            from_word = wide ? "__longlong_as_double" : "__uint_as_float";
        }
    }
};

sync_spelling shuffle(dialect d, sub_group_op what, scalar element) {
    constexpr const char* modes[] = {"", "idx", "up", "down", "bfly"};
    const std::string mode = modes[static_cast<std::size_t>(what)];
    // Going up, the bound is the first lane.
    const char* bound = what == sub_group_op::shuffle_up ? "0" : "%3";
    const bits_of_value b(d, element);
    const std::string narrow = fmt::format("shfl.sync.{}.b32 %0, %1, %2, {}, 0xffffffff;", mode, bound);
    const std::string halves = fmt::format(
        "{{ .reg .b32 low, high; mov.b64 {{low, high}}, %1; \"\n                 \"shfl.sync.{0}.b32 low, "
        "low, "
        "%2, {1}, 0xffffffff; \"\n                 \"shfl.sync.{0}.b32 high, high, %2, {1}, 0xffffffff; \"\n"
        "                 \"mov.b64 %0, {{low, high}}; }}",
        mode, bound);
    const char* letter = b.wide ? "l" : "r";
    const std::string body = fmt::format(
        "{0} result;\n    asm volatile(\"{1}\"\n                 : \"={2}\"(result) : \"{2}\"({3}), "
        "\"r\"(lane), \"r\"(last));\n    return {4}(result);",
        b.word, b.wide ? halves : narrow, letter, b.to_word, b.from_word);
    const std::string name = fmt::format("balm_{}_{}", ir::to_string(what), to_string(element));
    return {name + "($0, $1, $2)",
            {make_helper(d, name, b.type, fmt::format("{} value, int lane, int last", b.type), body)}};
}

sync_spelling ptx_helper(const char* name, const char* result, const char* instructions,
                         const char* clobbers) {
    const std::string body = fmt::format(
        "{0} result;\n    asm volatile(\"{{ .reg .pred holds; setp.ne.s32 holds, %1, 0; {1} }}\"\n"
        "                 : \"=r\"(result) : \"r\"(condition){2});\n    return result;",
        result, instructions, clobbers);
    return {std::string(name) + "($0)",
            {make_helper(dialect::opencl_c, name, result, "int condition", body)}};
}

}  // namespace

sync_spelling spell(dialect d, bool takes_ptx, sub_group_op what, scalar element) {
    need_column(d, takes_ptx, ir::to_string(what));
    const bool cuda = d == dialect::cuda_cpp;
    switch (what) {
        case sub_group_op::ballot:
            if (cuda) return {"__ballot_sync(0xffffffffu, $0)", {}};
            return ptx_helper("balm_ballot", "uint", "vote.sync.ballot.b32 %0, holds, 0xffffffff;", "");
        case sub_group_op::barrier:
            if (cuda) return {"__syncwarp()", {}};
            return {R"(asm volatile("bar.warp.sync 0xffffffff;" : : : "memory"))", {}};
        case sub_group_op::shuffle:
        case sub_group_op::shuffle_up:
        case sub_group_op::shuffle_down:
        case sub_group_op::shuffle_xor: return shuffle(d, what, element);
        default: throw error(fmt::format("internal: {} is not written out", ir::to_string(what)));
    }
}

sync_spelling spell_counting_barrier(dialect d, bool takes_ptx) {
    need_column(d, takes_ptx, "barrier_count");
    if (d == dialect::cuda_cpp) return {"__syncthreads_count($0)", {}};
    return ptx_helper("balm_barrier_count", "int", "bar.red.popc.u32 %0, 0, holds;", " : \"memory\"");
}

std::string spell_fence(dialect d, bool takes_ptx, trace::memory_scope among) {
    const auto k = static_cast<std::size_t>(among);
    if (d == dialect::cuda_cpp) {
        constexpr const char* words[] = {"__threadfence_block();", "__threadfence();",
                                         "__threadfence_system();"};
        return words[k];
    }
    if (!takes_ptx) return "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    constexpr const char* words[] = {"cta", "gl", "sys"};
    return fmt::format(R"(asm volatile("membar.{};" : : : "memory");)", words[k]);
}

}  // namespace balm::emit
