// Calls to functions, and to kernels as functions.

#include "kernel/trace/tracer.hpp"

#include <algorithm>
#include <vector>

#include "ir/passes/as_function.hpp"

namespace balm::trace {

using ir::instruction;
using ir::opcode;
using ir::value_id;

namespace {

/// Refuses a kernel's call to a function that queries a dimension that the kernel does not have.
void refuse_lacking_dimensions(const ir::function& callee) {
    const ir::function& kernel = current().function;
    const auto lacks = [&](const instruction& i) {
        return i.op == opcode::place && i.bits >= static_cast<std::uint64_t>(kernel.dimensions);
    };
    for (const ir::function* each : ir::with_callees(callee)) {
        const auto found = std::find_if(each->code.begin(), each->code.end(), lacks);
        if (found != each->code.end())
            fail(found->where,
                 fmt::format("{}({}) is called in '{}', but its caller '{}' has {} dimension{}",
                             ir::to_string(static_cast<place>(found->detail)), found->bits, each->name,
                             kernel.name, kernel.dimensions, kernel.dimensions == 1 ? "" : "s"));
    }
}

/// The kernel as a function for the current kernel to call: the one made for an earlier call, or a new one.
std::shared_ptr<const ir::function> called_kernel(const ir::function& kernel, location where) {
    const ir::function& caller = current().function;
    if (caller.dimensions == 0)
        fail(where, fmt::format("the kernel '{}' is called in the function '{}': only kernels can call "
                                "kernels. Move the shared code into a balm::function",
                                kernel.name, caller.name));
    if (caller.dimensions != kernel.dimensions)
        fail(where, fmt::format("the kernel '{}' has {} dimension{} and is called in '{}', which has {}: a "
                                "kernel can call only kernels with the same number of dimensions",
                                kernel.name, kernel.dimensions, kernel.dimensions == 1 ? "" : "s",
                                caller.name, caller.dimensions));
    if (kernel.text)
        fail(where, fmt::format("the kernel '{}', which is given as text, is called in '{}': pass the code "
                                "to call as a source_function",
                                kernel.name, caller.name));
    if (kernel.local_bytes > 0)
        fail(where, fmt::format("the kernel '{}' declares a local array and is called in '{}': pass the "
                                "array to it as a Local parameter",
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
    for (std::size_t k = 0; k < count; ++k) {
        // Source text may omit `const` on a pointer that it only reads; C++ accepts no const pointer there.
        const bool is_const_lost = callee->text && arguments[k].type.is_pointer() &&
                                   arguments[k].type.is_const && !callee->parameters[k].what.is_const;
        ids[k] = t.use(is_const_lost ? reinterpret(arguments[k], callee->parameters[k].what) : arguments[k]);
    }
    for (std::size_t k = count; k < callee->parameters.size(); ++k) {
        const std::size_t number = callee->parameters[k].origin.number;
        ids.push_back(extent_of(arguments[number / 4], number % 4, where));
    }
    auto& callees = t.function.callees;
    auto known = std::find(callees.begin(), callees.end(), callee);
    if (known == callees.end() && t.function.dimensions > 0) refuse_lacking_dimensions(*callee);
    instruction i = make(callee->is_pure ? opcode::evaluate : opcode::call, callee->result, where);
    i.bits = static_cast<std::uint64_t>(known - callees.begin());
    if (known == callees.end()) callees.push_back(callee);
    t.function.has_output = t.function.has_output || callee->has_output;
    return t.node_of(t.record(i, ids));
}

}  // namespace balm::trace
