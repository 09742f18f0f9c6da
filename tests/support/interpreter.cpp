// Walks the structured blocks of a function. Every value is kept as the bit pattern of its scalar type.

#include "support/interpreter.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "ir/oracle.hpp"

namespace balm::test {

namespace {

using ir::block_id;
using ir::instruction;
using ir::opcode;
using ir::value_id;

/// More instructions than this, and the work-item is taken to run for ever.
constexpr std::uint64_t max_steps = 20'000'000;

[[noreturn]] void fail(const ir::function& f, const std::string& what) {
    throw std::runtime_error(fmt::format("interpreter, in '{}': {}", f.name, what));
}

struct work_item {
    const interpreter_grid& grid;
    std::int64_t id[3] = {0, 0, 0};
    std::uint64_t steps = 0;

    std::int64_t linear_id() const {
        const std::int64_t rows = id[2] % grid.local[2] * grid.local[1] + id[1] % grid.local[1];
        return rows * grid.local[0] + id[0] % grid.local[0];
    }
    std::int64_t at(ir::place what, std::size_t d) const {
        switch (what) {
            case ir::place::global_id: return id[d];
            case ir::place::local_id: return id[d] % grid.local[d];
            case ir::place::group_id: return id[d] / grid.local[d];
            case ir::place::global_size: return grid.global[d];
            case ir::place::local_size: return grid.local[d];
            case ir::place::group_count: return grid.global[d] / grid.local[d];
            case ir::place::global_offset: return 0;  // where its grids begin
            case ir::place::local_linear_id: return linear_id();
            case ir::place::local_linear_size: return grid.local[0] * grid.local[1] * grid.local[2];
            case ir::place::sub_group_id: return linear_id() / ir::sub_group_size;
        }
        return 0;
    }
};

/// An integer's bit pattern as a number. u64 beyond the range of int64 counts as negative.
std::int64_t number(scalar s, std::uint64_t bits) {
    return static_cast<std::int64_t>(oracle::convert(s, scalar::i64, bits));
}

template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);  // little-endian, as all hosts of Balm
    return value;
}
template <class T>
std::uint64_t to_bits(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// An element after an atomic operation with these values.
template <class T>
std::uint64_t after(ir::atomic_op what, std::uint64_t old_bits, std::uint64_t a_bits, std::uint64_t b_bits) {
    const T old = from_bits<T>(old_bits), a = from_bits<T>(a_bits);
    if constexpr (std::is_floating_point_v<T>) {
        if (what == ir::atomic_op::add) return to_bits<T>(old + a);
        if (what == ir::atomic_op::sub) return to_bits<T>(old - a);
        if (what == ir::atomic_op::min) return a < old || std::isnan(old) ? a_bits : old_bits;
        if (what == ir::atomic_op::max) return a > old || std::isnan(old) ? a_bits : old_bits;
    } else {
        using U = std::make_unsigned_t<T>;
        switch (what) {
            case ir::atomic_op::add: return to_bits<U>(static_cast<U>(old) + static_cast<U>(a));
            case ir::atomic_op::sub: return to_bits<U>(static_cast<U>(old) - static_cast<U>(a));
            case ir::atomic_op::min: return to_bits<T>(a < old ? a : old);
            case ir::atomic_op::max: return to_bits<T>(a > old ? a : old);
            case ir::atomic_op::inc: return to_bits<T>(old >= a ? 0 : old + 1);
            case ir::atomic_op::dec: return to_bits<T>(old == 0 || old > a ? a : old - 1);
            case ir::atomic_op::bit_and: return old_bits & a_bits;
            case ir::atomic_op::bit_or: return old_bits | a_bits;
            case ir::atomic_op::bit_xor: return old_bits ^ a_bits;
            default: break;
        }
    }
    if (what == ir::atomic_op::exchange || what == ir::atomic_op::store) return a_bits;
    if (what == ir::atomic_op::load) return old_bits;
    if (what == ir::atomic_op::compare_exchange) return old_bits == a_bits ? b_bits : old_bits;
    throw std::runtime_error(fmt::format("interpreter: atomic {} of floats", ir::to_string(what)));
}
std::uint64_t after_atomic(ir::atomic_op what, scalar s, std::uint64_t old, std::uint64_t a,
                           std::uint64_t b) {
    switch (s) {
        case scalar::i32: return after<std::int32_t>(what, old, a, b);
        case scalar::u32: return after<std::uint32_t>(what, old, a, b);
        case scalar::i64: return after<std::int64_t>(what, old, a, b);
        case scalar::u64: return after<std::uint64_t>(what, old, a, b);
        case scalar::f32: return after<float>(what, old, a, b);
        case scalar::f64: return after<double>(what, old, a, b);
        default: throw std::runtime_error(fmt::format("interpreter: atomic of {}", to_string(s)));
    }
}

/// One activation of a function.
class activation {
public:
    activation(const ir::function& f, std::vector<interpreter_argument> arguments, work_item& item)
        : f_(f), arguments_(std::move(arguments)), item_(item), values_(f.code.size(), 0) {}

    /// The bits of the function's result.
    std::uint64_t run() {
        block_(0);
        return result_;
    }

private:
    enum class flow : std::uint8_t { on, leaves_loop, next_turn, returns };

    const instruction& at(value_id v) const { return f_.code[v]; }
    std::uint64_t operand(value_id v, std::size_t k) const { return values_[f_.operand(v, k)]; }
    scalar operand_type(value_id v, std::size_t k) const { return at(f_.operand(v, k)).result.element; }

    flow block_(block_id b) {
        for (value_id v : f_.blocks[b])
            if (const flow f = step(v); f != flow::on) return f;
        return flow::on;
    }

    flow step(value_id v) {
        if (++item_.steps > max_steps) fail(f_, "a work-item does not end");
        const instruction& i = at(v);
        switch (i.op) {
            case opcode::parameter: values_[v] = arguments_.at(i.bits).bits; return flow::on;
            case opcode::constant: values_[v] = i.bits; return flow::on;
            case opcode::place:
                values_[v] = static_cast<std::uint64_t>(item_.at(static_cast<ir::place>(i.detail), i.bits));
                return flow::on;
            case opcode::builtin: values_[v] = builtin_row(v); return flow::on;
            case opcode::convert:
                values_[v] = oracle::convert(operand_type(v, 0), i.result.element, operand(v, 0));
                return flow::on;
            case opcode::select: values_[v] = operand(v, 0) ? operand(v, 1) : operand(v, 2); return flow::on;
            case opcode::logic_and:
            case opcode::logic_or: return guard(v);
            case opcode::cell: values_[v] = operand(v, 0); return flow::on;
            case opcode::read_cell: values_[v] = operand(v, 0); return flow::on;
            case opcode::write_cell: values_[f_.operand(v, 0)] = operand(v, 1); return flow::on;
            case opcode::load: values_[v] = load(v); return flow::on;
            case opcode::store: store(v); return flow::on;
            case opcode::atomic: values_[v] = atomic(v); return flow::on;
            case opcode::if_: return block_(i.blocks[operand(v, 0) ? 0 : 1]);
            case opcode::for_: return counted_loop(v);
            case opcode::while_: return while_loop(v);
            case opcode::grid_for: return grid_loop(v);
            case opcode::break_: return flow::leaves_loop;
            case opcode::continue_: return flow::next_turn;
            case opcode::return_:
                if (f_.operand(v, 0) != ir::none) result_ = operand(v, 0);
                return flow::returns;
            case opcode::call:
            case opcode::evaluate: values_[v] = call(v); return flow::on;
            case opcode::fence: return flow::on;  // in one work-item everything is in order
            default: break;
        }
        fail(f_, fmt::format("'{}' is not interpreted", ir::to_string(i.op)));
    }

    std::uint64_t builtin_row(value_id v) const {
        std::uint64_t bits[3] = {};
        const std::size_t count = f_.operands_of(v).size();
        for (std::size_t k = 0; k < count; ++k) bits[k] = operand(v, k);
        // A count of another type than the shifted value: its number, whatever its width.
        const auto what = static_cast<builtin>(at(v).detail);
        return oracle::evaluate(what, operand_type(v, 0), {bits, count}).bits;
    }

    flow guard(value_id v) {
        const bool left = operand(v, 0) != 0;
        const bool decided = left == (at(v).op == opcode::logic_or);
        if (!decided) {
            if (const flow f = block_(at(v).blocks[0]); f != flow::on) return f;
        }
        values_[v] = decided ? left : operand(v, 1) != 0;
        return flow::on;
    }

    /// The bytes of the element that a load or store names.
    std::byte* element(value_id v, std::size_t size) {
        const instruction& pointer = at(f_.operand(v, 0));
        if (pointer.op != opcode::parameter || pointer.result.where != ir::space::global)
            fail(f_, "only global memory is interpreted");
        const std::span<std::byte> memory = arguments_.at(pointer.bits).memory;
        const std::int64_t index = number(operand_type(v, 1), operand(v, 1));
        if (index < 0 || static_cast<std::uint64_t>(index) >= memory.size() / size)
            fail(f_, fmt::format("parameter {}: index {} of {} elements", pointer.bits, index,
                                 memory.size() / size));
        return memory.data() + static_cast<std::size_t>(index) * size;
    }
    std::uint64_t load(value_id v) {
        const scalar s = at(v).result.element;
        std::uint64_t bits = 0;
        std::memcpy(&bits, element(v, size_of(s)), size_of(s));
        return s == scalar::boolean ? bits != 0 : bits;
    }
    void store(value_id v) {
        const std::size_t size = size_of(at(f_.operand(v, 0)).result.element);
        const std::uint64_t bits = operand(v, 2);
        std::memcpy(element(v, size), &bits, size);
    }

    /// Work-items run one after the other, so that nobody comes between.
    std::uint64_t atomic(value_id v) {
        const scalar s = at(f_.operand(v, 0)).result.element;
        std::byte* const place = element(v, size_of(s));
        std::uint64_t old = 0;
        std::memcpy(&old, place, size_of(s));
        const std::size_t given = f_.operands_of(v).size();
        const std::uint64_t first = given > 2 ? operand(v, 2) : 0, second = given > 3 ? operand(v, 3) : 0;
        const std::uint64_t next =
            after_atomic(static_cast<ir::atomic_op>(at(v).detail), s, old, first, second);
        std::memcpy(place, &next, size_of(s));
        return old;
    }

    flow counted_loop(value_id v) {
        const scalar s = at(v).result.element;
        const std::int64_t end = number(operand_type(v, 1), operand(v, 1));
        const std::int64_t by = number(operand_type(v, 2), operand(v, 2));
        for (std::int64_t k = number(operand_type(v, 0), operand(v, 0)); by > 0 ? k < end : k > end;
             k += by) {
            values_[v] = oracle::convert(scalar::i64, s, static_cast<std::uint64_t>(k));
            const flow f = block_(at(v).blocks[0]);
            if (f == flow::leaves_loop) break;
            if (f == flow::returns) return f;
        }
        return flow::on;
    }
    flow while_loop(value_id v) {
        for (;;) {
            block_(at(v).blocks[0]);
            if (!operand(v, 0)) return flow::on;
            const flow f = block_(at(v).blocks[1]);
            if (f == flow::leaves_loop) return flow::on;
            if (f == flow::returns) return f;
        }
    }
    flow grid_loop(value_id v) {
        const std::int64_t count = number(operand_type(v, 0), operand(v, 0));
        for (std::int64_t k = item_.id[0]; k < count; k += item_.grid.global[0]) {
            values_[v] = static_cast<std::uint64_t>(k);
            const flow f = block_(at(v).blocks[0]);
            if (f == flow::leaves_loop) break;
            if (f == flow::returns) return f;
        }
        return flow::on;
    }

    std::uint64_t call(value_id v) {
        std::vector<interpreter_argument> passed;
        for (value_id o : f_.operands_of(v)) {
            if (at(o).result.is_pointer())
                passed.push_back(arguments_.at(at(o).bits));
            else
                passed.push_back({values_[o], {}});
        }
        return activation(*f_.callees.at(at(v).bits), std::move(passed), item_).run();
    }

    const ir::function& f_;
    std::vector<interpreter_argument> arguments_;
    work_item& item_;
    std::vector<std::uint64_t> values_;  ///< of instructions; a cell's is what it holds
    std::uint64_t result_ = 0;
};

}  // namespace

void interpret(const ir::function& kernel, const interpreter_grid& grid,
               std::span<const interpreter_argument> arguments) {
    if (arguments.size() != kernel.parameters.size())
        fail(kernel,
             fmt::format("{} arguments for {} parameters", arguments.size(), kernel.parameters.size()));
    work_item item{grid};
    for (item.id[2] = 0; item.id[2] < grid.global[2]; ++item.id[2])
        for (item.id[1] = 0; item.id[1] < grid.global[1]; ++item.id[1])
            for (item.id[0] = 0; item.id[0] < grid.global[0]; ++item.id[0]) {
                item.steps = 0;
                activation(kernel, {arguments.begin(), arguments.end()}, item).run();
            }
}

}  // namespace balm::test
