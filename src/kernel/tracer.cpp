// Records what device values do. In: the calls of balm/trace.hpp, made while the user's lambda runs. Out:
// an ir::function, verified and simplified. One tracer a function under definition; traces nest.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balm/dsl/value.hpp"
#include "balm/error.hpp"
#include "balm/trace.hpp"
#include "emit/names.hpp"
#include "ir/aggregate.hpp"
#include "ir/as_function.hpp"
#include "ir/grid.hpp"
#include "ir/ir.hpp"
#include "runtime/system.hpp"
#include "runtime/thread_stock.hpp"

namespace balm::trace {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

/// Deeper than this in host stack while tracing, a C++ function on device values is calling itself.
constexpr std::size_t max_stack_bytes = 1 << 20;
/// What is left of a stack for what is called between two instructions, and for the exception: this much, or
/// a quarter of a small stack.
constexpr std::size_t spare_stack_bytes = 128 << 10;
/// Where the host's stack is; a local variable may lie elsewhere (AddressSanitizer's do).
inline std::uintptr_t stack_here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

/// How far down the stack a trace that begins here may go.
std::uintptr_t stack_end() {
    const std::uintptr_t here = stack_here(), end = here - std::min(here, max_stack_bytes);
    const runtime::stack_bounds thread = runtime::stack_of_thread();
    if (here <= thread.low || here > thread.high) return end;  // a coroutine's, which nobody describes
    return std::max(end, thread.low + std::min(spare_stack_bytes, (here - thread.low) / 4));
}

/// What one array inside a kernel may take: more than any device has for a work-item or group.
constexpr std::uint64_t max_object_bytes = 1 << 20;

[[noreturn]] void fail(location where, const std::string& what) {
    throw trace_error(where.file ? fmt::format("{}:{}: {}", where.file, where.line, what) : what);
}

enum class construct : std::uint8_t { body, if_, while_, loop };

/// A block being recorded into.
struct frame {
    construct kind = construct::body;
    block_id block = 0;
    value_id owner = ir::none;
    std::uint32_t token = 0;
    location where;
    bool has_else = false;
};

std::atomic<std::uint32_t> traces_begun{0};
thread_local constinit tracer* innermost = nullptr;

/// What a trace is recorded into. A thread's traces use the same memory one after the other: getting it anew
/// for each took a third of the time of a long one.
struct recording_memory {
    std::vector<instruction> code;
    std::vector<value_id> operands;

    void clear() noexcept {
        constexpr std::size_t most_kept = 1 << 15;
        if (code.capacity() > most_kept) {
            code = {};
            operands = {};
        }
        code.clear();
        operands.clear();
    }
    void swap(std::vector<instruction>& other_code, std::vector<value_id>& other_operands) noexcept {
        code.swap(other_code);
        operands.swap(other_operands);
    }
};
using spare_memory = runtime::scratch<recording_memory, 1>;

}  // namespace

struct tracer {
    ir::function function;
    std::uint32_t serial = ++traces_begun;
    std::vector<frame> frames{frame{}};
    std::uint32_t last_token = 0;
    std::size_t parameter_names = 0;
    std::vector<bool> assigned;   ///< by value: written to after it was made, so it needs a variable
    std::vector<bool> addressed;  ///< by value: its address was taken, so the variable lives in memory
    location where;               ///< the last line known: instructions that know none inherit it
    std::string fault;            ///< noted by a destructor, thrown by the next instruction
    std::uintptr_t stack_begin = 0, stack_end = 0;
    tracer* outer = nullptr;

    void check() {
        if (!fault.empty()) throw trace_error(std::exchange(fault, {}));
        if (stack_here() < stack_end)
            fail(where, fmt::format("the trace of '{}' does not end: a C++ function on device values calls "
                                    "itself (it took {} KiB of this thread's stack). Devices have no "
                                    "recursion; write it with WHILE or range",
                                    function.name, (stack_begin - stack_end) >> 10));
    }

    value_id record(const instruction& what, std::span<const value_id> operands = {}) {
        check();
        const value_id id = function.add(what, operands);
        instruction& made = function.code[id];
        made.knows_line = made.where.file != nullptr;
        if (made.knows_line)
            where = made.where;
        else
            made.where = where;
        function.blocks[frames.back().block].push_back(id);
        return id;
    }

