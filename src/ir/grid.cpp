// Puts the user's grid into a kernel and, by hidden parameters, into the functions that it calls.

#include "ir/grid.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace balm::ir {

namespace {

place place_of(const instruction& i) { return static_cast<place>(i.detail); }

class grid_pass {
public:
    grid_pass(int dimensions, const grid_facts& facts) : dimensions_(dimensions), facts_(facts) {}

    function kernel(function f) {
        std::vector<value_id> added = rewrite(f);
        if (facts_.is_filled) leave_if_beyond(f, added);
        f.blocks[0].insert(f.blocks[0].begin(), added.begin(), added.end());
        return f;
    }

private:
    /// The hidden parameters of the function at work, by kind and dimension.
    using told_values = std::array<std::vector<value_id>, 3>;
    static const std::vector<value_id>& of(const told_values& told, grid_parameter kind) {
        return told[static_cast<std::size_t>(kind)];
    }

    bool is_told(place p) const {
        switch (p) {
            case place::global_id: return facts_.is_offset || facts_.is_part;
            case place::global_offset: return facts_.is_offset;
            case place::group_id: return facts_.is_part;
            case place::global_size:
            case place::group_count: return facts_.is_part || facts_.is_filled;
            default: return false;
        }
    }
    bool asks(const instruction& i) const { return i.op == opcode::place && is_told(place_of(i)); }
    bool asks(const function& f) const {
        const std::vector<const function*> all = with_callees(f);
        return std::any_of(all.begin(), all.end(), [&](const function* each) {
            return std::any_of(each->code.begin(), each->code.end(),
                               [&](const instruction& i) { return asks(i); });
        });
    }

    /// Adds the parameters and computes all places from them; gives what belongs at the function's top.
    std::vector<value_id> rewrite(function& f) {
        told_values told;
        std::vector<value_id> added = add_parameters(f, told);
        std::vector<bool> is_changed(f.callees.size());
        for (std::size_t k = 0; k < f.callees.size(); ++k) {
            is_changed[k] = asks(*f.callees[k]);
            if (is_changed[k]) f.callees[k] = changed(f.callees[k]);
        }
        for (block& b : f.blocks) {
            block after;
            for (value_id v : b) {
                const opcode op = f.code[v].op;
                if (asks(f.code[v]))
                    compute(f, v, told, after);
                else if ((op == opcode::call || op == opcode::evaluate) && is_changed[f.code[v].bits])
                    pass_on(f, v, added);
                after.push_back(v);
            }
            b = std::move(after);
        }
        return added;
    }
    std::shared_ptr<const function> changed(const std::shared_ptr<const function>& callee) {
        auto& known = changed_[callee.get()];
        if (!known) {
            function f = *callee;
            const std::vector<value_id> added = rewrite(f);
            f.blocks[0].insert(f.blocks[0].begin(), added.begin(), added.end());
            known = std::make_shared<const function>(std::move(f));
        }
        return known;
    }

    std::vector<value_id> add_parameters(function& f, told_values& told) const {
        constexpr const char* words[] = {"offset", "first", "size"};
        std::vector<value_id> added;
        for (const grid_parameter kind : grid_parameters(facts_))
            for (int d = 0; d < dimensions_; ++d) {
                const auto k = static_cast<std::size_t>(kind);
                parameter p;
                p.what = type(scalar::i64);
                p.name = dimensions_ == 1 ? std::string(words[k]) : std::string(words[k]) + "_" + "xyz"[d];
                instruction i;
                i.op = opcode::parameter;
                i.result = p.what;
                i.bits = f.parameters.size();
                f.parameters.push_back(std::move(p));
                told[k].push_back(f.add(i));
                added.push_back(told[k].back());
            }
        return added;
    }
    static void pass_on(function& f, value_id call, const std::vector<value_id>& added) {
        const auto given = f.operands_of(call);
        std::vector<value_id> all(given.begin(), given.end());
        all.insert(all.end(), added.begin(), added.end());
        f.set_operands(call, all);
    }

