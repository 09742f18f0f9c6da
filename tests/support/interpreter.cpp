// Walks the structured blocks of a function. Every value is kept as words: a scalar's bit pattern, a vector's
// lanes one a word, a structure's bytes, a pointer's address.

#include "support/interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include "balm/short_vector.hpp"
#include "ir/passes/aggregate.hpp"
#include "oracle.hpp"
#include "support/interpreter_atomic.hpp"
#include "support/interpreter_image.hpp"
#include "support/interpreter_memory.hpp"
#include "support/interpreter_sub_group.hpp"

namespace balm::test {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;
using trace::type;
using words = std::span<std::uint64_t>;
__extension__ using wide = __int128;

/// More instructions than this, and the group is taken to run for ever.
constexpr std::uint64_t max_steps = 2'000'000;

[[noreturn]] void fail(const ir::function& f, const std::string& what) {
    throw std::runtime_error(fmt::format("interpreter, in '{}': {}", f.name, what));
}

/// An integer's bit pattern as a number. u64 beyond the range of int64 counts as negative.
std::int64_t number(scalar s, std::uint64_t bits) {
    return static_cast<std::int64_t>(oracle::convert(s, scalar::i64, bits));
}

std::uint64_t f32_of_half(std::uint64_t bits) {
    half given;
    given.bits = static_cast<std::uint16_t>(bits);
    return std::bit_cast<std::uint32_t>(static_cast<float>(given));
}
std::uint64_t half_of_f32(std::uint64_t bits) {
    return half(std::bit_cast<float>(static_cast<std::uint32_t>(bits))).bits;
}

/// The words that a value of the type takes.
std::size_t width_of(type t) {
    if (ir::is_structure(t)) return (size_of(t) + 7) / 8;
    return t.is_pointer() ? 1 : t.lanes;
}

/// A work-item: its number in its group.
using item = std::uint32_t;
using items = std::vector<item>;

/// The group that runs, and what its work-items share.
struct work_group {
    const interpreter_grid& grid;
    interpreter_memory& memory;
    std::vector<interpreter_image> images = {};
    std::map<const ir::constant_data*, std::uint64_t> constants = {};  ///< their addresses
    std::int64_t first[3] = {0, 0, 0};
    std::int64_t extents[3] = {1, 1, 1};
    std::uint64_t steps = 0;

    std::size_t size() const { return static_cast<std::size_t>(extents[0] * extents[1] * extents[2]); }
    std::int64_t at(ir::place what, std::size_t d, std::int64_t linear) const {
        const std::int64_t local[] = {linear % extents[0], linear / extents[0] % extents[1],
                                      linear / extents[0] / extents[1]};
        switch (what) {
            case ir::place::global_id: return first[d] + local[d];
            case ir::place::local_id: return local[d];
            case ir::place::group_id: return first[d] / grid.local[d];
            case ir::place::global_size: return grid.global[d];
            case ir::place::local_size: return extents[d];
            case ir::place::group_count: return (grid.global[d] + grid.local[d] - 1) / grid.local[d];
            case ir::place::global_offset: return 0;  // where its grids begin
            case ir::place::local_linear_id: return linear;
            case ir::place::local_linear_size: return static_cast<std::int64_t>(size());
            case ir::place::sub_group_id: return linear / ir::sub_group_size;
        }
        return 0;
    }
};

/// One activation of a function, by some of a group's work-items together.
class activation {
public:
    activation(const ir::function& f, work_group& group) : f_(f), group_(group), leaves_(group.size()) {
        for (const instruction& i : f.code) {
            first_word_.push_back(words_);
            words_ += width_of(i.result);
        }
        values_.resize(words_ * group.size());
        for (const ir::parameter& p : f.parameters) arguments_.emplace_back(width_of(p.what) * group.size());
        result_.resize(width_of(f.result) * group.size());
    }
    activation(const activation&) = delete;
    ~activation() {
        for (const std::uint64_t address : objects_) group_.memory.free(address);
    }

    words argument(std::size_t k, item i) { return part(arguments_[k], i); }
    words result(item i) { return part(result_, i); }
    void run(const items& all) {
        if (f_.text) fail(f_, "a function given as text");
        block_(0, all);
    }

private:
    enum class flow : std::uint8_t { on, leaves_loop, next_turn, returns };

