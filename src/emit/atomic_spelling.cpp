// The table behind atomics. OpenCL 1.2 has all operations on 32-bit integers, on 64-bit ones by two
// extensions (sections 6.12.11 and 9.3, 9.4 of the extension specification); CUDA has each for some types.

#include "emit/atomic_spelling.hpp"

#include <fmt/format.h>

#include <string_view>

namespace balm::emit {

namespace {

using ir::atomic_op;
using runtime::dialect;

struct atomic_row {
    const char* opencl;  ///< behind "atomic_" (32 bits) and "atom_" (64 bits); null: none
    const char* cuda;    ///< null: none
    const char* next;    ///< the new value, of `old` and `value`
    const char* keep;    ///< of floating elements: when the element stays as it is; null: never
};

/// By atomic_op. A NaN is passed over by min and max, as everywhere in Balm.
constexpr atomic_row rows[] = {
    {"add", "atomicAdd", "old + value", nullptr},
    {"sub", "atomicSub", "old - value", nullptr},
    {"xchg", "atomicExch", "value", nullptr},
    {"min", "atomicMin", "value", "!(value < old || old != old)"},
    {"max", "atomicMax", "value", "!(value > old || old != old)"},
    {nullptr, "atomicInc", "old >= value ? 0 : old + 1", nullptr},
    {nullptr, "atomicDec", "old == 0 || old > value ? value : old - 1", nullptr},
    {"and", "atomicAnd", "old & value", nullptr},
    {"or", "atomicOr", "old | value", nullptr},
    {"xor", "atomicXor", "old ^ value", nullptr},
    {"cmpxchg", "atomicCAS", nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr},
};

const atomic_row& row_of(atomic_op what) { return rows[static_cast<std::size_t>(what)]; }

/// Whether CUDA's function takes elements of the type as they are.
bool cuda_takes(atomic_op what, scalar s) {
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
bool opencl_takes(atomic_op what, scalar s) {
    if (!row_of(what).opencl) return false;
    return is_integer(s) || (what == atomic_op::exchange && s == scalar::f32);
}

/// The dialect's function on words: 32- or 64-bit unsigned integers.
std::string word_function(dialect d, atomic_op what, bool wide) {
    if (d == dialect::cuda_cpp) return row_of(what).cuda;
    return std::string(wide ? "atom_" : "atomic_") + row_of(what).opencl;
}

/// What helpers say of one element type in one memory.
struct element_words {
    std::string type, word, pointer, word_pointer, to_word, from_word;

    element_words(dialect d, scalar s, space where) {
        const scalar bits = size_of(s) == 8 ? scalar::u64 : scalar::u32;
        type = type_name(d, s);
        word = type_name(d, bits);
        const bool opencl = d == dialect::opencl_c;
        const std::string memory = !opencl                  ? "volatile "
                                   : where == space::global ? "volatile global "
                                                            : "volatile local ";
        pointer = opencl ? memory + type + "*" : type + "*";
        word_pointer = opencl ? memory + word + "*" : word + "*";
        if (!is_floating(s)) {
            to_word = "(" + word + ")";
            from_word = "(" + type + ")";
        } else if (opencl) {
            to_word = "as_" + word;
            from_word = "as_" + type;
        } else {
            to_word = s == scalar::f32 ? "__float_as_uint" : "(unsigned long long)__double_as_longlong";
            from_word = s == scalar::f32 ? "__uint_as_float" : "__longlong_as_double";
        }
    }
};

/// The element's bits handled as a word: for exchange and compare_exchange, and for signed integers.
std::string by_word(dialect d, atomic_op what, const element_words& w, bool wide, bool has_two) {
    std::string values = ", " + w.to_word + (has_two ? "(expected)" : "(value)");
    if (has_two) values += ", " + w.to_word + "(value)";
    return fmt::format("return {}({}(({})p{}));", w.from_word, word_function(d, what, wide), w.word_pointer,
                       values);
}

std::string by_loop(dialect d, atomic_op what, scalar s, const element_words& w, bool wide) {
    const atomic_row& row = row_of(what);
    std::string body = fmt::format(
        "{0} word = ({0})p;\n    {1} seen = {4}word, held;\n    do {{\n        held = seen;\n        const "
        "{2} old = {3}(held);\n",
        w.word_pointer, w.word, w.type, w.from_word,
        d == dialect::opencl_c ? "*" : "*(volatile " + w.word + "*)");  // not from a cache of one's own
    if (is_floating(s) && row.keep) body += fmt::format("        if ({}) return old;\n", row.keep);
    body += fmt::format(
        "        seen = {}(word, held, {}({}));\n    }} while (seen != held);\n    return {}(held);",
        word_function(d, atomic_op::compare_exchange, wide), w.to_word, row.next, w.from_word);
    return body;
}

/// f32 in global memory on NVIDIA's OpenCL, one instruction instead of a loop.
constexpr std::string_view ptx_f32_add =
    "float old;\n    asm volatile(\"atom.global.add.f32 %0, [%1], %2;\" : \"=f\"(old) : \"l\"(p), "
    "\"f\"(value) : \"memory\");\n    return old;";

}  // namespace

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

atomic_spelling spell(dialect d, bool takes_ptx, atomic_op what, scalar element, space where) {
    const bool opencl = d == dialect::opencl_c, wide = size_of(element) == 8;
    atomic_spelling s;
    if (opencl) s.extension = atomic_extension(what, element);
    if (opencl ? opencl_takes(what, element) : cuda_takes(what, element)) {
        s.name = word_function(d, what, wide);
        return s;
    }
    const element_words w(d, element, where);
    std::string body;
    // A volatile access goes past caches and registers, and aligned words are not torn.
    const std::string element_now = opencl ? "*p" : "*(volatile " + w.type + "*)p";
    if (what == atomic_op::load)
        body = fmt::format("return {};", element_now);
    else if (what == atomic_op::store)
        body = fmt::format("{} = value;", element_now);
    else if (takes_ptx && what == atomic_op::add && element == scalar::f32 && where == space::global)
        body = ptx_f32_add;
    else if (what == atomic_op::exchange || what == atomic_op::compare_exchange)
        body = by_word(d, what, w, wide, what == atomic_op::compare_exchange);
    else if (element == scalar::i64 && !opencl && what != atomic_op::sub)
        body = by_word(d, what, w, wide, false);
    else if (wide && is_integer(element) && what == atomic_op::sub)
        body = fmt::format("return {}(atomicAdd(({})p, 0 - {}(value)));", w.from_word, w.word_pointer,
                           w.to_word);
    else
        body = by_loop(d, what, element, w, wide);
    s.name = fmt::format("balm_atomic_{}_{}", ir::to_string(what), to_string(element));
    if (opencl) s.name += where == space::global ? "_global" : "_local";
    std::string parameters = w.pointer + " p, " + w.type + " value";
    if (what == atomic_op::compare_exchange)
        parameters = fmt::format("{0} p, {1} expected, {1} value", w.pointer, w.type);
    if (what == atomic_op::load) parameters = w.pointer + " p";
    s.helpers.push_back(make_helper(d, s.name, what == atomic_op::store ? "void" : w.type, parameters, body));
    return s;
}

}  // namespace balm::emit