    value_id use(node n) {
        if (n.trace == serial) return n.id;
        fail(where, fmt::format("a device value that belongs to another kernel or function is used in '{}'; "
                                "pass it as a parameter",
                                function.name));
    }

    node node_of(value_id id) const { return {id, serial, function.code[id].result}; }

    block_id add_block() {
        function.blocks.emplace_back();
        return static_cast<block_id>(function.blocks.size() - 1);
    }

    std::uint32_t enter(construct kind, value_id owner, location at) {
        frames.push_back({kind, function.code[owner].blocks[0], owner, ++last_token, at});
        return last_token;
    }

    frame& top(std::uint32_t token) {
        check();
        if (frames.back().token == token) return frames.back();
        fail(frames.back().where, "this block is not closed where the one around it ends");
    }

    const std::vector<value_id>& recorded(const frame& f) const { return function.blocks[f.block]; }

    [[noreturn]] void refuse_empty(const frame& f, const char* what) {
        fail(f.where, fmt::format("this {} block records nothing. A C++ continue inside it cannot be seen "
                                  "by the device: write continue_()",
                                  what));
    }

    bool in_loop() const {
        return std::any_of(frames.begin(), frames.end(), [](const frame& f) {
            return f.kind == construct::loop || f.kind == construct::while_;
        });
    }
};

bool is_recording() noexcept { return innermost != nullptr; }

namespace {

tracer& current() {
    if (innermost) return *innermost;
    throw trace_error(
        "a device value (Int, Float, …) is used outside of a kernel. Device values exist only while "
        "balm::kernel or balm::function runs its lambda");
}

instruction make(opcode op, ir::type result, location where = {}) {
    instruction i;
    i.op = op;
    i.result = result;
    i.where = where;
    return i;
}

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
        fail(where, fmt::format("{}({}) is asked for, but '{}' has {} dimension{}", ir::to_string(what),
                                dimension, t.function.name, limit, limit == 1 ? "" : "s"));
    instruction i = make(opcode::place, scalar::i64, where);
    i.detail = static_cast<std::uint16_t>(what);
    i.bits = static_cast<std::uint64_t>(dimension);
    return t.node_of(t.record(i));
}

int grid_dimensions(location where) {
    const ir::function& f = current().function;
    if (f.dimensions > 0) return f.dimensions;
    fail(where, fmt::format("work_dimensions() is asked for in '{}', a function, which kernels of any number "
                            "of dimensions may call; pass it as a parameter",
                            f.name));
}

node convert(node value, scalar to) {
    tracer& t = current();
    const value_id id = t.use(value);
    if (value.type == type(to, value.type.lanes)) return value;
    if (value.type.is_pointer() ? to != scalar::u64 : value.type.aggregate != 0)
        fail(t.where,
             fmt::format("a value of type {} is converted to {}", ir::to_string(value.type), to_string(to)));
    return t.node_of(
        t.record(make(opcode::convert, type(to, value.type.is_pointer() ? 1 : value.type.lanes)), {&id, 1}));
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
        fail(t.where, fmt::format("a vector of {} lanes is made of {}", vector.lanes, ids.size()));
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

node load(node pointer, node index, location where, bool is_volatile) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index)};
    instruction i = make(opcode::load, ir::value_of_memory(pointee(pointer.type)), where);
    i.detail = is_volatile ? ir::volatile_access : ir::plain_access;
    return t.node_of(t.record(i, ids));
}

node object(type element, std::uint64_t count, space where, bool zeroed, location at) {
    tracer& t = current();
    if (count == 0 || count * size_of(element) > max_object_bytes)
        fail(at,
             fmt::format("an array of {} elements of {} bytes is declared in '{}': between 1 element and {} "
                         "bytes there is room for in a kernel",
                         count, size_of(element), t.function.name, max_object_bytes));
    if (where == space::local && (t.function.dimensions == 0 || t.frames.size() > 1))
        fail(at,
             "a local array belongs to the kernel as a whole: declare it ahead of IF, WHILE and loops, and "
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

namespace {

/// Of an integer type.
std::int64_t number_of(scalar s, std::uint64_t bits) {
    const std::size_t unused = 64 - 8 * size_of(s);
    return is_signed(s) ? static_cast<std::int64_t>(bits << unused) >> unused
                        : static_cast<std::int64_t>(std::min<std::uint64_t>(bits, INT64_MAX));
}

[[noreturn]] void refuse_index(std::int64_t index, std::uint64_t elements, location where) {
    fail(where, fmt::format("the index {} is out of range: the array has {} element{}, counted from 0", index,
                            elements, elements == 1 ? "" : "s"));
}

}  // namespace

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
             fmt::format("lane {} is asked for: the vector has {} lanes, counted from 0", lane, lanes));
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
    // make_cells turns this into the object that the variable becomes.
    return t.node_of(t.record(make(opcode::offset, pointer_to(variable.type, space::private_)), {&id, 1}));
}