    // ---- values

    words part(std::vector<std::uint64_t>& of_all, item i) {
        const std::size_t width = of_all.size() / group_.size();
        return words(of_all).subspan(i * width, width);
    }
    const instruction& at(value_id v) const { return f_.code[v]; }
    words value(value_id v, item i) {
        return {values_.data() + i * words_ + first_word_[v], width_of(at(v).result)};
    }
    words operand(value_id v, std::size_t k, item i) { return value(f_.operand(v, k), i); }
    type operand_type(value_id v, std::size_t k) const { return at(f_.operand(v, k)).result; }
    std::int64_t integer(value_id v, std::size_t k, item i) {
        return number(operand_type(v, k).element, operand(v, k, i)[0]);
    }
    /// A lane of an operand; a scalar counts for all lanes.
    std::uint64_t lane(value_id v, std::size_t k, std::size_t lane, item i) {
        const words all = operand(v, k, i);
        return all[all.size() == 1 ? 0 : lane];
    }
    void set(value_id v, item i, words from) { std::copy(from.begin(), from.end(), value(v, i).begin()); }

    // ---- control

    items only(const items& of, flow wanted) const {
        items found;
        std::copy_if(of.begin(), of.end(), std::back_inserter(found),
                     [&](item i) { return leaves_[i] == wanted; });
        return found;
    }
    items where(const items& of, value_id condition, bool wanted) {
        items found;
        std::copy_if(of.begin(), of.end(), std::back_inserter(found),
                     [&](item i) { return (value(condition, i)[0] != 0) == wanted; });
        return found;
    }
    void block_(block_id b, items active) {
        for (const value_id v : f_.blocks[b]) {
            if (active.empty()) return;
            step(v, active);
            active = only(active, flow::on);
        }
    }
    /// Turns of a loop's body, as long as `goes_on` finds work-items that take one; `advance` follows each.
    template <class GoesOn, class Advance>
    void loop(block_id body, items active, GoesOn&& goes_on, Advance&& advance) {
        const items all = active;
        for (active = goes_on(active); !active.empty(); active = goes_on(active)) {
            block_(body, active);
            for (const item i : active)
                if (leaves_[i] == flow::next_turn) leaves_[i] = flow::on;
            active = only(active, flow::on);
            for (const item i : active) advance(i);
        }
        for (const item i : all)
            if (leaves_[i] == flow::leaves_loop) leaves_[i] = flow::on;
    }
    template <class Begin, class InRange, class By>
    void counted(value_id v, const items& active, Begin&& begin, InRange&& in_range, By&& by) {
        std::vector<wide> turn(group_.size());
        for (const item i : active) turn[i] = begin(i);
        loop(
            at(v).blocks[0], active,
            [&](const items& of) {
                items found;
                for (const item i : of) {
                    if (!in_range(i, turn[i])) continue;
                    value(v, i)[0] = oracle::convert(scalar::i64, at(v).result.element,
                                                     static_cast<std::uint64_t>(turn[i]));
                    found.push_back(i);
                }
                return found;
            },
            [&](item i) { turn[i] += by(i); });
    }
    /// Any 64-bit number, signed or not.
    wide wide_integer(value_id v, std::size_t k, item i) {
        const std::int64_t number = integer(v, k, i);
        const bool is_u64 = at(f_.operand(v, k)).result.element == scalar::u64;
        return is_u64 ? wide(static_cast<std::uint64_t>(number)) : wide(number);
    }
    void for_(value_id v, const items& active) {
        counted(
            v, active, [&](item i) { return wide_integer(v, 0, i); },
            [&](item i, wide k) {
                const wide end = wide_integer(v, 1, i);
                return wide_integer(v, 2, i) > 0 ? k < end : k > end;
            },
            [&](item i) { return wide_integer(v, 2, i); });
    }
    void grid_for(value_id v, const items& active) {
        const std::size_t d = at(v).bits;
        counted(
            v, active, [&](item i) { return group_.at(ir::place::global_id, d, i); },
            [&](item i, wide k) { return k < integer(v, 0, i); },
            [&](item) { return group_.grid.global[d]; });
    }
    void while_(value_id v, const items& active) {
        loop(
            at(v).blocks[1], active,
            [&](const items& of) {
                block_(at(v).blocks[0], of);
                return where(of, f_.operand(v, 0), true);
            },
            [](item) {});
    }
    void guard(value_id v, const items& active) {
        const bool is_or = at(v).op == opcode::logic_or;
        for (const item i : active) value(v, i)[0] = is_or;
        const items undecided = where(active, f_.operand(v, 0), !is_or);
        block_(at(v).blocks[0], undecided);
        for (const item i : undecided) value(v, i)[0] = operand(v, 1, i)[0] != 0;
    }

