// Memory indexed by one position per dimension. Each size is a hidden parameter, which launches bind and
// calls pass on.

#include <fmt/format.h>

#include <algorithm>

#include "kernel/trace/tracer.hpp"

namespace balm::trace {

using ir::opcode;

ir::value_id extent_of(const node& memory, std::size_t dimension, location where) {
    tracer& t = current();
    const ir::instruction& source = t.function.code[t.use(memory)];
    if (source.op != opcode::parameter)
        fail(where,
             "memory that is not a parameter of the kernel or function is accessed with several indices; use "
             "a flat index: a[row * columns + column]");
    const auto number = static_cast<std::uint16_t>(4 * source.bits + dimension);
    const runtime::parameter_origin origin{runtime::origin::extent, number};
    const auto known = std::find_if(t.extents.begin(), t.extents.end(),
                                    [&](const auto& each) { return each.first == origin; });
    if (known != t.extents.end()) return known->second;
    ir::parameter p;
    p.what = scalar::i64;
    const std::string& name = t.function.parameters[source.bits].name;
    p.name = name.empty() ? "extent" : fmt::format("{}_extent", name);
    p.origin = origin;
    ir::instruction i = make(opcode::parameter, p.what, where);
    i.bits = t.function.parameters.size();
    t.function.parameters.push_back(std::move(p));
    t.extents.emplace_back(origin, t.function.add(i));
    return t.extents.back().second;
}

node flat_index(node memory, const node* at, std::size_t count, location where) {
    node flat = convert(at[0], scalar::i64);
    for (std::size_t d = 1; d < count; ++d) {
        const node size = current().node_of(extent_of(memory, d, where));
        flat = apply(builtin::mul, flat, size, where);
        flat = apply(builtin::add, flat, convert(at[d], scalar::i64), where);
    }
    return flat;
}

}  // namespace balm::trace