void store(node pointer, node index, node value, location where, bool is_volatile) {
    tracer& t = current();
    const value_id ids[] = {t.use(pointer), t.use(index), t.use(value)};
    instruction i = make(opcode::store, scalar::nothing, where);
    i.detail = is_volatile ? ir::volatile_access : ir::plain_access;
    t.record(i, ids);
}

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

position here() {
    const frame& f = current().frames.back();
    return {f.block, static_cast<std::uint32_t>(current().recorded(f).size())};
}

node guard(bool is_and, node left, position since, node right) {
    tracer& t = current();
    value_id ids[] = {t.use(left), t.use(right)};
    instruction i = make(is_and ? opcode::logic_and : opcode::logic_or, scalar::boolean);
    i.blocks[0] = t.add_block();
    const block_id around = t.frames.back().block;
    if (since.block == around) {
        auto& outside = t.function.blocks[around];
        const auto first = outside.begin() + static_cast<std::ptrdiff_t>(since.size);
        t.function.blocks[i.blocks[0]].assign(first, outside.end());
        outside.erase(first, outside.end());
    }
    return t.node_of(t.record(i, ids));
}

std::uint32_t open_if(node condition, location where) {
    tracer& t = current();
    const value_id id = t.use(condition);
    instruction i = make(opcode::if_, scalar::nothing, where);
    i.blocks[0] = t.add_block();
    i.blocks[1] = t.add_block();
    return t.enter(construct::if_, t.record(i, {&id, 1}), where);
}

void open_else(std::uint32_t token) {
    tracer& t = current();
    frame& f = t.top(token);
    if (t.recorded(f).empty()) t.refuse_empty(f, "IF");
    f.block = t.function.code[f.owner].blocks[1];
}

bool mark_else() {
    current().frames.back().has_else = true;
    return true;
}

std::uint32_t open_while(location where) {
    tracer& t = current();
    const value_id condition = ir::none;
    instruction i = make(opcode::while_, scalar::nothing, where);
    i.blocks[0] = t.add_block();
    i.blocks[1] = t.add_block();
    return t.enter(construct::while_, t.record(i, {&condition, 1}), where);
}

void test_while(std::uint32_t token, node condition) {
    tracer& t = current();
    frame& f = t.top(token);
    t.function.operands_of(f.owner)[0] = t.use(condition);
    f.block = t.function.code[f.owner].blocks[1];
}

namespace {

std::uint32_t open_loop(instruction i, std::span<const value_id> operands, node& variable) {
    tracer& t = current();
    i.blocks[0] = t.add_block();
    const value_id id = t.record(i, operands);
    variable = t.node_of(id);
    return t.enter(construct::loop, id, i.where);
}

}  // namespace

std::uint32_t open_for(node begin, node end, node step, node& variable, location where) {
    tracer& t = current();
    const value_id ids[] = {t.use(begin), t.use(end), t.use(step)};
    const instruction& by = t.function.code[ids[2]];
    if (by.op == opcode::constant && by.bits == 0) fail(where, "the step of this range is 0");
    return open_loop(make(opcode::for_, begin.type, where), ids, variable);
}

std::uint32_t open_grid_for(node count, node& variable, location where, int dimension) {
    tracer& t = current();
    const auto blocks_around = static_cast<int>(t.frames.size()) - 1;
    const int loops_around = t.function.dimensions - 1 - dimension;
    if (blocks_around < loops_around)
        fail(where, "grid_range shares out the work-items of a 1-dimensional kernel; this is none");
    if (blocks_around > loops_around)
        fail(where, "grid_range stands inside another block; it walks the whole grid");
    const value_id id = t.use(count);
    instruction loop = make(opcode::grid_for, scalar::i64, where);
    loop.bits = static_cast<std::uint64_t>(dimension);
    return open_loop(loop, {&id, 1}, variable);
}