    // ---- instructions

    void step(value_id v, const items& active) {
        if (++group_.steps > max_steps) fail(f_, "the kernel does not end");
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::if_:
                block_(i.blocks[0], where(active, f_.operand(v, 0), true));
                return block_(i.blocks[1], where(active, f_.operand(v, 0), false));
            case opcode::for_: return for_(v, active);
            case opcode::while_: return while_(v, active);
            case opcode::grid_for: return grid_for(v, active);
            case opcode::logic_and:
            case opcode::logic_or: return guard(v, active);
            case opcode::call:
            case opcode::evaluate: return call(v, active);
            case opcode::barrier: return barrier(v, active);
            case opcode::sub_group: return sub_groups(v, active);
            case opcode::prefetch: return;
            case opcode::fence: return;  // in lockstep everything is in order
            default:
                for (const item each : active) step_of(v, each);
        }
    }
    void step_of(value_id v, item i) {
        const instruction& what = at(v);
        const words result = value(v, i);
        switch (what.op) {
            case opcode::parameter: return set(v, i, argument(what.bits, i));
            case opcode::constant: result[0] = what.bits; return;
            case opcode::place:
                result[0] =
                    static_cast<std::uint64_t>(group_.at(static_cast<ir::place>(what.detail), what.bits, i));
                return;
            case opcode::builtin: return row(v, i);
            case opcode::convert: return convert(v, i);
            case opcode::select:
                if (operand(v, 0, i).size() > 1) fail(f_, "a choice lane by lane");
                return set(v, i, operand(v, operand(v, 0, i)[0] ? 1 : 2, i));
            case opcode::cell:
            case opcode::read_cell: return set(v, i, operand(v, 0, i));
            case opcode::write_cell: return set(f_.operand(v, 0), i, operand(v, 1, i));
            case opcode::load: return load(v, i);
            case opcode::store: return store(v, i);
            case opcode::atomic: return atomic(v, i);
            case opcode::break_: leaves_[i] = flow::leaves_loop; return;
            case opcode::continue_: leaves_[i] = flow::next_turn; return;
            case opcode::return_:
                if (f_.operand(v, 0) != ir::none)
                    std::copy_n(operand(v, 0, i).begin(), this->result(i).size(), this->result(i).begin());
                leaves_[i] = flow::returns;
                return;
            case opcode::broadcast: std::fill(result.begin(), result.end(), operand(v, 0, i)[0]); return;
            case opcode::lane_index:
                for (std::size_t k = 0; k < result.size(); ++k)
                    result[k] = oracle::convert(scalar::i64, what.result.element,
                                                static_cast<std::uint64_t>(integer(v, 0, i)) + k);
                return;
            case opcode::compose:
                for (std::size_t k = 0; k < result.size(); ++k) result[k] = operand(v, k, i)[0];
                return;
            case opcode::swizzle:
                for (std::size_t k = 0; k < result.size(); ++k)
                    result[k] = operand(v, 0, i)[what.bits >> 4 * k & 15];
                return;
            case opcode::insert:
                set(v, i, operand(v, 0, i));
                for (std::size_t k = 0; k < operand(v, 1, i).size(); ++k)
                    result[what.bits >> 4 * k & 15] = operand(v, 1, i)[k];
                return;
            case opcode::object: result[0] = object(v, i); return;
            case opcode::constant_array: result[0] = constant(*f_.constants[what.bits]); return;
            case opcode::offset:
                result[0] = element(operand(v, 0, i)[0], integer(v, 1, i), pointee(what.result));
                return;
            case opcode::member: result[0] = operand(v, 0, i)[0] + offset_of_member(v); return;
            case opcode::reinterpret: result[0] = operand(v, 0, i)[0]; return;
            case opcode::read_image: return image(v, i);
            case opcode::write_image:
                return write_image(image_of(v, i), position(v, i), operand(v, dimensions(v) + 1, i));
            case opcode::image_size:
                result[0] = static_cast<std::uint64_t>(image_of(v, i).extents[what.bits]);
                return;
            default: break;
        }
        fail(f_, fmt::format("'{}' is not interpreted", ir::to_string(what.op)));
    }