    /// Turns the place into what it is in the user's grid; what that takes goes ahead of it.
    void compute(function& f, value_id v, const told_values& told, block& ahead) const {
        const instruction asked = f.code[v];
        const place what = place_of(asked);
        const auto d = static_cast<std::size_t>(asked.bits);
        const auto make = [&](opcode op, std::uint16_t detail, std::uint64_t bits,
                              std::span<const value_id> operands = {}) {
            instruction i = asked;
            i.op = op;
            i.detail = detail;
            i.bits = bits;
            i.name = none;
            ahead.push_back(f.add(i, operands));
            return ahead.back();
        };
        const auto apply = [&](builtin b, value_id left, value_id right) {
            const value_id operands[] = {left, right};
            return make(opcode::builtin, static_cast<std::uint16_t>(b), 0, operands);
        };
        const auto hardware = [&](place p) {
            return make(opcode::place, static_cast<std::uint16_t>(p), asked.bits);
        };
        // v itself becomes the last sum.
        const auto sum = [&](value_id left, value_id right) {
            const value_id operands[] = {left, right};
            instruction& i = f.code[v];
            i.op = opcode::builtin;
            i.detail = static_cast<std::uint16_t>(builtin::add);
            i.bits = 0;
            f.set_operands(v, operands);
        };
        const auto zero = [&] { return make(opcode::constant, 0, 0); };
        switch (what) {
            case place::global_id: {
                const value_id id = hardware(what);
                if (facts_.is_offset && facts_.is_part)
                    sum(apply(builtin::add, id, of(told, grid_parameter::first)[d]),
                        of(told, grid_parameter::offset)[d]);
                else
                    sum(id, of(told, facts_.is_part ? grid_parameter::first : grid_parameter::offset)[d]);
                break;
            }
            case place::global_offset: sum(zero(), of(told, grid_parameter::offset)[d]); break;
            case place::group_id:
                sum(hardware(what),
                    apply(builtin::div, of(told, grid_parameter::first)[d], hardware(place::local_size)));
                break;
            case place::group_count: {
                const value_id local = hardware(place::local_size);
                const value_id one = make(opcode::constant, 0, 1);
                const value_id last = apply(builtin::sub, of(told, grid_parameter::size)[d], one);
                sum(apply(builtin::div, last, local), one);
                break;
            }
            default: sum(zero(), of(told, grid_parameter::size)[d]);
        }
    }

    /// if (gid >= size) return; of each dimension. `ahead` holds the parameters and gets what comes behind.
    void leave_if_beyond(function& f, std::vector<value_id>& ahead) const {
        const std::vector<value_id> parameters = ahead;
        const auto kinds = grid_parameters(facts_);
        const auto told = [&](grid_parameter kind, int d) {
            const auto k =
                static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
            return parameters[k * static_cast<std::size_t>(dimensions_) + static_cast<std::size_t>(d)];
        };
        const auto make = [&](opcode op, type result, std::uint16_t detail, std::uint64_t bits,
                              std::initializer_list<value_id> operands) {
            instruction i;
            i.op = op;
            i.result = result;
            i.detail = detail;
            i.bits = bits;
            i.where = f.where;
            ahead.push_back(f.add(i, {operands.begin(), operands.size()}));
            return ahead.back();
        };
        value_id beyond = none;
        for (int d = 0; d < dimensions_; ++d) {
            value_id id = make(opcode::place, scalar::i64, static_cast<std::uint16_t>(place::global_id),
                               static_cast<std::uint64_t>(d), {});
            if (facts_.is_part)
                id = make(opcode::builtin, scalar::i64, static_cast<std::uint16_t>(builtin::add), 0,
                          {id, told(grid_parameter::first, d)});
            const value_id outside =
                make(opcode::builtin, scalar::boolean, static_cast<std::uint16_t>(builtin::greater_equal), 0,
                     {id, told(grid_parameter::size, d)});
            beyond = beyond == none ? outside
                                    : make(opcode::builtin, scalar::boolean,
                                           static_cast<std::uint16_t>(builtin::bit_or), 0, {beyond, outside});
        }
        instruction leave;
        leave.op = opcode::return_;
        leave.where = f.where;
        const value_id nothing[] = {none};
        const auto inside = static_cast<block_id>(f.blocks.size());
        f.blocks.push_back({f.add(leave, nothing)});
        f.blocks.emplace_back();
        const value_id branch = make(opcode::if_, scalar::nothing, 0, 0, {beyond});
        f.code[branch].blocks[0] = inside;
        f.code[branch].blocks[1] = inside + 1;
    }

    int dimensions_;
    grid_facts facts_;
    std::map<const function*, std::shared_ptr<const function>> changed_;
};

}  // namespace

std::vector<grid_parameter> grid_parameters(const grid_facts& facts) {
    std::vector<grid_parameter> list;
    if (facts.is_offset) list.push_back(grid_parameter::offset);
    if (facts.is_part) list.push_back(grid_parameter::first);
    if (facts.is_part || facts.is_filled) list.push_back(grid_parameter::size);
    return list;
}

function with_grid(const function& kernel, const grid_facts& facts) {
    return grid_pass(kernel.dimensions, facts).kernel(kernel);
}

bool sees_groups(const function& f) {
    const std::vector<const function*> all = with_callees(f);
    return std::any_of(all.begin(), all.end(), [](const function* each) {
        if (each->text && (each->text->has_barrier || each->text->asks_for_its_place)) return true;
        const auto tells = [](const instruction& i) {
            switch (i.op) {
                case opcode::place:
                    return place_of(i) != place::global_id && place_of(i) != place::global_size &&
                           place_of(i) != place::global_offset;
                case opcode::object: return i.result.where == space::local;
                case opcode::barrier:
                case opcode::grid_for:
                case opcode::sub_group: return true;
                default: return false;
            }
        };
        return std::any_of(each->code.begin(), each->code.end(), tells) ||
               std::any_of(each->parameters.begin(), each->parameters.end(),
                           [](const parameter& p) { return p.use == access::local; });
    });
}

}  // namespace balm::ir