void close(std::uint32_t token) {
    tracer& t = current();
    const frame f = t.top(token);
    if (f.kind == construct::while_ && t.recorded(f).empty()) t.refuse_empty(f, "WHILE");
    if (f.kind == construct::if_ && f.has_else && t.recorded(f).empty()) t.refuse_empty(f, "ELSE");
    t.frames.pop_back();
}

void left_early(std::uint32_t token, const char* construct, location where,
                int exceptions_at_start) noexcept {
    if (!innermost) return;
    auto& frames = innermost->frames;
    while (frames.size() > 1 && frames.back().token >= token) frames.pop_back();
    if (std::uncaught_exceptions() > exceptions_at_start || !innermost->fault.empty()) return;
    try {
        innermost->fault = fmt::format(
            "{}:{}: this {} block is left by a C++ break, return or goto, which the device cannot see: write "
            "break_(), return_() or continue_()",
            where.file, where.line, construct);
    } catch (...) {
        innermost->fault = "left by a break";  // short: no memory is needed
    }
}

void break_(location where) {
    tracer& t = current();
    if (!t.in_loop()) fail(where, "break_() stands outside of WHILE and range");
    t.record(make(opcode::break_, scalar::nothing, where));
}

void continue_(location where) {
    tracer& t = current();
    if (!t.in_loop()) fail(where, "continue_() stands outside of WHILE and range");
    t.record(make(opcode::continue_, scalar::nothing, where));
}

void return_(const node* value, location where) {
    tracer& t = current();
    if (value && t.function.dimensions > 0)
        fail(where, "a kernel returns no value; write to an Out parameter and return_()");
    const value_id id = value ? t.use(*value) : ir::none;
    t.record(make(opcode::return_, scalar::nothing, where), {&id, 1});
}

namespace {

/// Refuses a call, from a kernel, of a function that asks for a dimension which the kernel lacks.
void refuse_lacking_dimensions(const ir::function& callee) {
    const ir::function& kernel = current().function;
    const auto lacks = [&](const instruction& i) {
        return i.op == opcode::place && i.bits >= static_cast<std::uint64_t>(kernel.dimensions);
    };
    for (const ir::function* each : ir::with_callees(callee)) {
        const auto found = std::find_if(each->code.begin(), each->code.end(), lacks);
        if (found != each->code.end())
            fail(found->where,
                 fmt::format("{}({}) is asked for in '{}', but '{}', which calls it, has {} dimension{}",
                             ir::to_string(static_cast<place>(found->detail)), found->bits, each->name,
                             kernel.name, kernel.dimensions, kernel.dimensions == 1 ? "" : "s"));
    }
}

/// A kernel as the function that the current kernel calls: the one made for an earlier call, or a new one.
std::shared_ptr<const ir::function> called_kernel(const ir::function& kernel, location where) {
    const ir::function& caller = current().function;
    if (caller.dimensions == 0)
        fail(where,
             fmt::format("the kernel '{}' is called in the function '{}': only kernels call kernels. Make "
                         "what they share a balm::function",
                         kernel.name, caller.name));
    if (caller.dimensions != kernel.dimensions)
        fail(where,
             fmt::format("the kernel '{}' has {} dimension{} and is called in '{}', which has {}: a kernel "
                         "calls kernels of its own number of dimensions",
                         kernel.name, kernel.dimensions, kernel.dimensions == 1 ? "" : "s", caller.name,
                         caller.dimensions));
    if (kernel.text)
        fail(where,
             fmt::format(
                 "the kernel '{}', which is given as text, is called in '{}': give what is to be called "
                 "as a source_function",
                 kernel.name, caller.name));
    if (kernel.local_bytes > 0)
        fail(where,
             fmt::format("the kernel '{}' declares a local array of its own, and is called in '{}': pass the "
                         "array to it, as Local",
                         kernel.name, caller.name));
    std::shared_ptr<const ir::function> made = ir::as_function(kernel);
    for (const auto& known : caller.callees)
        if (known->identity == made->identity && known->name == made->name && known->given == made->given)
            return known;
    return made;
}

}  // namespace