    void row(value_id v, item i) {
        const auto what = static_cast<builtin>(at(v).detail);
        const words result = value(v, i);
        const std::size_t count = f_.operands_of(v).size();
        for (std::size_t l = 0; l < result.size(); ++l) {
            std::uint64_t bits[3] = {};
            for (std::size_t k = 0; k < count; ++k) {
                if (operand(v, k, i).size() > result.size())
                    fail(f_, fmt::format("'{}' combines lanes", ir::info(what).name));
                bits[k] = lane(v, k, l, i);
            }
            // A count of another type than the shifted value: its number, whatever its width.
            result[l] = oracle::evaluate(what, operand_type(v, 0).element, {bits, count}).bits;
        }
    }
    void convert(value_id v, item i) {
        const type from = operand_type(v, 0);
        const words result = value(v, i);
        if (from.is_pointer()) return set(v, i, operand(v, 0, i));
        for (std::size_t l = 0; l < result.size(); ++l)
            result[l] = oracle::convert(from.element, at(v).result.element, lane(v, 0, l, i));
    }

    // ---- memory

    static std::uint64_t element(std::uint64_t address, std::int64_t index, type what) {
        return address + static_cast<std::uint64_t>(index) * size_of(what);
    }
    std::uint64_t offset_of_member(value_id v) const {
        const type whole = pointee(operand_type(v, 0));
        if (ir::is_structure(whole)) return ir::structure_of(whole).members[at(v).bits].offset;
        return at(v).bits * balm::size_of(whole.element);
    }
    std::uint64_t object(value_id v, item i) {
        const type what = pointee(at(v).result);
        const bool is_array = at(v).detail == ir::array;
        const std::size_t bytes = at(v).bits * size_of(what);
        if (at(v).result.where == space::local) {
            if (local_.find(v) == local_.end())
                objects_.push_back(local_[v] = group_.memory.allocate(space::local, bytes, !is_array));
            return local_[v];
        }
        // Each time that the object is declared it is another.
        objects_.push_back(group_.memory.allocate(space::private_, bytes, !is_array));
        const bool has_value = at(v).operand_count > 0 && f_.operand(v, 0) != ir::none;
        if (has_value) put(objects_.back(), what, space::private_, operand(v, 0, i));
        return objects_.back();
    }
    std::uint64_t constant(const ir::constant_data& data) {
        auto& known = group_.constants[&data];
        if (known != 0) return known;
        if (data.is_given()) fail(f_, fmt::format("the constant '{}' is not among the arguments", data.name));
        known = group_.memory.allocate(space::constant, data.bits.size() * size_of(data.element), true);
        for (std::size_t k = 0; k < data.bits.size(); ++k) {
            std::uint64_t bits = data.bits[k];
            put(element(known, static_cast<std::int64_t>(k), data.element), data.element, space::constant,
                {&bits, 1});
        }
        return known;
    }
    static bool is_half(type what) { return !what.is_pointer() && what.element == scalar::f16; }
    /// A value of memory of the type, at an address.
    void get(std::uint64_t address, type what, space where, words to) {
        const bool is_whole = what.is_pointer() || ir::is_structure(what);
        const std::size_t bytes = is_whole ? size_of(what) : balm::size_of(what.element);
        for (std::size_t k = 0; k < (is_whole ? 1 : to.size()); ++k) {
            to[k] = 0;
            std::memcpy(&to[k], group_.memory.find(address + k * bytes, bytes, where), bytes);
            if (!is_whole && what.element == scalar::boolean) to[k] = to[k] != 0;
            if (is_half(what)) to[k] = f32_of_half(to[k]);
        }
    }
    void put(std::uint64_t address, type what, space where, words from) {
        const bool is_whole = what.is_pointer() || ir::is_structure(what);
        const std::size_t bytes = is_whole ? size_of(what) : balm::size_of(what.element);
        for (std::size_t k = 0; k < (is_whole ? 1 : from.size()); ++k) {
            const std::uint64_t half_bits = is_half(what) ? half_of_f32(from[k]) : 0;
            std::memcpy(group_.memory.find(address + k * bytes, bytes, where),
                        is_half(what) ? &half_bits : &from[k], bytes);
        }
    }
    void load(value_id v, item i) {
        const type pointer = operand_type(v, 0), what = pointee(pointer);
        get(element(operand(v, 0, i)[0], integer(v, 1, i), what), what, pointer.where, value(v, i));
    }
    void store(value_id v, item i) {
        const type pointer = operand_type(v, 0), what = pointee(pointer);
        if (pointer.is_const) fail(f_, "a store through a pointer that only reads");
        put(element(operand(v, 0, i)[0], integer(v, 1, i), what), what, pointer.where, operand(v, 2, i));
    }
    void atomic(value_id v, item i) {
        const type pointer = operand_type(v, 0), what = pointee(pointer);
        const std::uint64_t address = element(operand(v, 0, i)[0], integer(v, 1, i), what);
        std::uint64_t old = 0;
        get(address, what, pointer.where, {&old, 1});
        const std::size_t given = f_.operands_of(v).size();
        const std::uint64_t first = given > 2 ? operand(v, 2, i)[0] : 0;
        const std::uint64_t second = given > 3 ? operand(v, 3, i)[0] : 0;
        std::uint64_t next =
            after_atomic(static_cast<ir::atomic_op>(at(v).detail), what.element, old, first, second);
        put(address, what, pointer.where, {&next, 1});
        value(v, i)[0] = old;
    }

