// Operations on device values, and accesses to memory.

#include "kernel/trace/tracer.hpp"

#include <algorithm>
#include <vector>

#include "ir/passes/aggregate.hpp"

namespace balm::trace {

using ir::instruction;
using ir::opcode;
using ir::value_id;

namespace {

/// The size limit of an array in a kernel: more than any device has for a work-item or group.
constexpr std::uint64_t max_object_bytes = 1 << 20;

}  // namespace

node constant(type what, std::uint64_t bits) {
    tracer& t = current();
    instruction i = make(opcode::constant, what);
    i.bits = bits;
    return t.node_of(t.record(i));
}

node query(place what, int dimension, location where) {
    tracer& t = current();
    const int limit = t.function.dimensions == 0 ? 3 : t.function.dimensions;
    if (dimension < 0 || dimension >= limit)
        fail(where, fmt::format("{}({}) is called, but '{}' has {} dimension{}", ir::to_string(what),
                                dimension, t.function.name, limit, limit == 1 ? "" : "s"));
    instruction i = make(opcode::place, scalar::i64, where);
    i.detail = static_cast<std::uint16_t>(what);
    i.bits = static_cast<std::uint64_t>(dimension);
    return t.node_of(t.record(i));
}

int grid_dimensions(location where) {
    const ir::function& f = current().function;
    if (f.dimensions > 0) return f.dimensions;
    fail(where, fmt::format("work_dimensions() is called in the function '{}', which kernels of any number "
                            "of dimensions may call; pass the number as a parameter",
                            f.name));
}

node convert(node value, scalar to) {
    tracer& t = current();
    const value_id id = t.use(value);
    if (value.type == type(to, value.type.lanes)) return value;
    if (value.type.is_pointer() ? to != scalar::u64 : value.type.aggregate != 0)
        fail(t.where, fmt::format("a value of type {} cannot be converted to {}", ir::to_string(value.type),
                                  to_string(to)));
    return t.node_of(
        t.record(make(opcode::convert, type(to, value.type.is_pointer() ? 1 : value.type.lanes)), {&id, 1}));
}

// An f32 has more than twice the digits of an f16, so the nearest f16 of an f64 is that of the f32 that the
// f64 is rounded to odd to (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved
// algorithms using rounding to odd", 2008): it is inexact where its last bit says so. half::half(double) does
// the same.
node rounded_for_half(node f64) {
    constexpr std::uint64_t lost = (std::uint64_t{1} << 29) - 1;  // digits that an f32 has no room for
    const node bits = apply(builtin::as_ulong, &f64, 1), mask = constant(scalar::u64, lost);
    const node sticky =
        apply(builtin::add, apply(builtin::bit_and, bits, mask), mask);  // carries if any is set
    const node odd =
        apply(builtin::bit_and, apply(builtin::bit_or, bits, sticky), constant(scalar::u64, ~lost));
    return convert(apply(builtin::as_double, &odd, 1), scalar::f32);
}

void begin_statement(std::uint32_t number) {
    tracer& t = current();
    t.statement = number;
    t.has_statements |= number > 0;
}

node apply(builtin what, const node* operands, std::size_t count, location where) {
    tracer& t = current();
    scalar types[4] = {};
    std::uint8_t lanes = 1;
    for (std::size_t k = 0; k < count; ++k) {
        types[k] = operands[k].type.element;
        lanes = std::max(lanes, operands[k].type.lanes);
    }
    const detail::resolution r =
        lanes > 1 ? detail::resolve_lanes(what, types, count) : detail::resolve(what, types, count);
    const bool lanes_fit = std::all_of(operands, operands + count, [&](const node& n) {
        return n.type == type(n.type.element, lanes) || n.type.is_scalar();
    });
    if (r.result == scalar::nothing || !lanes_fit)
        fail(where.file ? where : t.where, fmt::format("'{}' does not take operands of type {}",
                                                       ir::info(what).name, ir::to_string(operands[0].type)));
    value_id ids[4] = {};
    for (std::size_t k = 0; k < count; ++k) {
        node operand = convert(operands[k], k > 0 && k + 1 == count ? r.last : r.first);
        if (operand.type.lanes < lanes) operand = compose(type(operand.type.element, lanes), &operand, 1);
        ids[k] = t.use(operand);
    }
    instruction i = make(opcode::builtin, type(r.result, lanes), where);
    i.detail = static_cast<std::uint16_t>(what);
    return t.node_of(t.record(i, {ids, count}));
}

node select(node condition, node if_true, node if_false) {
    tracer& t = current();
    if (condition.type.lanes > 1) {
        const type whole(if_true.type.element, condition.type.lanes);
        if (if_true.type.lanes == 1) if_true = compose(whole, &if_true, 1);
        if (if_false.type.lanes == 1) if_false = compose(whole, &if_false, 1);
    }
    const value_id ids[] = {t.use(condition), t.use(if_true), t.use(if_false)};
    return t.node_of(t.record(make(opcode::select, if_true.type), ids));
}

node read(node variable) {
    tracer& t = current();
    const value_id id = t.use(variable);
    return t.node_of(t.record(make(opcode::read_cell, variable.type), {&id, 1}));
}

void write(node variable, node value) {
    tracer& t = current();
    const value_id ids[] = {t.use(variable), t.use(value)};
    if (t.assigned.size() <= ids[0]) t.assigned.resize(ids[0] + std::size_t{1});
    t.assigned[ids[0]] = true;
    t.record(make(opcode::write_cell, scalar::nothing), ids);
}

void name(node value, std::string_view word) {
    tracer& t = current();
    t.function.code[t.use(value)].name = static_cast<std::uint32_t>(t.function.names.size());
    t.function.names.emplace_back(word);
}

node compose(type vector, const node* parts, std::size_t count) {
    tracer& t = current();
    std::vector<value_id> ids;
    for (std::size_t k = 0; k < count; ++k) {
        const node part = convert(parts[k], vector.element);
        if (count == 1 && part.type.lanes == vector.lanes) return part;
        const value_id id = t.use(part);
        if (part.type.lanes == 1) ids.push_back(id);
        for (int lane = 0; part.type.lanes > 1 && lane < part.type.lanes; ++lane)
            ids.push_back(t.use(swizzle(part, static_cast<std::uint64_t>(lane), 1)));
    }
    if (ids.size() == 1) return t.node_of(t.record(make(opcode::broadcast, vector), ids));
    if (ids.size() != vector.lanes)
        fail(t.where,
             fmt::format("a vector of {} lanes is constructed from {} lanes", vector.lanes, ids.size()));
    return t.node_of(t.record(make(opcode::compose, vector), ids));
}

node swizzle(node vector, std::uint64_t order, int count) {
    tracer& t = current();
    const value_id id = t.use(vector);
    instruction i = make(opcode::swizzle, type(vector.type.element, static_cast<std::uint8_t>(count)));
    i.bits = order;
    return t.node_of(t.record(i, {&id, 1}));
}

node insert(node vector, std::uint64_t order, node lanes) {
    tracer& t = current();
    const value_id ids[] = {t.use(vector), t.use(lanes)};
    instruction i = make(opcode::insert, vector.type);
    i.bits = order;
    return t.node_of(t.record(i, ids));
}

node load(node pointer, node index, location where, access_kind how) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index)};
    instruction i = make(opcode::load, ir::value_of_memory(pointee(pointer.type)), where);
    i.detail = static_cast<std::uint16_t>(how);
    return t.node_of(t.record(i, ids));
}

