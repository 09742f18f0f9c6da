#include "kernel/module/module_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "balm/error.hpp"
#include "ir/passes/hidden_parameters.hpp"
#include "runtime/memory/memory_pool.hpp"

namespace balm::kernels {

namespace {

using ir::instruction;
using ir::opcode;
using ir::value_id;
using placement = std::map<const ir::constant_data*, space>;

/// The bytes that the program itself puts into constant memory.
std::uint64_t printed_bytes(const ir::function& kernel) {
    std::uint64_t bytes = 0;
    for (const ir::function* f : ir::with_callees(kernel))
        for (const auto& data : f->constants) bytes += data->bits.size() * size_of(data->element);
    return bytes;
}

/// Uses constant memory while everything together fits: on NVIDIA GPUs the limit of one buffer is that of
/// all. If the language has no such space, the compiler chooses (CUDA: the read-only cache).
placement place_constants(const ir::function& kernel, const emit::features& has, const device_info& device) {
    placement where;
    std::uint64_t taken = printed_bytes(kernel), count = 0;
    for (const auto& data : kernel.given) {
        const std::uint64_t bytes = runtime::memory_pool::block_bytes(data->given_bytes());
        const bool fits = taken + bytes <= device.constant_memory && count < device.max_constant_arguments;
        where[data.get()] = !has.has_address_spaces || fits ? space::constant : space::global;
        if (!fits) continue;
        taken += bytes;
        ++count;
    }
    return where;
}

class constants_pass final : public ir::hidden_parameter_pass {
public:
    constants_pass(const ir::function& kernel, placement where) : kernel_(kernel), where_(std::move(where)) {}

private:
    runtime::parameter_origin origin_of(const ir::constant_data& data) const {
        const auto is_it = [&](const auto& each) { return each.get() == &data; };
        const auto at = std::find_if(kernel_.given.begin(), kernel_.given.end(), is_it);
        return {runtime::origin::constant, static_cast<std::uint16_t>(at - kernel_.given.begin())};
    }
    bool concerns(const ir::function& f) const override { return !f.given.empty(); }
    std::vector<ir::parameter> parameters(const ir::function& f) const override {
        std::vector<ir::parameter> all;
        for (const auto& data : f.given) {
            ir::parameter p;
            p.what = pointer_to(data->element, where_.at(data.get()), true);
            p.use = ir::access::in;
            p.name = data->name;
            p.is_restrict = true;
            p.is_one = data->given_count == 1;
            p.origin = origin_of(*data);
            all.push_back(std::move(p));
        }
        return all;
    }
    /// Replaces each constant by its parameter.
    void rewrite(ir::function& f, const ir::hidden_values& memory) override {
        std::vector<value_id> becomes(f.code.size(), ir::none);
        const auto is_named = [&](value_id v) { return becomes[v] != ir::none; };
        for (ir::block& each : f.blocks) {
            for (const value_id v : each) {
                const instruction& i = f.code[v];
                if (i.op == opcode::constant_array && f.constants[i.bits]->is_given())
                    becomes[v] = memory(origin_of(*f.constants[i.bits]));
            }
            std::erase_if(each, is_named);
        }
        for (value_id& o : f.operands)
            if (o != ir::none && o < becomes.size() && is_named(o)) o = becomes[o];
        if (std::any_of(f.given.begin(), f.given.end(),
                        [&](const auto& each) { return where_.at(each.get()) != space::constant; }))
            move_to_global_memory(f);
    }
    /// Changes the type of pointers derived from parameters in global memory.
    void move_to_global_memory(ir::function& f) const {
        for (ir::block& each : f.blocks)
            for (const value_id v : each) {
                instruction& i = f.code[v];
                const auto operands = f.operands_of(v);
                const auto is_moved = [&](value_id o) {
                    if (o == ir::none || !f.code[o].result.is_pointer()) return false;
                    const instruction& root = f.code[ir::root_of(f, o)];
                    return root.op == opcode::parameter &&
                           f.parameters[root.bits].origin.from == runtime::origin::constant &&
                           root.result.where == space::global;
                };
                const bool derives =
                    i.op == opcode::offset || i.op == opcode::member || i.op == opcode::reinterpret;
                const bool uses = derives || i.op == opcode::load || i.op == opcode::convert;
                for (std::size_t k = 0; k < operands.size(); ++k)
                    if (is_moved(operands[k]) && !(uses && k == 0) && !is_hidden_operand(f, i, k))
                        refuse_kept_pointer(f, v, operands[k]);
                if (derives && is_moved(operands[0])) i.result.where = space::global;
            }
    }
    /// Whether this pass added the operand to a call.
    static bool is_hidden_operand(const ir::function& f, const instruction& i, std::size_t k) {
        return ir::is_call(i) && f.callees[i.bits]->parameters[k].origin.from == runtime::origin::constant;
    }
    [[noreturn]] static void refuse_kept_pointer(const ir::function& f, value_id v, value_id pointer) {
        const ir::parameter& p = f.parameters[f.code[ir::root_of(f, pointer)].bits];
        const ir::source_line& where = f.code[v].where;
        throw usage_error(fmt::format(
            "{}'{}' stores or passes on a pointer to the constant '{}', but that constant does not fit into "
            "the device's constant memory: it is in global memory, and the pointer has the wrong type; index "
            "the constant directly ({}[i])",
            where.file ? fmt::format("{}:{}: ", where.file, where.line) : "", f.name, p.name, p.name));
    }

    const ir::function& kernel_;
    placement where_;
};

}  // namespace

ir::function write_out_constants(const ir::function& kernel, const emit::features& has,
                                 const device_info& device) {
    if (kernel.given.empty()) return kernel;
    return constants_pass(kernel, place_constants(kernel, has, device)).apply(kernel);
}

}  // namespace balm::kernels
