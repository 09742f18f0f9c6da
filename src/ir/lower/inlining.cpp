#include "ir/lower/inlining.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "ir/builder.hpp"

namespace balm::ir {

namespace {

bool is_arithmetic(const function& f);

bool is_arithmetic(const function& f, const instruction& i) {
    switch (i.op) {
        case opcode::parameter:
        case opcode::constant:
        case opcode::builtin:
        case opcode::convert:
        case opcode::select: return i.result.is_scalar();
        case opcode::evaluate: return is_arithmetic(*f.callees[i.bits]);
        default: return false;
    }
}
/// Whether the function computes its result from numbers, without variables, branches or memory.
bool is_arithmetic(const function& f) {
    if (f.text || f.of_four || f.blocks.size() != 1 || f.blocks[0].empty()) return false;
    const block& body = f.blocks[0];
    const instruction& last = f.code[body.back()];
    return last.op == opcode::return_ && f.operand(body.back(), 0) != none && f.result.is_scalar() &&
           std::all_of(body.begin(), body.end() - 1, [&](value_id v) { return is_arithmetic(f, f.code[v]); });
}

/// Appends the code of a function, and returns its result.
value_id append_code(const function& callee, const std::vector<value_id>& arguments, function& f,
                     builder& to) {
    std::map<value_id, value_id> known;
    const auto of = [&](value_id o) {
        return callee.code[o].op == opcode::parameter ? arguments[callee.code[o].bits] : known.at(o);
    };
    for (const value_id v : callee.blocks[0]) {
        instruction i = callee.code[v];
        if (i.op == opcode::parameter) continue;
        std::vector<value_id> operands;
        for (const value_id o : callee.operands_of(v)) operands.push_back(of(o));
        if (i.op == opcode::return_) return operands[0];
        if (i.op == opcode::evaluate) {
            known[v] = append_code(*callee.callees[i.bits], operands, f, to);
            continue;
        }
        i.name = none;
        known[v] = f.add(i, operands);
        to.made.push_back(known[v]);
    }
    return none;
}

}  // namespace

void inline_arithmetic(function& f, value_id loop) {
    const block_id body = f.code[loop].blocks[0];
    builder after(f, f.code[loop].where);
    const block before = f.blocks[body];
    std::map<value_id, value_id> results;
    for (const value_id v : before) {
        for (value_id& o : f.operands_of(v))
            if (const auto found = results.find(o); found != results.end()) o = found->second;
        const instruction& i = f.code[v];
        if (i.op != opcode::evaluate || !is_arithmetic(*f.callees[i.bits])) {
            after.made.push_back(v);
            continue;
        }
        const std::shared_ptr<const function> callee = f.callees[i.bits];
        const auto own = f.operands_of(v);
        results[v] = append_code(*callee, {own.begin(), own.end()}, f, after);
    }
    f.blocks[body] = std::move(after.made);
}

}  // namespace balm::ir
