// Puts a grid's start into a kernel and, by hidden parameters, into the functions that it calls.

#include "ir/offset.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace balm::ir {

namespace {

bool asks_for_start(const instruction& i) {
    return i.op == opcode::place && (static_cast<place>(i.detail) == place::global_id ||
                                     static_cast<place>(i.detail) == place::global_offset);
}

/// Whether the function, or one it calls, asks for something that an offset changes.
bool depends_on_start(const function& f) {
    const std::vector<const function*> all = with_callees(f);
    return std::any_of(all.begin(), all.end(), [](const function* each) {
        return std::any_of(each->code.begin(), each->code.end(), asks_for_start);
    });
}

class offset_pass {
public:
    explicit offset_pass(int dimensions) : dimensions_(dimensions) {}

    function run(function f) {
        const std::vector<value_id> starts = add_parameters(f);
        std::vector<bool> is_changed(f.callees.size());
        for (std::size_t k = 0; k < f.callees.size(); ++k) {
            is_changed[k] = depends_on_start(*f.callees[k]);
            if (is_changed[k]) f.callees[k] = changed(f.callees[k]);
        }
        for (block& b : f.blocks) {
            block after;
            for (value_id v : b) {
                const opcode op = f.code[v].op;
                if (asks_for_start(f.code[v]))
                    add_start(f, v, starts, after);
                else if ((op == opcode::call || op == opcode::evaluate) && is_changed[f.code[v].bits])
                    pass_starts(f, v, starts);
                after.push_back(v);
            }
            b = std::move(after);
        }
        return f;
    }

private:
    std::shared_ptr<const function> changed(const std::shared_ptr<const function>& callee) {
        auto& known = changed_[callee.get()];
        if (!known) known = std::make_shared<const function>(run(*callee));
        return known;
    }

    std::vector<value_id> add_parameters(function& f) const {
        std::vector<value_id> starts;
        for (int d = 0; d < dimensions_; ++d) {
            parameter p;
            p.what = type(scalar::i64);
            p.name = dimensions_ == 1 ? "offset" : std::string("offset_") + "xyz"[d];
            instruction i;
            i.op = opcode::parameter;
            i.result = p.what;
            i.bits = f.parameters.size();
            f.parameters.push_back(std::move(p));
            starts.push_back(f.add(i));
        }
        f.blocks[0].insert(f.blocks[0].begin(), starts.begin(), starts.end());
        return starts;
    }

    /// global_offset + 0, or the hardware's global_id + the start: v itself becomes the sum.
    static void add_start(function& f, value_id v, const std::vector<value_id>& starts, block& around) {
        instruction left = f.code[v];
        if (static_cast<place>(left.detail) == place::global_offset) left.op = opcode::constant;
        const value_id start = starts[left.bits];
        if (left.op == opcode::constant) left.bits = 0;
        left.name = none;
        const value_id operands[] = {f.add(left), start};
        around.push_back(operands[0]);
        instruction& sum = f.code[v];
        sum.op = opcode::builtin;
        sum.detail = static_cast<std::uint16_t>(builtin::add);
        sum.bits = 0;
        f.set_operands(v, operands);
    }
    static void pass_starts(function& f, value_id call, const std::vector<value_id>& starts) {
        const auto given = f.operands_of(call);
        std::vector<value_id> all(given.begin(), given.end());
        all.insert(all.end(), starts.begin(), starts.end());
        f.set_operands(call, all);
    }

    int dimensions_;
    std::map<const function*, std::shared_ptr<const function>> changed_;
};

}  // namespace

function with_offset(const function& kernel) { return offset_pass(kernel.dimensions).run(kernel); }

}  // namespace balm::ir