node object(type element, std::uint64_t count, space where, bool zeroed, location at) {
    tracer& t = current();
    if (count == 0 || count * size_of(element) > max_object_bytes)
        fail(at, fmt::format("an array of {} elements of {} bytes is declared in '{}': an array in a kernel "
                             "has at least 1 element and at most {} bytes",
                             count, size_of(element), t.function.name, max_object_bytes));
    if (where == space::local && (t.function.dimensions == 0 || t.frames.size() > 1))
        fail(at,
             "a local array belongs to the kernel as a whole: declare it before IF, WHILE and loops, and "
             "pass it to functions as Local");
    instruction i = make(opcode::object, pointer_to(element, where), at);
    i.bits = count;
    i.detail = !zeroed ? ir::array : count == 1 ? ir::one_element : ir::zeroed_array;
    const value_id initial = ir::none;
    return t.node_of(t.record(i, {&initial, 1}));
}

node object(node initial) {
    tracer& t = current();
    const value_id id = t.use(initial);
    instruction i = make(opcode::object, pointer_to(initial.type, space::private_));
    i.bits = 1;
    i.detail = ir::one_element;
    return t.node_of(t.record(i, {&id, 1}));
}

node constant_array(const std::shared_ptr<const ir::constant_data>& data) {
    tracer& t = current();
    auto& known = t.function.constants;
    const auto found = std::find(known.begin(), known.end(), data);
    instruction i = make(opcode::constant_array, pointer_to(data->element, space::constant, true));
    i.bits = static_cast<std::uint64_t>(found - known.begin());
    if (found == known.end()) known.push_back(data);
    return t.node_of(t.record(i));
}

