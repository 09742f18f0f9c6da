// The words that a printed program must not use as names: keywords, types and built-ins of all dialects, so
// that a kernel has the same name in each.

#include "emit/names.hpp"

#include <algorithm>
#include <iterator>

#include "ir/ir.hpp"

namespace balm::emit {

namespace {

/// Keywords, types, macros and library functions of OpenCL C and CUDA C++ that are not rows of builtins.def.
constexpr std::string_view reserved_words =
    "auto break case char const continue default do double else enum extern float for goto half if inline "
    "int long register restrict return short signed sizeof static struct switch typedef union unsigned "
    "void volatile while bool true false uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t quad "
    "complex imaginary event_t image1d_t image2d_t image3d_t sampler_t read_imagef read_imagei "
    "read_imageui write_imagef write_imagei write_imageui kernel global local constant private generic "
    "read_only write_only read_write pipe barrier main alignas alignof and and_eq asm bitand bitor catch "
    "class compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit "
    "export friend module import mutable namespace new noexcept not not_eq nullptr operator or or_eq "
    "protected public reinterpret_cast requires static_assert static_cast template this thread_local "
    "throw try typeid typename using virtual wchar_t xor xor_eq threadIdx blockIdx blockDim gridDim "
    "warpSize select dot cross length distance normalize mad mix step sign clamp degrees radians "
    "smoothstep any all bitselect shuffle printf prefetch modf frexp sincos remquo nan mad24 mul24 "
    "upsample abs_diff malloc free memcpy memset assert clock j0 j1 jn y0 y1 yn M_PI INFINITY NAN norm "
    "norm3d norm4d rnorm rnorm3d rnorm4d rhypot normcdf normcdfinv erfcx erfinv erfcinv scalbn scalbln "
    "sincospi labs llabs lrint llrint lround llround nearbyint isequal isnotequal isgreater "
    "isgreaterequal isless islessequal islessgreater isordered isunordered vec_step mem_fence "
    "read_mem_fence write_mem_fence wait_group_events mad_hi mad_sat shuffle2 popcnt abort exit clock64 "
    "trap dim3 MAXFLOAT HUGE_VAL HUGE_VALF NULL linux unix i386 std nvcuda cooperative_groups address "
    "lgamma_r ctz bit_reverse popcount capture_event_profiling_info create_user_event enqueue_kernel "
    "enqueue_marker is_valid_event is_valid_reserve_id kernel_exec retain_event release_event "
    "set_user_event_status to_global to_local to_private work_dim read_imageh write_imageh alloca memmove "
    "MAX_WORK_DIM offsetof va_list va_start va_end va_arg vprintf typeof byte_perm umin umax llmin llmax "
    "ullmin ullmax fdividef rcbrt saturate cyl_bessel_i0 cyl_bessel_i1 finite isinff isnanf co_await "
    "co_return co_yield ";

/// Prefixes of whole families of reserved words.
constexpr std::string_view reserved_prefixes[] = {
    "__",          "balm_",         "get_",        "atomic_", "atom_",        "as_",          "convert_",
    "native_",     "half_",         "fast_",       "vload",   "vstore",       "async_",       "sub_group_",
    "bitfield_",   "dot_4x8packed", "dot_acc_sat", "intel_",  "amd_",         "arm_",         "cl_",
    "work_group_", "ndrange_",      "tex1D",       "tex2D",   "tex3D",        "surf1D",       "surf2D",
    "surf3D",      "surfCubemap",   "texCubemap",  "pocl_",   "memory_scope", "memory_order", "CL",
    "FLT_",        "DBL_",          "HALF_",       "M_",      "FP_",          "CHAR_",        "SCHAR_",
    "UCHAR_",      "SHRT_",         "USHRT_",      "INT_",    "UINT_",        "LONG_",        "ULONG_",
    "ATOMIC_",     "IMG_",          "LLVM_",       "POCL_"};

/// float4, uchar16, longlong2 …
bool is_vector_type(std::string_view word) {
    constexpr std::string_view scalars[] = {"char",  "uchar",  "short", "ushort",   "int",
                                            "uint",  "long",   "ulong", "longlong", "ulonglong",
                                            "float", "double", "half"};
    const std::size_t digits = word.find_last_not_of("0123456789") + 1;
    return digits < word.size() &&
           std::find(std::begin(scalars), std::end(scalars), word.substr(0, digits)) != std::end(scalars);
}

bool is_reserved(const std::string& word) {
    static const std::unordered_set<std::string>& words = *[] {
        auto* set = new std::unordered_set<std::string>;
        for (std::size_t at = 0, end; at < reserved_words.size(); at = end + 1) {
            end = reserved_words.find(' ', at);
            set->emplace(reserved_words.substr(at, end - at));
        }
        for (std::size_t k = 0; k < ir::builtin_count; ++k)
            set->insert(ir::info(static_cast<builtin>(k)).name);
        return set;
    }();
    // CUDA appends an f to the name of a function's float variant.
    const bool is_twin =
        word.size() > 1 && word.back() == 'f' && words.count(word.substr(0, word.size() - 1)) > 0;
    const bool is_type = word.size() > 2 && word.compare(word.size() - 2, 2, "_t") == 0;  // uint64_t, queue_t
    const bool is_compilers = word.size() > 1 && word[0] == '_' && word[1] >= 'A' && word[1] <= 'Z';
    return words.count(word) > 0 || is_twin || is_type || is_compilers || is_vector_type(word) ||
           (word.rfind("make_", 0) == 0 && is_vector_type(word.substr(5))) ||
           std::any_of(std::begin(reserved_prefixes), std::end(reserved_prefixes),
                       [&](std::string_view prefix) { return word.rfind(prefix, 0) == 0; });
}

}  // namespace

bool is_identifier(std::string_view word) noexcept {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !word.empty() && is_letter(word[0]) && std::all_of(word.begin(), word.end(), [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

std::string name_set::unique(std::string_view word) {
    std::string stem(word);
    if (is_reserved(stem)) stem += "_";
    if (is_reserved(stem)) stem = "the_" + std::string(word);  // get_value: a prefix is reserved
    std::string candidate = stem;
    if (is_reserved(candidate) || is_taken(candidate)) {
        int number = last_number(stem);
        do candidate = stem + std::to_string(++number);
        while (is_reserved(candidate) || is_taken(candidate));
        last_numbers_[stem] = number;
    }
    taken_.insert(candidate);
    return candidate;
}

int name_set::last_number(const std::string& stem) const {
    const auto found = last_numbers_.find(stem);
    if (found != last_numbers_.end()) return found->second;
    return around_ != nullptr ? around_->last_number(stem) : 1;
}

bool name_set::is_taken(const std::string& word) const {
    return taken_.count(word) > 0 || (around_ && around_->is_taken(word));
}

}  // namespace balm::emit
