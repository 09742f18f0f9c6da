#include "emit/cuda/dialect.hpp"

#include <fmt/format.h>

#include "emit/cuda/images.hpp"
#include "emit/cuda/rows.hpp"
#include "emit/program_parts.hpp"
#include "emit/ptx.hpp"

namespace balm::emit::cuda {

namespace {

using ir::atomic_op;
using ir::sub_group_op;

/// Whether CUDA has the operation for elements of a type.
bool takes(atomic_op what, scalar s) {
    switch (what) {
        case atomic_op::load:
        case atomic_op::store: return false;
        case atomic_op::add: return s != scalar::i64;
        case atomic_op::sub: return s == scalar::i32 || s == scalar::u32;
        case atomic_op::exchange: return s != scalar::i64 && s != scalar::f64;
        case atomic_op::min:
        case atomic_op::max: return is_integer(s);
        case atomic_op::inc:
        case atomic_op::dec: return s == scalar::u32;
        default: return s == scalar::i32 || s == scalar::u32 || s == scalar::u64;
    }
}

std::string atomic(atomic_op what, scalar element) {
    constexpr const char* names[] = {"Add", "Sub", "Exch", "Min", "Max", "Inc",
                                     "Dec", "And", "Or",   "Xor", "CAS"};
    return takes(what, element) ? std::string("atomic") + names[static_cast<std::size_t>(what)] : "";
}

sync_spelling sub_group(const dialect& d, sub_group_op what, scalar element) {
    if (what == sub_group_op::ballot) return {"__ballot_sync(0xffffffffu, $0)", {}};
    if (what == sub_group_op::barrier) return {"__syncwarp()", {}};
    return ptx::shuffle(d, what, element);
}

sync_spelling counting_barrier(const dialect&) { return {"__syncthreads_count($0)", {}}; }

std::string fence(trace::memory_scope among) {
    constexpr const char* words[] = {"__threadfence_block();", "__threadfence();", "__threadfence_system();"};
    return words[static_cast<std::size_t>(among)];
}

/// A structure of the same size as a vector, made of words for which CUDA has streaming accesses.
struct streamed_words {
    explicit streamed_words(ir::type vector)
        : count((size_of(vector) + 15) / 16),
          word(size_of(vector) == 2   ? "unsigned short"
               : size_of(vector) == 4 ? "unsigned int"
               : size_of(vector) == 8 ? "unsigned long long"
                                      : "uint4") {}

    std::string declared() const { return fmt::format("struct words {{ {} at[{}]; }} w", word, count); }
    std::string for_each(const std::string& statement) const {
        return count == 1 ? statement : fmt::format("for (int k = 0; k < {}; ++k) {}", count, statement);
    }
    std::string k() const { return count == 1 ? "0" : "k"; }

    std::size_t count;
    std::string word;
};

helper_function streaming_load(program_parts& parts, ir::type memory) {
    const std::string type = type_name(parts, memory);
    const streamed_words w(memory);
    const std::string body =
        memory.lanes == 1
            ? "return __ldcs(from);"
            : fmt::format(
                  "{};\n    {};\n    return __builtin_bit_cast({}, w);", w.declared(),
                  w.for_each(fmt::format("w.at[{0}] = __ldcs((const {1}*)from + {0})", w.k(), w.word)), type);
    return make_helper(parts.language, "balm_stream_in_" + type_word(memory), type,
                       fmt::format("const {}* from", type), body);
}

helper_function streaming_store(program_parts& parts, ir::type memory) {
    const std::string type = type_name(parts, memory);
    const streamed_words w(memory);
    const std::string body =
        memory.lanes == 1
            ? "__stcs(to, value);"
            : fmt::format("{} = __builtin_bit_cast(words, value);\n    {};", w.declared(),
                          w.for_each(fmt::format("__stcs(({1}*)to + {0}, w.at[{0}])", w.k(), w.word)));
    return make_helper(parts.language, "balm_stream_" + type_word(memory), "void",
                       fmt::format("{0}* to, {0} value", type), body);
}

constexpr dialect table = {
    .name = "CUDA",
    .has = {.is_cpp = true,
            .has_sub_groups = true,
            .has_ptx = true,
            .has_pow_of_f32 = true,
            .passes_addresses = true,
            .rewrites_texts = true,
            .most_local_array = 48 << 10,
            .version_that_adds_f64 = 6},
    .say = {.scalars = {"void", "bool", "signed char", "unsigned char", "short", "unsigned short", "int",
                        "unsigned int", "long long", "unsigned long long", "float", "double"},
            .kernel = "extern \"C\" __global__ ",
            .only_for = "__launch_bounds__({3}) ",
            .helper = "static __device__ inline ",
            .device_function = "static __device__ inline ",
            .number_function = "static __device__ inline ",
            .outlined_function = "static __device__ __noinline__ ",
            .member_function = "__device__ ",
            .aligned = "__align__({})",
            .global_memory = "",
            .local_memory = "",
            .local_array = "__shared__ ",
            .local_room = "extern __shared__ __align__(128) unsigned char balm_local[];",
            .constant_array = "static __constant__ const ",
            .zeroed = " = {}",
            .restrict_pointer = "__restrict__ ",
            .long_suffix = "LL",
            .f32_bits = "__int_as_float(",
            .f32_end = ")",
            .f64_bits = "__longlong_as_double(",
            .f64_end = "LL)",
            .f32_to_word = "__float_as_uint",
            .f64_to_word = "(unsigned long long)__double_as_longlong",
            .word_to_f32 = "__uint_as_float",
            .word_to_f64 = "__longlong_as_double",
            .f64_to_long = "__double_as_longlong",
            // Without headers there is no half type; PTX converts.
            .half_to_f32 =
                "float x;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(a));\n    return x;",
            .f32_to_half = "unsigned short bits;\n    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : "
                           "\"f\"(a));\n    return bits;",
            .places = {"(long long)blockIdx.$ * blockDim.$ + threadIdx.$", "(long long)threadIdx.$",
                       "(long long)blockIdx.$", "(long long)gridDim.$ * blockDim.$", "(long long)blockDim.$",
                       "(long long)gridDim.$", "0LL", "(long long)threadIdx.x", "(long long)blockDim.x",
                       "(long long)(threadIdx.x / 32)"},
            .linear_places = {"(long long)((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
                              "threadIdx.x)",
                              "(long long)(blockDim.x * blockDim.y * blockDim.z)",
                              "(long long)(((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + "
                              "threadIdx.x) / 32)"},
            .axes = {"x", "y", "z"},
            .local_barrier = "__syncthreads();",
            .global_barrier = "__syncthreads();",
            .full_barrier = "__syncthreads();"},
    .row = row,
    .atomic = atomic,
    .sub_group = sub_group,
    .counting_barrier = counting_barrier,
    .fence = fence,
    .prefetch = ptx::prefetch,
    .streaming_load = streaming_load,
    .streaming_store = streaming_store,
    .image = {image_parameter, read_image, image_writer, image_size},
};

}  // namespace

const dialect& cuda_cpp() noexcept { return table; }

}  // namespace balm::emit::cuda