    // ---- images

    const interpreter_image& image_of(value_id v, item i) { return group_.images[operand(v, 0, i)[0]]; }
    std::size_t dimensions(value_id v) const {
        return static_cast<std::size_t>(trace::image_dimensions(operand_type(v, 0)));
    }
    image_position position(value_id v, item i) {
        image_position at{};
        for (std::size_t d = 0; d < dimensions(v); ++d) at[d] = integer(v, d + 1, i);
        return at;
    }
    void image(value_id v, item i) {
        if (operand_type(v, 1).element != scalar::f32)
            return read_image(image_of(v, i), position(v, i), value(v, i));
        std::array<float, 3> coordinates{};
        for (std::size_t d = 0; d < dimensions(v); ++d)
            std::memcpy(&coordinates[d], operand(v, d + 1, i).data(), sizeof(float));
        sample_image(image_of(v, i), coordinates, value(v, i));
    }

    // ---- several work-items

    void call(value_id v, const items& active) {
        activation inner(*f_.callees[at(v).bits], group_);
        for (std::size_t k = 0; k < f_.operands_of(v).size(); ++k)
            for (const item i : active) std::ranges::copy(operand(v, k, i), inner.argument(k, i).begin());
        inner.run(active);
        for (const item i : active) set(v, i, inner.result(i));
    }
    void barrier(value_id v, const items& active) {
        if (active.size() != group_.size()) fail(f_, "a barrier that some work-items of the group miss");
        if (at(v).operand_count == 0) return;
        const std::size_t count = where(active, f_.operand(v, 0), true).size();
        for (const item i : active) value(v, i)[0] = count;
    }
    void sub_groups(value_id v, const items& active) {
        const auto what = static_cast<ir::sub_group_op>(at(v).detail);
        for (std::size_t first = 0; first < active.size();) {
            const std::size_t begin = active[first] / ir::sub_group_size * ir::sub_group_size;
            const std::size_t size = std::min<std::size_t>(ir::sub_group_size, group_.size() - begin);
            const auto lanes = std::span(active).subspan(first, std::min(size, active.size() - first));
            if (lanes.size() != size || lanes.front() != begin || lanes.back() != begin + size - 1)
                fail(f_, "a sub-group operation that some lanes miss");
            const std::size_t given = f_.operands_of(v).size();
            std::vector<std::uint64_t> values(size), operands(size);
            for (std::size_t k = 0; k < size; ++k) {
                if (given > 0) values[k] = operand(v, 0, lanes[k])[0];
                if (given > 1) operands[k] = operand(v, 1, lanes[k])[0];
            }
            apply_sub_group(what, at(v).result.element, values, operands);
            for (std::size_t k = 0; k < size; ++k) value(v, lanes[k])[0] = values[k];
            first += size;
        }
    }

