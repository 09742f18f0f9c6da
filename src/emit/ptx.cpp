// Shuffles pass the last present lane to the instruction, which then keeps a lane's own value if the source
// lane is absent; CUDA's __shfl_sync has no such argument.

#include "emit/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/builtin_spelling.hpp"

namespace balm::emit::ptx {

namespace {

using ir::sub_group_op;

/// The word that carries a value's bits through PTX: 32 or 64 bits.
struct bits_of_value {
    std::string type, word, to_word, from_word;
    bool wide;

    bits_of_value(const dialect& d, scalar s)
        : type(type_name(d, s)), word(type_name(d, word_of(s))), wide(size_of(s) == 8) {
        to_word = word_function(d, s) + (is_floating(s) ? "(value)" : "value");
        from_word = value_function(d, s);
    }
};

}  // namespace

sync_spelling shuffle(const dialect& d, sub_group_op what, scalar element) {
    constexpr const char* modes[] = {"", "idx", "up", "down", "bfly"};
    const std::string mode = modes[static_cast<std::size_t>(what)];
    // For shuffle_up, the bound is the first lane.
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

// One instruction. nvcc 13.0 widens the operands of the factors to 64 bits, no longer sees that the upper
// halves are 0, and multiplies these too: 20 more instructions in a block of Philox, of 104.
helper_function wide_product(const dialect& d) {
    const std::string U = type_name(d, scalar::u32), W = type_name(d, scalar::u64);
    return make_helper(
        d, "balm_mul_wide", W, fmt::format("{0} a, {0} b", U),
        fmt::format("{} product;\n"
                    "    asm(\"mul.wide.u32 %0, %1, %2;\" : \"=l\"(product) : \"r\"(a), \"r\"(b));\n"
                    "    return product;",
                    W));
}

// A conversion saturates. It makes 0 of NaN unless one of the types has 64 bits.
helper_function saturating_conversion(const dialect& d, scalar from, scalar to) {
    const bool is_wide = size_of(to) == 8, needs_test = is_wide || from == scalar::f64;
    const std::string F = type_name(d, from), T = type_name(d, to);
    return make_helper(
        d, fmt::format("balm_{}_to_{}", to_string(from), to_string(to)), T, F + " x",
        fmt::format("{} result;\n"
                    "    asm(\"cvt.rzi.{}{}.{} %0, %1;\" : \"={}\"(result) : \"{}\"(x));\n"
                    "    return {}result;",
                    T, is_signed(to) ? "s" : "u", 8 * size_of(to), to_string(from), is_wide ? "l" : "r",
                    from == scalar::f32 ? "f" : "d", needs_test ? "x != x ? 0 : " : ""));
}

// nvcc 13.0's code for sqrtf without the branch for subnormals, infinities and the like: 5 instructions
// instead of 13.
helper_function root_of_normal(const dialect& d) {
    const std::string fma = d.row(d, builtin::fma, scalar::f32).pattern;
    const std::string error = substitute(fma, {"-root", "root", "x"});
    return make_helper(
        d, "balm_root_of_normal", "float", "float x",
        fmt::format("float reciprocal;\n"
                    "    asm(\"rsqrt.approx.ftz.f32 %0, %1;\" : \"=f\"(reciprocal) : \"f\"(x));\n"
                    "    const float root = x * reciprocal;\n"
                    "    return {};",
                    substitute(fma, {error, "reciprocal * 0.5f", "root"})));
}

namespace {

enum class signs : std::uint8_t { any, only_signed, only_unsigned };

/// PTX for operands of so many bytes; $t is their signedness and width. Operands in 32-bit registers are
/// extended.
struct hidden_row {
    builtin what;
    std::size_t bytes;
    signs of;
    char registers;  ///< 'h': 16 bits; 'r': 32
    int arity;
    std::string_view ptx;
};
constexpr std::string_view ptx_add_sat = "{ .reg .b32 wide; add.s32 wide, %1, %2; cvt.sat.$t.s32 %0, wide; }";
constexpr std::string_view ptx_sub_sat = "{ .reg .b32 wide; sub.s32 wide, %1, %2; cvt.sat.$t.s32 %0, wide; }";
constexpr hidden_row hidden_rows[] = {
    {builtin::neg, 4, signs::any, 'r', 1, "{ .reg .b32 bits; not.b32 bits, %1; add.s32 %0, bits, 1; }"},
    {builtin::neg, 2, signs::any, 'h', 1, "sub.u16 %0, 0, %1;"},
    {builtin::add, 2, signs::any, 'h', 2, "add.u16 %0, %1, %2;"},
    {builtin::sub, 2, signs::any, 'h', 2, "sub.u16 %0, %1, %2;"},
    {builtin::mul, 2, signs::any, 'h', 2, "mul.lo.u16 %0, %1, %2;"},
    {builtin::abs, 2, signs::only_signed, 'r', 1,
     "{ .reg .b32 size; abs.s32 size, %1; cvt.s32.s16 %0, size; }"},
    {builtin::abs_diff, 2, signs::any, 'r', 2,
     "{ .reg .b32 apart; sub.s32 apart, %1, %2; abs.s32 apart, apart; cvt.u32.u16 %0, apart; }"},
    {builtin::add_sat, 1, signs::any, 'r', 2, ptx_add_sat},
    {builtin::add_sat, 2, signs::any, 'r', 2, ptx_add_sat},
    {builtin::sub_sat, 1, signs::any, 'r', 2, ptx_sub_sat},
    {builtin::sub_sat, 2, signs::any, 'r', 2, ptx_sub_sat},
    {builtin::sub_sat, 4, signs::only_unsigned, 'r', 2,
     "{ .reg .b32 upper; max.u32 upper, %1, %2; sub.u32 %0, upper, %2; }"},
};

const hidden_row* find_hidden(builtin what, scalar operand) {
    const signs sign = is_signed(operand) ? signs::only_signed : signs::only_unsigned;
    for (const hidden_row& r : hidden_rows)
        if (r.what == what && r.bytes == size_of(operand) && (r.of == signs::any || r.of == sign)) return &r;
    return nullptr;
}

}  // namespace

std::optional<helper_function> hidden_arithmetic(const dialect& d, builtin what, scalar operand) {
    const hidden_row* const row = is_integer(operand) ? find_hidden(what, operand) : nullptr;
    if (row == nullptr) return {};
    std::string ptx(row->ptx);
    if (const std::size_t at = ptx.find("$t"); at != std::string::npos)
        ptx.replace(at, 2, (is_signed(operand) ? "s" : "u") + std::to_string(8 * row->bytes));
    const scalar result = what == builtin::abs_diff ? unsigned_of(operand) : operand;
    const std::string T = type_name(d, operand), R = type_name(d, result);
    const bool is_widened = row->registers == 'r' && row->bytes < 4;
    const std::string in_register = is_widened ? type_name(d, scalar::i32) : R;
    const std::string cast = is_widened ? "(" + in_register + ")" : "";
    std::string inputs = fmt::format("\"{}\"({}a)", row->registers, cast);
    if (row->arity == 2) inputs += fmt::format(", \"{}\"({}b)", row->registers, cast);
    return make_helper(
        d, fmt::format("balm_ptx_{}_{}", ir::info(what).name, to_string(operand)), R,
        row->arity == 1 ? T + " a" : fmt::format("{0} a, {0} b", T),
        fmt::format("{} result;\n"
                    "    asm(\"{}\" : \"={}\"(result) : {});\n"
                    "    return {}result;",
                    in_register, ptx, row->registers, inputs, is_widened ? "(" + R + ")" : ""));
}

bool hides_arithmetic(scalar from, scalar to) {
    return is_integer(from) && is_integer(to) && size_of(from) >= 4 && size_of(to) == 2;
}

helper_function truncation(const dialect& d, scalar from, scalar to) {
    const std::string T = type_name(d, to);
    return make_helper(d, fmt::format("balm_{}_to_{}", to_string(from), to_string(to)), T,
                       type_name(d, from) + " x",
                       fmt::format("{} result;\n"
                                   "    asm(\"cvt.u16.u32 %0, %1;\" : \"=h\"(result) : \"r\"(({})x));\n"
                                   "    return result;",
                                   T, type_name(d, scalar::u32)));
}

helper_function maximum_of_minimum(const dialect& d) {
    const std::string T = type_name(d, scalar::i32);
    return make_helper(
        d, "balm_max_of_min", T, fmt::format("{0} a, {0} b", T),
        fmt::format(
            "{} result;\n"
            "    asm(\"{{ .reg .b32 zero, first, second; mov.u32 zero, %%lanemask_lt; shr.u32 zero, zero, "
            "31; \"\n"
            "        \"xor.b32 first, %1, zero; xor.b32 second, %2, zero; max.s32 %0, first, second; }}\"\n"
            "        : \"=r\"(result) : \"r\"(a), \"r\"(b));\n"
            "    return result;",
            T));
}

// A lane's mask of the lanes before it never has the uppermost bit, which ptxas does not know.
helper_function bits_of_truth(const dialect& d, builtin as, scalar from) {
    const scalar to = balm::detail::reinterpreted(ir::info(as).takes);
    const std::string bits = d.row(d, as, from).pattern;
    return make_helper(
        d, fmt::format("balm_{}_of_truth_{}", ir::info(as).name, to_string(from)), type_name(d, to),
        type_name(d, from) + " x",
        fmt::format(
            "{} zero;\n"
            "    asm(\"{{ .reg .b32 mask; mov.u32 mask, %%lanemask_lt; shr.u32 %0, mask, 31; }}\" : "
            "\"=r\"(zero));\n"
            "    return {};",
            type_name(d, scalar::u32),
            is_floating(to) ? substitute(bits, {"(x ^ zero)"}) : substitute(bits, {"x"}) + " ^ zero"));
}

namespace {

/// Whether a structure has an array of structures among its members, or among theirs.
bool has_structures_in_array(ir::type t) {
    if (!ir::is_structure(t)) return false;
    const trace::structure& s = ir::structure_of(t);
    return std::any_of(s.members, s.members + s.member_count, [](const trace::member& m) {
        return ir::is_structure(m.what) && (m.count > 1 || has_structures_in_array(m.what));
    });
}

/// Whether the memory behind a root can be no member of a structure that the function sees as well.
bool is_whole(const ir::function& f, ir::value_id root) {
    const ir::opcode op = f.code[root].op;
    return op == ir::opcode::object || (op == ir::opcode::parameter && f.dimensions > 0);
}

}  // namespace

bool may_lose_stores(const ir::function& f) {
    return std::any_of(f.code.begin(), f.code.end(), [](const ir::instruction& i) {
        return i.result.is_pointer() && !i.result.is_image() && has_structures_in_array(pointee(i.result));
    });
}

bool loses_stores(const ir::function& f, ir::value_id pointer, handed how) {
    using ir::opcode;
    const auto is_member = [&](ir::value_id v) {
        return f.code[v].op == opcode::member && ir::is_structure(pointee(f.code[f.operand(v, 0)].result));
    };
    const ir::type t = f.code[pointer].result;
    if (!t.is_pointer() || t.is_image() || t.is_const || t.where == space::constant) return false;
    bool in_member = how == handed::to_function && ir::is_structure(pointee(t)), at_index = in_member;
    for (;; pointer = f.operand(pointer, 0)) {
        const opcode op = f.code[pointer].op;
        if (op == opcode::offset) {
            at_index = at_index || (in_member && f.code[f.operand(pointer, 1)].op != opcode::constant);
        } else if (op == opcode::member) {
            if (at_index && is_member(pointer)) return true;
            in_member = in_member || is_member(pointer);
        } else if (op != opcode::reinterpret) {
            return !is_whole(f, pointer);
        }
    }
}

helper_function prefetch(const dialect& d) {
    const char* const pointer = d.has.has_address_spaces ? "const global void* at" : "const void* at";
    return make_helper(d, "balm_prefetch", "void", pointer,
                       R"(asm volatile("prefetch.global.L2 [%0];" : : "l"(at));)");
}

std::string f32_add(space where) {
    return fmt::format(
        "float old;\n    asm volatile(\"atom.{}.add.f32 %0, [%1], %2;\" : \"=f\"(old) : \"l\"(p), "
        "\"f\"(value) : \"memory\");\n    return old;",
        where == space::global ? "global" : "shared");
}

helper_function written(const dialect& d) {
    return make_helper(d, "balm_written", "void", type_name(d, scalar::u64) + " address",
                       R"(asm volatile("" : : "l"(address) : "memory");)");
}

}  // namespace balm::emit::ptx