node call(const std::shared_ptr<const ir::function>& given, const node* arguments, std::size_t count,
          location where) {
    tracer& t = current();
    const auto callee = given->dimensions > 0 ? called_kernel(*given, where.file ? where : t.where) : given;
    std::vector<value_id> ids(count);
    for (std::size_t k = 0; k < count; ++k) ids[k] = t.use(arguments[k]);
    auto& callees = t.function.callees;
    auto known = std::find(callees.begin(), callees.end(), callee);
    if (known == callees.end() && t.function.dimensions > 0) refuse_lacking_dimensions(*callee);
    instruction i = make(callee->is_pure ? opcode::evaluate : opcode::call, callee->result, where);
    i.bits = static_cast<std::uint64_t>(known - callees.begin());
    if (known == callees.end()) callees.push_back(callee);
    t.function.has_output = t.function.has_output || callee->has_output;
    return t.node_of(t.record(i, ids));
}

namespace {

/// "mat_mult(n, a, b, result)" -> the name, and the names of the parameters.
std::vector<std::string> split_signature(std::string_view signature, location where) {
    std::vector<std::string> words;
    std::string word;
    for (char c : signature) {
        if (c == '(' || c == ',' || c == ')') {
            word.erase(word.find_last_not_of(' ') + 1);
            words.push_back(std::exchange(word, {}));
        } else if (c != ' ' || !word.empty()) {
            word += c;
        }
    }
    if (!word.empty()) words.push_back(word);
    for (const std::string& w : words)
        if (!emit::is_identifier(w))
            fail(where, fmt::format("'{}' is no name for a kernel or function: write a C identifier, with "
                                    "the names of its parameters in parentheses if you like, as in "
                                    "\"scale(n, in, out)\"",
                                    signature));
    if (words.empty()) fail(where, "a kernel or function needs a name");
    return words;
}

}  // namespace

recording::recording(std::string_view signature, int dimension_count, location where)
    : tracer_(std::make_unique<tracer>()) {
    tracer& t = *tracer_;
    t.function.names = split_signature(signature, where);
    t.function.name = t.function.names[0];
    t.parameter_names = t.function.names.size() - 1;
    t.function.where = where;
    t.function.dimensions = dimension_count;
    t.function.blocks.resize(1);
    spare_memory()->swap(t.function.code, t.function.operands);
    t.where = where;
    t.stack_begin = stack_here();
    t.stack_end = stack_end();
    t.outer = std::exchange(innermost, &t);
}

recording::~recording() {
    if (tracer_) innermost = tracer_->outer;
}

void recording::describe(std::string words) { tracer_->function.description = std::move(words); }

node recording::parameter(type what, access use, space where) {
    tracer& t = *tracer_;
    const std::size_t position = t.function.parameters.size();
    const bool named = position < t.parameter_names;
    ir::parameter p;
    p.what = use == access::value || what.is_image() ? what
             : use == access::local                  ? pointer_to(what, space::local)
                                                     : pointer_to(what, where, use == access::in);
    p.use = use;
    if (named) p.name = t.function.names[position + 1];
    t.function.parameters.push_back(p);
    instruction i = make(opcode::parameter, p.what);
    i.bits = position;
    return t.node_of(t.record(i));
}

