#include "text/cuda_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/rewriter.hpp"

namespace balm::opencl_c {

namespace {

using namespace std::string_view_literals;

/// Words outside the subset of OpenCL C 1.2 that is translated to CUDA, and why.
struct refusal {
    std::string_view word;
    std::string_view why;
};
constexpr auto images = "images and samplers are not translated to CUDA"sv;
constexpr auto halves = "half precision is not translated to CUDA; compute in float"sv;
constexpr auto newer = "it is OpenCL C 2.0; texts are OpenCL C 1.2"sv;
constexpr refusal refusals[] = {
    {"image1d_t", images},
    {"image1d_buffer_t", images},
    {"image1d_array_t", images},
    {"image2d_t", images},
    {"image2d_array_t", images},
    {"image3d_t", images},
    {"sampler_t", images},
    {"read_imagef", images},
    {"read_imagei", images},
    {"read_imageui", images},
    {"write_imagef", images},
    {"write_imagei", images},
    {"write_imageui", images},
    {"get_image_width", images},
    {"get_image_height", images},
    {"get_image_depth", images},
    {"__read_only", images},
    {"__write_only", images},
    {"__read_write", images},
    {"read_only", images},
    {"write_only", images},
    {"half", halves},
    {"pipe", newer},
    {"__pipe", newer},
    {"queue_t", newer},
    {"clk_event_t", newer},
    {"reserve_id_t", newer},
    {"ndrange_t", newer},
    {"generic", newer},
    {"__generic", newer},
    {"work_group_barrier", newer},
    {"enqueue_kernel", newer},
    {"atomic_int", newer},
    {"atomic_uint", newer},
    {"atomic_flag", newer},
    {"atomic_float", newer},
    {"atomic_init", newer},
    {"atomic_load", newer},
    {"atomic_store", newer},
    {"atomic_fetch_add", newer},
    {"asm", "inline assembly works on one kind of device only"},
    {"__asm", "inline assembly works on one kind of device only"},
    {"__asm__", "inline assembly works on one kind of device only"},
    {"_Generic", "it is C11"},
    {"_Static_assert", "it is C11"},
    {"_Complex", "it is reserved in OpenCL C"},
    {"_Imaginary", "it is reserved in OpenCL C"},
    {"complex", "it is reserved in OpenCL C"},
    {"imaginary", "it is reserved in OpenCL C"},
    {"quad", "it is reserved in OpenCL C"},
    {"typeof", "it is an extension of some compilers"},
    {"__typeof__", "it is an extension of some compilers"},
    {"__block", "blocks are OpenCL C 2.0"},
};

/// C++ keywords that are identifiers in C.
constexpr std::string_view cpp_keywords[] = {
    "alignas",     "alignof",   "and",      "and_eq",           "bitand",       "bitor",
    "catch",       "char16_t",  "char32_t", "char8_t",          "class",        "co_await",
    "co_return",   "co_yield",  "compl",    "concept",          "const_cast",   "consteval",
    "constexpr",   "constinit", "decltype", "delete",           "dynamic_cast", "explicit",
    "export",      "friend",    "mutable",  "namespace",        "new",          "noexcept",
    "not",         "not_eq",    "nullptr",  "operator",         "or",           "or_eq",
    "private",     "protected", "public",   "reinterpret_cast", "requires",     "static_assert",
    "static_cast", "template",  "this",     "thread_local",     "throw",        "try",
    "typeid",      "typename",  "using",    "virtual",          "wchar_t",      "xor",
    "xor_eq"};

bool is_half_vector(const std::string& w) {
    return w.find_first_not_of("0123456789", 4) == std::string::npos;
}

std::optional<std::string> cuda_type(const std::string& w) {
    scalar element{};
    std::uint8_t lanes = 0;
    if (is_vector_name(w, element, lanes)) return w;
    if (w == "long") return "long long";
    if (w == "char") return "signed char";
    if (is_one_of(w, {"uchar", "short", "ushort", "int", "uint", "ulong", "float", "double", "size_t",
                      "ptrdiff_t", "intptr_t", "uintptr_t"}))
        return w;
    return std::nullopt;
}

}  // namespace

void refuse_foreign(const token& t) {
    const std::string& w = t.words;
    for (const refusal& r : refusals)
        if (w == r.word) refuse(t.where, fmt::format("'{}': {}", w, r.why));
    if (starts_with(w, "balm_"))
        refuse(t.where, fmt::format("'{}': names that begin with balm_ are reserved", shortened(w)));
    if (starts_with(w, "sub_group_") || starts_with(w, "work_group_"))
        refuse(t.where, fmt::format("'{}': {}", shortened(w), newer));
    if (starts_with(w, "vload_half") || starts_with(w, "vstore_half") || starts_with(w, "vloada_half") ||
        starts_with(w, "vstorea_half") || (starts_with(w, "half") && w.size() < 7 && is_half_vector(w)))
        refuse(t.where, fmt::format("'{}': {}", shortened(w), halves));
}

std::string cuda_name(const std::string& name) {
    const bool is_taken =
        std::find(std::begin(cpp_keywords), std::end(cpp_keywords), name) != std::end(cpp_keywords);
    return is_taken && name != "nullptr" ? name + "_of_c" : name;
}

std::optional<std::string> cuda_conversion(const std::string& w) {
    if (starts_with(w, "as_"))
        if (const auto type = cuda_type(w.substr(3))) return "balm_as<" + *type + ">";
    if (!starts_with(w, "convert_")) return std::nullopt;
    std::string rest = w.substr(8);
    int mode = 0;
    constexpr std::pair<std::string_view, int> modes[] = {{"_rte", 1}, {"_rtz", 2}, {"_rtp", 3}, {"_rtn", 4}};
    for (const auto& row : modes) {
        if (rest.size() <= 4 || rest.substr(rest.size() - 4) != row.first) continue;
        mode = row.second;
        rest.resize(rest.size() - 4);
    }
    const bool saturates = rest.size() > 4 && rest.substr(rest.size() - 4) == "_sat";
    if (saturates) rest.resize(rest.size() - 4);
    const auto type = cuda_type(rest);
    if (!type) return std::nullopt;
    return fmt::format("balm_convert<{}, {}, {}>", *type, saturates, mode);
}

std::string cuda_number(const token& t) {
    std::string w = t.words;
    const bool is_hex = w.size() > 1 && (w[1] | 0x20) == 'x';
    const bool floating =
        w.find('.') != std::string::npos || w.find_first_of(is_hex ? "pP" : "eE") != std::string::npos;
    if (floating) {
        if ((w.back() | 0x20) == 'h') refuse(t.where, fmt::format("'{}': {}", shortened(w), halves));
        if ((w.back() | 0x20) == 'l') refuse(t.where, fmt::format("'{}': it is a long double", shortened(w)));
        return w;
    }
    std::uint64_t value = 0;
    bool is_unsigned = false;
    if (!integer_value(w, value, is_unsigned))
        refuse(t.where, fmt::format("'{}' is not a valid number in C", shortened(w)));
    // OpenCL's long has 64 bits everywhere and is one type; C++ has two.
    const bool is_long = w.find_first_of("lL") != std::string::npos;
    const std::uint64_t most = is_unsigned || w[0] == '0' ? 0xffffffffu : 0x7fffffffu;
    if (!is_long && value > most)
        return w + (is_unsigned || value >> 63 ? (is_unsigned ? "LL" : "ULL") : "LL");
    if (!is_long) return w;
    w.erase(std::remove_if(w.begin(), w.end(), [](char c) { return (c | 0x20) == 'l'; }), w.end());
    return w + "LL";
}

std::string cuda_character(const token& t) {
    if (t.words.size() != 3 && t.words[1] != '\\')
        refuse(t.where,
               fmt::format("the character constant {} contains several characters", shortened(t.words)));
    return "(int)(signed char)" + t.words;
}

void refuse_vector_formats(const token& t) {
    for (std::size_t k = 0; k + 1 < t.words.size(); ++k) {
        if (t.words[k] != '%') continue;
        if (t.words[k + 1] == '%') {
            ++k;
            continue;
        }
        std::size_t at = k + 1;
        while (at < t.words.size() && "-+ #0123456789."sv.find(t.words[at]) != std::string_view::npos) ++at;
        if (at + 1 < t.words.size() && t.words[at] == 'v' && t.words[at + 1] >= '1' && t.words[at + 1] <= '9')
            refuse(t.where, "printf of a vector (%v) is not translated to CUDA; print its components");
    }
}

std::optional<selection> components_of(std::string_view word) {
    selection s;
    s.is_even = word == "even";
    s.is_odd = word == "odd";
    if (s.is_every_other()) return s;
    const bool by_number = word.size() > 1 && (word[0] == 's' || word[0] == 'S');
    for (const char c : word.substr(by_number ? 1 : 0)) {
        const std::size_t at =
            by_number ? "0123456789abcdef"sv.find(static_cast<char>(c | 0x20)) : "xyzw"sv.find(c);
        if (by_number && c >= '0' && c <= '9') {
            s.components.push_back(c - '0');
        } else if (at == std::string_view::npos) {
            return std::nullopt;
        } else {
            s.components.push_back(static_cast<int>(at));
        }
    }
    const std::size_t n = s.components.size();
    if (n != 1 && n != 2 && n != 3 && n != 4 && n != 8 && n != 16) return std::nullopt;
    return s;
}

}  // namespace balm::opencl_c
