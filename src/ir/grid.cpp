// Puts the user's grid into a kernel and, by hidden parameters, into the functions that it calls.

#include "ir/grid.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "ir/builder.hpp"

namespace balm::ir {

namespace {

place place_of(const instruction& i) { return static_cast<place>(i.detail); }

class grid_pass {
public:
    grid_pass(int dimensions, const grid_facts& facts) : dimensions_(dimensions), facts_(facts) {}

    function kernel(function f) {
        const told_values told = rewrite(f);
        builder b(f, f.where);
        b.made = told.all();
        if (facts_.is_filled) leave_if_beyond(f, told, b);
        f.blocks[0].insert(f.blocks[0].begin(), b.made.begin(), b.made.end());
        return f;
    }

private:
    /// The hidden parameters of the function at work, by kind and dimension.
    struct told_values {
        std::array<std::vector<value_id>, 3> by_kind;

        std::vector<value_id>& operator[](grid_parameter kind) {
            return by_kind[static_cast<std::size_t>(kind)];
        }
        value_id operator()(grid_parameter kind, std::uint64_t dimension) const {
            return by_kind[static_cast<std::size_t>(kind)][dimension];
        }
        /// In the order of the parameters.
        std::vector<value_id> all() const {
            std::vector<value_id> list;
            for (const auto& each : by_kind) list.insert(list.end(), each.begin(), each.end());
            return list;
        }
    };

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

    /// Adds the parameters, which belong at the function's top, and computes all places from them.
    told_values rewrite(function& f) {
        told_values told = add_parameters(f);
        const std::vector<value_id> added = told.all();
        std::vector<bool> is_changed(f.callees.size());
        for (std::size_t k = 0; k < f.callees.size(); ++k) {
            is_changed[k] = asks(*f.callees[k]);
            if (is_changed[k]) f.callees[k] = changed(f.callees[k]);
        }
        for (block& around : f.blocks) {
            block after;
            for (value_id v : around) {
                const opcode op = f.code[v].op;
                if (asks(f.code[v]))
                    compute(f, v, told, after);
                else if ((op == opcode::call || op == opcode::evaluate) && is_changed[f.code[v].bits])
                    pass_on(f, v, added);
                after.push_back(v);
            }
            around = std::move(after);
        }
        return told;
    }
    std::shared_ptr<const function> changed(const std::shared_ptr<const function>& callee) {
        auto& known = changed_[callee.get()];
        if (!known) {
            function f = *callee;
            const std::vector<value_id> added = rewrite(f).all();
            f.blocks[0].insert(f.blocks[0].begin(), added.begin(), added.end());
            known = std::make_shared<const function>(std::move(f));
        }
        return known;
    }

    told_values add_parameters(function& f) const {
        constexpr const char* words[] = {"offset", "first", "size"};
        told_values told;
        builder b(f, {});
        for (const grid_parameter kind : grid_parameters(facts_))
            for (int d = 0; d < dimensions_; ++d) {
                const std::string word = words[static_cast<std::size_t>(kind)];
                parameter p;
                p.what = type(scalar::i64);
                p.name = dimensions_ == 1 ? word : word + "_" + "xyz"[d];
                told[kind].push_back(b.make(opcode::parameter, p.what, {}, 0, f.parameters.size()));
                f.parameters.push_back(std::move(p));
            }
        return told;
    }
    static void pass_on(function& f, value_id call, const std::vector<value_id>& added) {
        const auto given = f.operands_of(call);
        std::vector<value_id> all(given.begin(), given.end());
        all.insert(all.end(), added.begin(), added.end());
        f.set_operands(call, all);
    }

    /// Turns the place into what it is in the user's grid; what that takes goes ahead of it.
    void compute(function& f, value_id v, const told_values& told, block& ahead) const {
        const place what = place_of(f.code[v]);
        const std::uint64_t d = f.code[v].bits;
        builder b(f, f.code[v].where);
        const auto [left, right] = terms(b, what, d, told);
        ahead.insert(ahead.end(), b.made.begin(), b.made.end());
        const value_id operands[] = {left, right};
        instruction& sum = f.code[v];
        sum.op = opcode::builtin;
        sum.detail = static_cast<std::uint16_t>(builtin::add);
        sum.bits = 0;
        f.set_operands(v, operands);
    }
    /// The two whose sum the place is.
    std::pair<value_id, value_id> terms(builder& b, place what, std::uint64_t d,
                                        const told_values& told) const {
        switch (what) {
            case place::global_id: {
                const value_id id = b.place_(what, d);
                if (!facts_.is_offset) return {id, told(grid_parameter::first, d)};
                const value_id in_grid =
                    facts_.is_part ? b.apply(builtin::add, id, told(grid_parameter::first, d)) : id;
                return {in_grid, told(grid_parameter::offset, d)};
            }
            case place::global_offset: return {b.constant(0), told(grid_parameter::offset, d)};
            case place::group_id: {
                const value_id id = b.place_(what, d), local = b.place_(place::local_size, d);
                return {id, b.apply(builtin::div, told(grid_parameter::first, d), local)};
            }
            case place::group_count: {
                const value_id local = b.place_(place::local_size, d), one = b.constant(1);
                const value_id last = b.apply(builtin::sub, told(grid_parameter::size, d), one);
                return {b.apply(builtin::div, last, local), one};
            }
            default: return {b.constant(0), told(grid_parameter::size, d)};
        }
    }

    /// if (gid >= size) return; in any dimension.
    void leave_if_beyond(function& f, const told_values& told, builder& b) const {
        value_id beyond = none;
        for (std::uint64_t d = 0; d < static_cast<std::uint64_t>(dimensions_); ++d) {
            value_id id = b.place_(place::global_id, d);
            if (facts_.is_part) id = b.apply(builtin::add, id, told(grid_parameter::first, d));
            const value_id outside =
                b.apply(builtin::greater_equal, id, told(grid_parameter::size, d), scalar::boolean);
            beyond = beyond == none ? outside : b.apply(builtin::bit_or, beyond, outside, scalar::boolean);
        }
        builder inside(f, f.where);
        inside.make(opcode::return_, scalar::nothing, {none});
        const value_id branch = b.make(opcode::if_, scalar::nothing, {beyond});
        for (block_id& each : f.code[branch].blocks) {
            each = static_cast<block_id>(f.blocks.size());
            f.blocks.push_back(std::exchange(inside.made, {}));
        }
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