namespace {

/// Turns what reads, writes and takes the address of a variable in memory into loads, stores and its pointer.
void use_objects(ir::function& f) {
    const value_id index = f.add(make(opcode::constant, scalar::i32));
    f.blocks[0].insert(f.blocks[0].begin(), index);
    const auto become = [&](value_id v, opcode op, std::initializer_list<value_id> operands) {
        f.code[v].op = op;
        f.set_operands(v, {operands.begin(), operands.size()});
    };
    for (value_id v = 0; v < index; ++v) {
        const instruction& i = f.code[v];
        if (i.operand_count == 0 || f.operand(v, 0) == ir::none) continue;
        const value_id object = f.operand(v, 0);
        if (f.code[object].op != opcode::object) continue;
        if (i.op == opcode::read_cell)
            become(v, opcode::load, {object, index});
        else if (i.op == opcode::write_cell)
            become(v, opcode::store, {object, index, f.operand(v, 1)});
        else if (i.op == opcode::offset && i.operand_count == 1)
            become(v, opcode::offset, {object, index});
    }
}

/// Gives each value that was assigned to a variable that begins as this value, and lets reads and writes
/// refer to it; reads of all other values are the values themselves, and go. A variable whose address was
/// taken becomes an object. `recorded` gets what was recorded.
void make_cells(ir::function& f, const std::vector<bool>& assigned, const std::vector<bool>& addressed,
                recording_memory& recorded) {
    const auto is = [](const std::vector<bool>& flags, value_id v) { return v < flags.size() && flags[v]; };
    recorded.code.swap(f.code);
    recorded.operands.swap(f.operands);
    const auto count = static_cast<value_id>(recorded.code.size());
    const auto operands_of = [&](value_id v) {
        return std::span<const value_id>(recorded.operands)
            .subspan(recorded.code[v].first_operand, recorded.code[v].operand_count);
    };
    // A value is made before it is read, so what it becomes is known by then; its variable stands behind it.
    std::vector<value_id> becomes(count), cell_of(count, ir::none);
    std::vector<bool> goes(count, false);
    value_id made = 0;
    for (value_id v = 0; v < count; ++v) {
        const value_id source = recorded.code[v].op == opcode::read_cell ? operands_of(v)[0] : ir::none;
        goes[v] = source != ir::none && cell_of[source] == ir::none;
        becomes[v] = goes[v] ? becomes[source] : made++;
        if (is(assigned, v) || is(addressed, v)) cell_of[v] = made++;
    }
    f.code.reserve(made);
    f.operands.reserve(recorded.operands.size());
    for (value_id v = 0; v < count; ++v) {
        const instruction& i = recorded.code[v];
        if (!goes[v]) {
            const auto first = static_cast<std::uint32_t>(f.operands.size());
            for (value_id o : operands_of(v)) f.operands.push_back(o == ir::none ? o : becomes[o]);
            const bool takes_address = i.op == opcode::offset && i.operand_count == 1;
            const bool is_access = i.op == opcode::read_cell || i.op == opcode::write_cell || takes_address;
            if (is_access) f.operands[first] = cell_of[operands_of(v)[0]];
            f.code.push_back(i);
            f.code.back().first_operand = first;
        }
        if (cell_of[v] != ir::none) {
            instruction cell = make(opcode::cell, i.result, i.where);
            cell.name = i.name;
            cell.knows_line = i.knows_line;
            if (is(addressed, v)) {
                cell.op = opcode::object;
                cell.result = pointer_to(i.result, space::private_);
                cell.bits = 1;
                cell.detail = ir::one_element;
            }
            f.add(cell, {&becomes[v], 1});
        }
    }
    for (value_id v = 0; v < count; ++v)
        if (goes[v] && recorded.code[v].name != ir::none) f.code[becomes[v]].name = recorded.code[v].name;
    ir::block order;
    for (ir::block& block : f.blocks) {
        order.clear();
        for (value_id v : block) {
            if (!goes[v]) order.push_back(becomes[v]);
            if (cell_of[v] != ir::none) order.push_back(cell_of[v]);
        }
        block.assign(order.begin(), order.end());
    }
}

/// Whether a pointer points into private memory that the function declares, or to constants.
bool is_own(const ir::function& f, value_id pointer) {
    const opcode root = f.code[ir::root_of(f, pointer)].op;
    return root == opcode::object || root == opcode::constant_array;
}

/// Whether calls of the function may be shared and moved: no memory, no place in the grid, no barrier.
bool is_pure(const ir::function& f) {
    if (f.result == type() || f.exchanges != 0) return false;
    return std::none_of(f.code.begin(), f.code.end(), [&](const instruction& i) {
        const bool in_memory = i.op == opcode::load || i.op == opcode::store;
        return (in_memory && !is_own(f, f.operands[i.first_operand])) || i.op == opcode::barrier ||
               i.op == opcode::call || i.op == opcode::place || i.op == opcode::atomic ||
               i.op == opcode::fence || i.op == opcode::print || i.op == opcode::write_image;
    });
}

/// The elements of what a pointer without an offset points to; 0 where that is not known.
std::uint64_t elements_of(const ir::function& f, value_id pointer) {
    const instruction& i = f.code[pointer];
    if (i.op == opcode::object) return i.bits;
    if (i.op == opcode::constant_array) {
        const ir::constant_data& data = *f.constants[i.bits];
        return data.is_given() ? data.given_count : data.bits.size();
    }
    if (i.op != opcode::member) return 0;
    const type whole = pointee(f.code[f.operand(pointer, 0)].result);
    const std::uint64_t count = ir::is_structure(whole) ? ir::structure_of(whole).members[i.bits].count : 1;
    return count > 1 ? count : 0;
}

/// An index that is known to be out of range only once the function is simplified.
void refuse_indices_beyond(const ir::function& f) {
    const auto constant = [&](value_id v) -> std::optional<std::int64_t> {
        if (f.code[v].op != opcode::constant) return std::nullopt;
        return number_of(f.code[v].result.element, f.code[v].bits);
    };
    for (const auto& block : f.blocks) {
        for (value_id v : block) {
            const opcode op = f.code[v].op;
            if (op != opcode::load && op != opcode::store && op != opcode::atomic) continue;
            value_id pointer = f.operand(v, 0);
            std::optional<std::int64_t> index = constant(f.operand(v, 1));
            for (; index && f.code[pointer].op == opcode::offset; pointer = f.operand(pointer, 0)) {
                const std::optional<std::int64_t> step = constant(f.operand(pointer, 1));
                std::int64_t sum = 0;
                const bool fits = step && !__builtin_add_overflow(*index, *step, &sum);
                index = fits ? std::optional(sum) : std::nullopt;
            }
            const std::uint64_t elements = index ? elements_of(f, pointer) : 0;
            if (elements > 0 && (*index < 0 || static_cast<std::uint64_t>(*index) >= elements))
                refuse_index(*index, elements, f.code[v].where);
        }
    }
}

/// A step that is known to be 0 only once the function is simplified.
void refuse_endless_ranges(const ir::function& f) {
    for (const auto& block : f.blocks) {
        for (value_id v : block) {
            if (f.code[v].op != opcode::for_) continue;
            const instruction& step = f.code[f.operand(v, 2)];
            if (step.op == opcode::constant && step.bits == 0)
                fail(f.code[v].where, "the step of this range is 0");
        }
    }
}

}  // namespace

