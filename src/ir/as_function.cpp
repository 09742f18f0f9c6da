// Turns a traced kernel into a function. grid_for, which is lowered in kernels only, becomes a loop that
// strides by the grid's size.

#include "ir/as_function.hpp"

#include <utility>

namespace balm::ir {

namespace {

/// for (i = group_id * local_size + local_id; i < count; i += global_size): without the grid's offset.
void walk_by_strides(function& f, value_id loop, block& around) {
    const auto append = [&](opcode op, std::uint16_t detail, std::span<const value_id> operands) {
        instruction i;
        i.op = op;
        i.detail = detail;
        i.result = scalar::i64;
        i.where = f.code[loop].where;
        around.push_back(f.add(i, operands));
        return around.back();
    };
    const auto place_of = [&](place p) { return append(opcode::place, static_cast<std::uint16_t>(p), {}); };
    const value_id factors[] = {place_of(place::group_id), place_of(place::local_size)};
    const value_id terms[] = {append(opcode::builtin, static_cast<std::uint16_t>(builtin::mul), factors),
                              place_of(place::local_id)};
    const value_id first = append(opcode::builtin, static_cast<std::uint16_t>(builtin::add), terms);
    const value_id bounds[] = {first, f.operand(loop, 0), place_of(place::global_size)};
    f.code[loop].op = opcode::for_;
    f.set_operands(loop, bounds);
}

}  // namespace

std::shared_ptr<const function> as_function(const function& kernel) {
    function f = kernel;
    f.dimensions = 0;
    block body;
    for (value_id v : kernel.blocks[0]) {  // grid_range stands in no other block
        if (f.code[v].op == opcode::grid_for) walk_by_strides(f, v, body);
        body.push_back(v);
    }
    f.blocks[0] = std::move(body);
    verify(f);
    f.identity = hash(f);
    return std::make_shared<const function>(std::move(f));
}

}  // namespace balm::ir
