// Which words a printed program may not use: the keywords, types and built-ins of both dialects, so that a
// kernel is named alike on each.

#include "emit/names.hpp"

#include "ir/ir.hpp"

namespace balm::emit {

namespace {

bool is_reserved(const std::string& word) {
    static const std::unordered_set<std::string>& words = *[] {
        auto* set = new std::unordered_set<std::string>{
            "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
            "extern", "float", "for", "goto", "half", "if", "inline", "int", "long", "register", "restrict",
            "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union",
            "unsigned", "void", "volatile", "while", "bool", "true", "false", "uchar", "ushort", "uint",
            "ulong", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "quad", "complex", "imaginary", "event_t",
            "image2d_t", "image3d_t", "sampler_t", "kernel", "global", "local", "constant", "private",
            "generic", "read_only", "write_only", "read_write", "pipe", "barrier", "main", "alignas",
            "alignof", "and", "and_eq", "asm", "bitand", "bitor", "catch", "class", "compl", "concept",
            "consteval", "constexpr", "constinit", "const_cast", "decltype", "delete", "dynamic_cast",
            "explicit", "export", "friend", "module", "import", "mutable", "namespace", "new", "noexcept",
            "not", "not_eq", "nullptr", "operator", "or", "or_eq", "protected", "public",
            "reinterpret_cast", "requires", "static_assert", "static_cast", "template", "this",
            "thread_local", "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor",
            "xor_eq", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "select", "dot", "cross",
            "length", "distance", "normalize", "mad", "mix", "step", "sign", "clamp", "degrees", "radians",
            "smoothstep", "any", "all", "bitselect", "shuffle", "printf", "prefetch", "modf", "frexp",
            "sincos", "remquo", "nan", "mad24", "mul24", "upsample", "abs_diff", "malloc", "free", "memcpy",
            "memset", "assert", "clock", "j0", "j1", "jn", "y0", "y1", "yn", "M_PI", "INFINITY", "NAN"};
        for (std::size_t k = 0; k < ir::builtin_count; ++k) set->insert(ir::info(static_cast<builtin>(k)).name);
        return set;
    }();
    return words.count(word) > 0 || word.rfind("__", 0) == 0 || word.rfind("balm_", 0) == 0 ||
           word.rfind("get_", 0) == 0 || word.rfind("atomic_", 0) == 0 || word.rfind("as_", 0) == 0 ||
           word.rfind("convert_", 0) == 0;
}

}  // namespace

std::string name_set::unique(std::string_view word) {
    const std::string stem = is_reserved(std::string(word)) ? std::string(word) + "_" : std::string(word);
    std::string candidate = stem;
    for (int number = 2; is_reserved(candidate) || !taken_.insert(candidate).second; ++number)
        candidate = stem + std::to_string(number);
    return candidate;
}

}  // namespace balm::emit