std::shared_ptr<const ir::function> recording::finish(const node* result) {
    tracer& t = *tracer_;
    if (result) return_(result, t.where);
    t.check();
    if (t.frames.size() != 1) fail(t.frames.back().where, "this block is not closed at the kernel's end");
    const std::size_t named = t.parameter_names;
    if (named > 0 && named != t.function.parameters.size())
        fail(t.function.where, fmt::format("'{}' names {} parameters, but its lambda takes {}",
                                           t.function.name, named, t.function.parameters.size()));
    t.function.result = result ? result->type : type();
    recording_memory recorded;
    make_cells(t.function, t.assigned, t.addressed, recorded);
    if (!t.addressed.empty()) use_objects(t.function);
    spare_memory()->swap(recorded.code, recorded.operands);
    ir::verify(t.function);
    ir::simplify(t.function);
    refuse_endless_ranges(t.function);
    refuse_indices_beyond(t.function);
    ir::contract(t.function);
    t.function.exchanges = ir::exchanged_types(t.function);
    t.function.given = ir::given_constants(t.function);
    t.function.local_bytes = ir::local_memory_of(t.function);
    t.function.is_pure = is_pure(t.function);
    t.function.sees_groups = t.function.has_output || ir::sees_groups(t.function);
    t.function.identity = ir::hash(t.function);
    return std::make_shared<const ir::function>(std::move(t.function));
}

}  // namespace balm::trace

namespace balm::dsl::detail {

void unsigned_range_counts_down(location where) {
    trace::fail(where, "a range over unsigned values has a negative step: count down with Int or Long");
}

void constant_does_not_fit(scalar type) {
    throw trace_error(std::string("a host constant does not fit the device type ") + to_string(type) +
                      " that it is combined with; give it a variable of a wider type (Long x = …)");
}

void unsigned_constant_does_not_fit(scalar type, std::uint64_t value) {
    throw trace_error(
        fmt::format("the host constant {0} takes the device type {1} that it is combined with, and is beyond "
                    "its range: cast<std::uint{2}_t>(x) makes the other operand unsigned, Long(x) wide",
                    value, to_string(type), 8 * size_of(type)));
}

}  // namespace balm::dsl::detail