node offset(node pointer, node index) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index)};
    return t.node_of(t.record(make(opcode::offset, pointer.type), ids));
}

node member_of(node pointer, int k) {
    tracer& t = current();
    const value_id id = t.use(pointer);
    const type whole = pointee(pointer.type);
    const type part = ir::is_structure(whole) ? ir::structure_of(whole).members[k].what : type(whole.element);
    instruction i = make(opcode::member, pointer_to(part, pointer.type.where, pointer.type.is_const));
    i.bits = static_cast<std::uint64_t>(k);
    return t.node_of(t.record(i, {&id, 1}));
}

std::int64_t number_of(scalar s, std::uint64_t bits) {
    const std::size_t unused = 64 - 8 * size_of(s);
    return is_signed(s) ? static_cast<std::int64_t>(bits << unused) >> unused
                        : static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
}

std::string words_of(scalar s, std::uint64_t value) {
    return is_signed(s) ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
}

void refuse_index(std::int64_t index, std::uint64_t elements, location where) {
    fail(where, fmt::format("the index {} is out of range: the array has {} element{}, counted from 0", index,
                            elements, elements == 1 ? "" : "s"));
}

void check_index(node index, std::uint64_t elements, location where) {
    tracer& t = current();
    const instruction& i = t.function.code[t.use(index)];
    if (i.op != opcode::constant) return;
    const std::int64_t k = number_of(i.result.element, i.bits);
    if (k < 0 || static_cast<std::uint64_t>(k) >= elements) refuse_index(k, elements, where);
}

void check_lane(std::int64_t lane, int lanes) {
    if (lane < 0 || lane >= lanes)
        fail(current().where,
             fmt::format("lane {} is out of range: the vector has {} lanes, counted from 0", lane, lanes));
}

node reinterpret(node pointer, type to) {
    tracer& t = current();
    const value_id id = t.use(pointer);
    return t.node_of(t.record(make(opcode::reinterpret, to), {&id, 1}));
}

node read_image(node image, const node* at, location where) {
    tracer& t = current();
    std::array<value_id, 4> ids{t.use(image)};
    const auto dimensions = static_cast<std::size_t>(image_dimensions(image.type));
    for (std::size_t d = 0; d < dimensions; ++d) ids[1 + d] = t.use(at[d]);
    return t.node_of(t.record(make(opcode::read_image, value_of_image(image.type), where),
                              std::span(ids).first(1 + dimensions)));
}

void write_image(node image, const node* at, node value, location where) {
    tracer& t = current();
    std::array<value_id, 5> ids{t.use(image)};
    const auto dimensions = static_cast<std::size_t>(image_dimensions(image.type));
    for (std::size_t d = 0; d < dimensions; ++d) ids[1 + d] = t.use(at[d]);
    ids[1 + dimensions] = t.use(value);
    t.record(make(opcode::write_image, scalar::nothing, where), std::span(ids).first(2 + dimensions));
}

node image_size(node image, int dimension) {
    tracer& t = current();
    const value_id id = t.use(image);
    instruction i = make(opcode::image_size, scalar::i32);
    i.bits = static_cast<std::uint64_t>(dimension);
    return t.node_of(t.record(i, {&id, 1}));
}

node address_of(node variable) {
    tracer& t = current();
    const value_id id = t.use(variable);
    if (t.addressed.size() <= id) t.addressed.resize(id + std::size_t{1});
    t.addressed[id] = true;
    // make_cells replaces the operand by the object that the variable becomes.
    return t.node_of(t.record(make(opcode::offset, pointer_to(variable.type, space::private_)), {&id, 1}));
}

