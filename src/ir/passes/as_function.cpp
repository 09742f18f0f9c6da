// Turns a traced kernel into a function. grid_for, which is lowered in kernels only, becomes a grid-stride
// loop.

#include "ir/passes/as_function.hpp"

#include <utility>

#include "ir/builder.hpp"

namespace balm::ir {

namespace {

/// for (i = group_id * local_size + local_id; i < count; i += global_size): without the grid's offset.
void walk_by_strides(function& f, value_id loop, block& around) {
    builder b(f, f.code[loop].where);
    const value_id group = b.place_(place::group_id), size = b.place_(place::local_size);
    const value_id before = b.apply(builtin::mul, group, size);
    const value_id first = b.apply(builtin::add, before, b.place_(place::local_id));
    const value_id bounds[] = {first, f.operand(loop, 0), b.place_(place::global_size)};
    around.insert(around.end(), b.made.begin(), b.made.end());
    f.code[loop].op = opcode::for_;
    f.code[loop].bits = 0;  // a count of elements and the size of a grid are far from the range's end
    f.set_operands(loop, bounds);
}

}  // namespace

std::shared_ptr<const function> as_function(const function& kernel) {
    function f = kernel;
    f.dimensions = 0;
    block body;
    for (value_id v : kernel.blocks[0]) {  // no other block contains a grid_range
        if (f.code[v].op == opcode::grid_for) walk_by_strides(f, v, body);
        body.push_back(v);
    }
    f.blocks[0] = std::move(body);
    verify(f);
    f.identity = hash(f);
    return std::make_shared<const function>(std::move(f));
}

}  // namespace balm::ir
