#include "ir/passes/hidden_parameters.hpp"

#include <algorithm>

namespace balm::ir {

function hidden_parameter_pass::apply(const function& original) {
    function f = original;
    builder b(f, {});
    hidden_values values;
    for (parameter& each : parameters(original)) {
        values.add(each.origin, b.make(opcode::parameter, each.what, {}, 0, f.parameters.size()));
        f.parameters.push_back(std::move(each));
    }
    derive(f, b, values);

    std::vector<std::vector<parameter>> passed(original.callees.size());
    for (std::size_t k = 0; k < passed.size(); ++k) {
        const std::shared_ptr<const function>& callee = original.callees[k];
        if (!concerns(*callee)) continue;
        passed[k] = parameters(*callee);
        auto& known = rewritten_[callee.get()];
        if (known == nullptr) known = std::make_shared<const function>(apply(*callee));
        f.callees[k] = known;
    }
    for (const block& each : original.blocks)
        for (const value_id v : each) {
            if (!is_call(f.code[v]) || passed[f.code[v].bits].empty()) continue;
            const auto given = f.operands_of(v);
            std::vector<value_id> operands(given.begin(), given.end());
            for (const parameter& p : passed[f.code[v].bits]) operands.push_back(values(p.origin));
            f.set_operands(v, operands);
        }
    rewrite(f, values);
    f.blocks[0].insert(f.blocks[0].begin(), b.made.begin(), b.made.end());
    return f;
}

std::vector<runtime::parameter_origin> origins_of(const function& lowered) {
    std::vector<runtime::parameter_origin> all;
    std::vector<std::uint16_t> place_of;  // of each parameter in the list
    std::uint16_t users = 0;
    for (const parameter& p : lowered.parameters) {
        runtime::parameter_origin origin = p.origin;
        place_of.push_back(static_cast<std::uint16_t>(all.size()));
        if (origin.from == runtime::origin::reciprocal) origin.number = place_of[origin.number];
        if (origin.from == runtime::origin::user) origin.number = users++;
        all.push_back(origin);
        if (p.is_shifted) all.push_back({runtime::origin::shift, origin.number});
    }
    return all;
}

std::uint64_t callee_number(function& f, const std::shared_ptr<const function>& callee) {
    const auto known = std::find(f.callees.begin(), f.callees.end(), callee);
    const auto number = static_cast<std::uint64_t>(known - f.callees.begin());
    if (known == f.callees.end()) f.callees.push_back(callee);
    return number;
}

}  // namespace balm::ir
