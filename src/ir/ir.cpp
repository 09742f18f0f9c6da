// The tables and small queries of the IR.

#include "ir/ir.hpp"

#include <algorithm>
#include <set>

#include "ir/passes/aggregate.hpp"

namespace balm {

const char* to_string(scalar s) noexcept {
    constexpr const char* names[] = {"nothing", "bool", "i8",  "u8",  "i16", "u16", "i32",
                                     "u32",     "i64",  "u64", "f32", "f64", "f16"};
    return names[static_cast<std::size_t>(s)];
}

}  // namespace balm

namespace balm::ir {

const builtin_info& info(builtin b) noexcept {
    using detail::rule;
    static constexpr builtin_info table[] = {
#define BALM_OPERATOR(id, symbol, arity, precedence, takes) \
    {#id, arity, rule::takes, symbol, precedence, "", "", 0},
#define BALM_BUILTIN(id, arity, takes, opencl, cuda, ulp) \
    {#id, arity, rule::takes, nullptr, 0, opencl, cuda, ulp},
#include "balm/builtins.def"
    };
    return table[static_cast<std::size_t>(b)];
}

std::string to_string(type t) {
    constexpr const char* spaces[] = {"", "global", "local", "constant", "private"};
    if (t.is_image())
        return std::string("image") + std::to_string(image_dimensions(t)) + "d of " +
               (is_normalised(t) ? "normalised " : "") + to_string(type(t.element, t.lanes));
    if (t.is_pointer())
        return to_string(trace::pointee(t)) + " " + spaces[static_cast<std::size_t>(t.where)] +
               (t.is_const ? " const*" : "*");
    if (t.aggregate != 0) return structure_of(t).name;
    std::string text = std::string(t.is_packed ? "packed " : "") + balm::to_string(t.element);
    if (t.lanes > 1) text += "x" + std::to_string(t.lanes);
    return text;
}

type value_of_memory(type t) {
    if (t.is_pointer()) return t;
    if (t.element == scalar::f16) t.element = scalar::f32;
    t.is_packed = false;
    return t;
}

value_id function::add(const instruction& what, std::span<const value_id> its_operands) {
    const auto id = static_cast<value_id>(code.size());
    code.push_back(what);
    set_operands(id, its_operands);
    return id;
}

void function::set_operands(value_id v, std::span<const value_id> its_operands) {
    code[v].first_operand = static_cast<std::uint32_t>(operands.size());
    code[v].operand_count = static_cast<std::uint8_t>(its_operands.size());
    for (value_id o : its_operands) operands.push_back(o);  // mostly two: cheaper than insert's memmove
}

namespace {

void collect(const function& f, std::set<const function*>& seen, std::vector<const function*>& list) {
    if (!seen.insert(&f).second) return;
    list.push_back(&f);
    for (const auto& callee : f.callees) collect(*callee, seen, list);
}

/// Whether is_such holds for an instruction of the function or of one it calls, or text_is_such for one that
/// is given as text.
template <class OfCode, class OfText>
bool contains(const function& f, const OfCode& is_such, const OfText& text_is_such) {
    const std::vector<const function*> all = with_callees(f);
    return std::any_of(all.begin(), all.end(), [&](const function* each) {
        return (each->text && text_is_such(*each)) ||
               std::any_of(each->code.begin(), each->code.end(), is_such);
    });
}

}  // namespace

std::vector<const function*> with_callees(const function& f) {
    std::set<const function*> seen;
    std::vector<const function*> list;
    collect(f, seen, list);
    return list;
}

bool has_barrier(const function& f) {
    return contains(
        f, [](const instruction& i) { return i.op == opcode::barrier; },
        [](const function& t) { return t.text->has_barrier; });
}

bool shares_memory(const function& f) {
    return contains(
        f,
        [](const instruction& i) {
            return i.op == opcode::barrier || i.op == opcode::atomic || i.op == opcode::fence ||
                   i.op == opcode::sub_group || is_volatile(i);
        },
        [](const function& t) { return !t.is_pure; });
}

bool keeps_pointers(const function& f) {
    return contains(
        f,
        [](const instruction& i) { return i.op == opcode::object && trace::pointee(i.result).is_pointer(); },
        [](const function&) { return false; });
}

std::uint16_t exchanged_types(const function& f) {
    unsigned types = 0;
    for (const function* each : with_callees(f))
        for (const instruction& i : each->code) {
            const bool counts = i.op == opcode::barrier && i.operand_count > 0;
            if (i.op == opcode::sub_group || counts)
                types |= 1u << static_cast<unsigned>(counts ? scalar::u32 : i.result.element);
        }
    return static_cast<std::uint16_t>(types);
}

namespace {

void collect_given(const function& f, block_id b, constant_list& list) {
    const auto note = [&](const std::shared_ptr<const constant_data>& data) {
        if (std::find(list.begin(), list.end(), data) == list.end()) list.push_back(data);
    };
    for (value_id v : f.blocks[b]) {
        const instruction& i = f.code[v];
        if (i.op == opcode::constant_array && f.constants[i.bits]->is_given()) note(f.constants[i.bits]);
        if (is_call(i))
            for (const auto& data : f.callees[i.bits]->given) note(data);
        for (block_id inner : i.blocks)
            if (inner != none) collect_given(f, inner, list);
    }
}

}  // namespace

constant_list given_constants(const function& f) {
    constant_list list;
    if (!f.blocks.empty()) collect_given(f, 0, list);
    return list;
}

std::size_t local_memory_of(const function& f) {
    std::size_t bytes = 0;
    for (const instruction& i : f.code)
        if (i.op == opcode::object && i.result.where == space::local)
            bytes += i.bits * size_of(pointee(i.result));
    return bytes;
}

bool accesses(const instruction& i, access_kind how) {
    return (i.op == opcode::load || i.op == opcode::store) && static_cast<access_kind>(i.detail) == how;
}

bool has_effect(const instruction& i) {
    switch (i.op) {
        case opcode::load: return is_volatile(i);
        case opcode::cell:
        case opcode::object:
        case opcode::write_cell:
        case opcode::store:
        case opcode::prefetch:
        case opcode::if_:
        case opcode::for_:
        case opcode::while_:
        case opcode::grid_for:
        case opcode::break_:
        case opcode::continue_:
        case opcode::return_:
        case opcode::barrier:
        case opcode::call:
        case opcode::atomic:
        case opcode::fence:
        case opcode::print:
        case opcode::write_image:
        case opcode::sub_group: return true;
        default: return false;
    }
}

bool has_effect(const function& f, value_id v) {
    const instruction& i = f.code[v];
    if (i.op != opcode::logic_and && i.op != opcode::logic_or) return has_effect(i);
    const block& right = f.blocks[i.blocks[0]];
    return std::any_of(right.begin(), right.end(), [&](value_id inner) { return has_effect(f, inner); });
}

const char* to_string(opcode op) noexcept {
    constexpr const char* names[] = {
        "parameter", "constant",  "place",          "builtin",     "convert",    "select",      "and",
        "or",        "cell",      "read",           "write",       "load",       "store",       "prefetch",
        "if",        "for",       "while",          "grid_for",    "break",      "continue",    "return",
        "barrier",   "call",      "evaluate",       "broadcast",   "lane_index", "compose",     "swizzle",
        "insert",    "object",    "constant_array", "offset",      "member",     "reinterpret", "atomic",
        "fence",     "sub_group", "read_image",     "write_image", "image_size", "print"};
    return names[static_cast<std::size_t>(op)];
}

namespace {

void dump_block(const function& f, block_id b, int depth, std::string& text) {
    for (value_id v : f.blocks[b]) {
        const instruction& i = f.code[v];
        text.append(static_cast<std::size_t>(depth) * 2, ' ');
        text += "%" + std::to_string(v) + " = " + to_string(i.result) + " " + to_string(i.op);
        if (i.op == opcode::builtin) text += std::string(" ") + info(static_cast<builtin>(i.detail)).name;
        if (i.op == opcode::place) text += std::string(" ") + to_string(static_cast<trace::place>(i.detail));
        if (is_volatile(i)) text += " volatile";
        if (accesses(i, access_kind::streaming)) text += " streaming";
        if (i.op == opcode::atomic) text += std::string(" ") + to_string(static_cast<atomic_op>(i.detail));
        if (i.op == opcode::sub_group)
            text += std::string(" ") + to_string(static_cast<sub_group_op>(i.detail));
        for (value_id o : f.operands_of(v)) text += o == none ? " -" : " %" + std::to_string(o);
        if (i.op == opcode::constant || i.op == opcode::parameter || i.op == opcode::place ||
            i.op == opcode::barrier || i.op == opcode::fence || i.op == opcode::call ||
            i.op == opcode::evaluate || i.op == opcode::swizzle || i.op == opcode::insert ||
            i.op == opcode::object || i.op == opcode::constant_array || i.op == opcode::member ||
            i.op == opcode::image_size || i.op == opcode::print)
            text += " #" + std::to_string(i.bits);
        text += "\n";
        for (block_id inner : i.blocks)
            if (inner != none) {
                dump_block(f, inner, depth + 1, text);
                text.append(static_cast<std::size_t>(depth) * 2, ' ');
                text += "end\n";
            }
    }
}

}  // namespace

value_id root_of(const function& f, value_id pointer) {
    for (;;) {
        const opcode op = f.code[pointer].op;
        if (op != opcode::offset && op != opcode::member && op != opcode::reinterpret) return pointer;
        pointer = f.operand(pointer, 0);
    }
}

std::string dump(const function& f) {
    std::string text = f.name + "\n";
    dump_block(f, 0, 1, text);
    return text;
}

namespace {

std::uint64_t parameter_bit(const function& f, value_id root) {
    return std::uint64_t{1} << std::min<std::uint64_t>(f.code[root].bits, 63);
}
std::uint8_t space_bit(const function& f, value_id pointer) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(f.code[pointer].result.where));
}

/// Whether a store with these effects may change what a pointer with this root points to.
bool may_alias(const function& f, const effects& e, value_id root) {
    if (e.spaces & space_bit(f, root)) return true;
    const space where = f.code[root].result.where;
    const opcode op = f.code[root].op;
    if (op == opcode::object) return std::find(e.objects.begin(), e.objects.end(), root) != e.objects.end();
    const bool is_any = op != opcode::parameter;
    if (is_any)
        for (value_id object : e.objects)
            if (f.code[object].result.where == where) return true;
    if (!is_any && e.parameters & parameter_bit(f, root)) return true;
    for (std::size_t k = 0; k < f.parameters.size(); ++k) {
        const parameter& other = f.parameters[k];
        if (!(e.parameters >> std::min<std::size_t>(k, 63) & 1) || other.what.where != where) continue;
        if (is_any) return true;
        const parameter& mine = f.parameters[f.code[root].bits];
        const bool both_local = mine.use == access::local && other.use == access::local;
        if (!both_local && !(mine.is_restrict && other.is_restrict)) return true;
    }
    return false;
}

void add_effects(const function& f, value_id v, effects& sum) {
    add_own_effects(f, v, sum);
    for (block_id b : f.code[v].blocks)
        if (b != none)
            for (value_id inner : f.blocks[b]) add_effects(f, inner, sum);
}

/// Fills in the effects of b and of the blocks inside it.
void survey(const function& f, block_id b, std::vector<effects>& by_block) {
    for (value_id v : f.blocks[b]) {
        if (b != 0) add_own_effects(f, v, by_block[b]);
        for (block_id inner : f.code[v].blocks) {
            if (inner == none) continue;
            survey(f, inner, by_block);
            if (b != 0) by_block[b].add(by_block[inner]);
        }
    }
    // Removes duplicates, so that the lists do not grow with the number of writes on the way up.
    for (std::vector<value_id>* list : {&by_block[b].cells, &by_block[b].objects}) {
        std::sort(list->begin(), list->end());
        list->erase(std::unique(list->begin(), list->end()), list->end());
    }
}

}  // namespace

void effects::add(const effects& more) {
    cells.insert(cells.end(), more.cells.begin(), more.cells.end());
    objects.insert(objects.end(), more.objects.begin(), more.objects.end());
    parameters |= more.parameters;
    spaces |= more.spaces;
    all_memory = all_memory || more.all_memory;
}

void add_own_effects(const function& f, value_id v, effects& sum) {
    const instruction& i = f.code[v];
    if (i.op == opcode::write_cell) sum.cells.push_back(f.operand(v, 0));
    if (i.op == opcode::store || i.op == opcode::atomic) {
        const value_id root = root_of(f, f.operand(v, 0));
        switch (f.code[root].op) {
            case opcode::parameter: sum.parameters |= parameter_bit(f, root); break;
            case opcode::object: sum.objects.push_back(root); break;
            default: sum.spaces |= space_bit(f, root);
        }
    }
    const bool is_sub_group_barrier =
        i.op == opcode::sub_group && static_cast<sub_group_op>(i.detail) == sub_group_op::barrier;
    if (i.op == opcode::barrier || i.op == opcode::fence || i.op == opcode::call || is_sub_group_barrier)
        sum.all_memory = true;
}

effects effects_of(const function& f, value_id v) {
    effects sum;
    add_effects(f, v, sum);
    return sum;
}

std::vector<effects> effects_by_block(const function& f) {
    std::vector<effects> by_block(f.blocks.size());
    survey(f, 0, by_block);
    return by_block;
}

bool is_constant_memory(const function& f, value_id root) {
    const instruction& i = f.code[root];
    if (i.result.where == space::constant) return true;
    if (i.op != opcode::parameter) return false;
    const parameter& p = f.parameters[i.bits];
    return p.use == access::in && p.is_restrict;
}

bool clobbers(const function& f, const effects& e, value_id reader) {
    const instruction& i = f.code[reader];
    if (i.op == opcode::read_cell)
        return std::find(e.cells.begin(), e.cells.end(), f.operand(reader, 0)) != e.cells.end();
    if (i.op == opcode::load) {
        const value_id root = root_of(f, f.operand(reader, 0));
        if (is_constant_memory(f, root)) return false;
        return e.all_memory || may_alias(f, e, root);
    }
    for (block_id b : i.blocks)
        if (b != none)
            for (value_id inner : f.blocks[b])
                if (clobbers(f, e, inner)) return true;
    return false;
}

const char* to_string(atomic_op what) noexcept {
    constexpr const char* names[] = {
        "add",    "sub",     "exchange",         "min",  "max",  "inc", "dec", "bit_and",
        "bit_or", "bit_xor", "compare_exchange", "load", "store"};
    return names[static_cast<std::size_t>(what)];
}

const char* to_string(sub_group_op what) noexcept {
    constexpr const char* names[] = {"ballot",
                                     "shuffle",
                                     "shuffle_up",
                                     "shuffle_down",
                                     "shuffle_xor",
                                     "barrier",
                                     "reduce_add",
                                     "reduce_min",
                                     "reduce_max",
                                     "scan_inclusive_add",
                                     "scan_inclusive_min",
                                     "scan_inclusive_max",
                                     "scan_exclusive_add",
                                     "scan_exclusive_min",
                                     "scan_exclusive_max"};
    return names[static_cast<std::size_t>(what)];
}

const char* to_string(trace::place p) noexcept {
    constexpr const char* names[] = {"global_id",         "local_id",    "group_id",      "global_size",
                                     "local_size",        "group_count", "global_offset", "local_linear_id",
                                     "local_linear_size", "sub_group_id"};
    return names[static_cast<std::size_t>(p)];
}

}  // namespace balm::ir