    const ir::function& f_;
    work_group& group_;
    std::vector<flow> leaves_;  ///< of each work-item
    std::vector<std::size_t>
        first_word_;         ///< of instructions, among a work-item's; a cell's is what it holds
    std::size_t words_ = 0;  ///< of a work-item
    std::vector<std::uint64_t> values_;
    std::vector<std::vector<std::uint64_t>> arguments_;
    std::vector<std::uint64_t> result_;
    std::map<value_id, std::uint64_t> local_;
    std::vector<std::uint64_t> objects_;
};

class launch {
public:
    launch(const ir::function& kernel, const interpreter_grid& grid,
           std::span<const interpreter_argument> arguments)
        : kernel_(kernel), arguments_(arguments), group_{grid, memory_} {
        const std::size_t count = kernel.parameters.size();
        // Of a kernel whose constants are written out, parameters are the last of them.
        if (arguments.size() != count && arguments.size() != count + kernel.given.size())
            fail(kernel, fmt::format("{} arguments for {} parameters", arguments.size(), count));
        for (std::size_t k = count; k < arguments.size(); ++k)
            group_.constants[kernel.given[k - count].get()] =
                memory_.adopt(space::constant, arguments[k].memory);
        for (std::size_t k = 0; k < count; ++k) words_.push_back(bound(kernel.parameters[k], arguments[k]));
    }

    void run() {
        const interpreter_grid& grid = group_.grid;
        std::int64_t* const first = group_.first;
        for (first[2] = 0; first[2] < grid.global[2]; first[2] += grid.local[2])
            for (first[1] = 0; first[1] < grid.global[1]; first[1] += grid.local[1])
                for (first[0] = 0; first[0] < grid.global[0]; first[0] += grid.local[0]) one_group();
    }

private:
    /// What a parameter is in the kernel: a value, an address or the number of an image.
    std::uint64_t bound(const ir::parameter& p, const interpreter_argument& given) {
        if (p.what.is_image()) {
            group_.images.push_back({p.what, given.memory, given.extents, given.through});
            const bool is_plain = !trace::is_normalised(p.what) && balm::size_of(p.what.element) == 4;
            if (!is_plain)
                fail(kernel_, fmt::format("'{}' is an image of fractions or small numbers", p.name));
            return group_.images.size() - 1;
        }
        if (p.use == ir::access::local) return 0;
        if (p.what.is_pointer()) return memory_.adopt(p.what.where, given.memory);
        if (width_of(p.what) > 1) fail(kernel_, "a vector or structure by value");
        return given.bits;
    }
    void one_group() {
        for (std::size_t d = 0; d < 3; ++d)
            group_.extents[d] = std::min(group_.grid.local[d], group_.grid.global[d] - group_.first[d]);
        group_.steps = 0;
        items all(group_.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<item>(i);
        std::vector<std::uint64_t> local;
        activation a(kernel_, group_);
        for (std::size_t k = 0; k < kernel_.parameters.size(); ++k) {
            std::uint64_t word = words_[k];
            if (kernel_.parameters[k].use == ir::access::local)
                local.push_back(word = memory_.allocate(space::local, arguments_[k].memory.size(), false));
            for (const item i : all) a.argument(k, i)[0] = word;
        }
        a.run(all);
        for (const std::uint64_t each : local) memory_.free(each);
    }

    const ir::function& kernel_;
    std::span<const interpreter_argument> arguments_;
    interpreter_memory memory_;
    work_group group_;
    std::vector<std::uint64_t> words_;  ///< of the parameters
};

}  // namespace

void interpret(const ir::function& kernel, const interpreter_grid& grid,
               std::span<const interpreter_argument> arguments) {
    launch(kernel, grid, arguments).run();
}

}  // namespace balm::test