void store(node pointer, node index, node value, location where, access_kind how) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index), t.use(value)};
    instruction i = make(opcode::store, scalar::nothing, where);
    i.detail = static_cast<std::uint16_t>(how);
    t.record(i, ids);
}

namespace {

/// Whether a vector in memory of scalars is one access: vectors of three have the size of four, and volatile
/// accesses are those of scalars.
bool is_one_access(int lanes, access_kind how) { return lanes != 3 && how != access_kind::volatile_; }

/// The same address as a pointer to vectors that need no alignment beyond that of their scalars.
node packed(node pointer, int lanes) {
    type to = pointer.type;
    to.lanes = static_cast<std::uint8_t>(lanes);
    to.is_packed = true;
    return reinterpret(pointer, to);
}

/// index * lanes + k
node index_of_lane(node index, int lanes, int k) {
    const auto number = [](int n) { return constant(scalar::i64, static_cast<std::uint64_t>(n)); };
    return apply(builtin::add, apply(builtin::mul, convert(index, scalar::i64), number(lanes)), number(k));
}

}  // namespace

node load_vector(node pointer, node index, int lanes, location where, access_kind how) {
    if (is_one_access(lanes, how)) return load(packed(pointer, lanes), index, where, how);
    std::array<node, 16> parts;
    for (int k = 0; k < lanes; ++k)
        parts[static_cast<std::size_t>(k)] = load(pointer, index_of_lane(index, lanes, k), where, how);
    return compose(type(parts[0].type.element, static_cast<std::uint8_t>(lanes)), parts.data(),
                   static_cast<std::size_t>(lanes));
}

void store_vector(node pointer, node index, node value, location where, access_kind how) {
    const int lanes = value.type.lanes;
    if (is_one_access(lanes, how)) return store(packed(pointer, lanes), index, value, where, how);
    for (int k = 0; k < lanes; ++k)
        store(pointer, index_of_lane(index, lanes, k), swizzle(value, static_cast<std::uint64_t>(k), 1),
              where, how);
}

void prefetch(node pointer, node index, location where) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index)};
    t.record(make(opcode::prefetch, scalar::nothing, where), ids);
}

void require_group_size(std::size_t items) { current().function.group_items = items; }

void barrier(unsigned memories, location where) {
    instruction i = make(opcode::barrier, scalar::nothing, where);
    i.bits = memories;
    current().record(i);
}

node barrier_count(node condition, location where) {
    tracer& t = current();
    const value_id id = t.use(condition);
    instruction i = make(opcode::barrier, scalar::i32, where);
    i.bits = 3;
    return t.node_of(t.record(i, {&id, 1}));
}

void fence(memory_scope among, location where) {
    instruction i = make(opcode::fence, scalar::nothing, where);
    i.bits = static_cast<std::uint64_t>(among);
    current().record(i);
}

node sub_group(sub_group_op what, const node* operands, std::size_t count, location where) {
    tracer& t = current();
    value_id ids[3] = {};
    for (std::size_t k = 0; k < count; ++k) ids[k] = t.use(operands[k]);
    const type result = what == sub_group_op::barrier  ? type()
                        : what == sub_group_op::ballot ? type(scalar::u32)
                                                       : operands[0].type;
    instruction i = make(opcode::sub_group, result, where);
    i.detail = static_cast<std::uint16_t>(what);
    return t.node_of(t.record(i, {ids, count}));
}

node atomic(atomic_op what, node pointer, node index, const node* values, std::size_t count, location where) {
    tracer& t = current();
    value_id ids[4] = {t.use(pointer), t.use(index)};
    for (std::size_t k = 0; k < count; ++k) ids[2 + k] = t.use(values[k]);
    const type result = what == atomic_op::store ? type() : pointee(pointer.type);
    instruction i = make(opcode::atomic, result, where);
    i.detail = static_cast<std::uint16_t>(what);
    return t.node_of(t.record(i, {ids, 2 + count}));
}

void print(const std::shared_ptr<const ir::print_format>& format, const node* words, std::size_t count) {
    tracer& t = current();
    std::vector<value_id> ids(count);
    for (std::size_t k = 0; k < count; ++k) ids[k] = t.use(words[k]);
    instruction i = make(opcode::print, scalar::nothing, format->where);
    i.bits = t.function.formats.size();
    t.function.formats.push_back(format);
    t.function.has_output = true;
    t.record(i, ids);
}

}  // namespace balm::trace
