// Passes the user's grid to a kernel and, through hidden parameters, to the functions that it calls.

#include "ir/lower/grid.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/passes/hidden_parameters.hpp"

namespace balm::ir {

namespace {

using runtime::origin;

place place_of(const instruction& i) { return static_cast<place>(i.detail); }

class grid_pass final : public hidden_parameter_pass {
public:
    grid_pass(int dimensions, const grid_facts& facts) : dimensions_(dimensions), facts_(facts) {}

private:
    bool is_told(place p) const {
        switch (p) {
            case place::global_id: return facts_.is_offset || facts_.is_subgrid;
            case place::global_offset: return facts_.is_offset;
            case place::group_id: return facts_.is_subgrid;
            case place::global_size:
            case place::group_count: return facts_.is_subgrid || facts_.is_padded;
            default: return false;
        }
    }
    bool asks(const instruction& i) const { return i.op == opcode::place && is_told(place_of(i)); }

    bool concerns(const function& f) const override {
        const std::vector<const function*> all = with_callees(f);
        return std::any_of(all.begin(), all.end(), [&](const function* each) {
            return std::any_of(each->code.begin(), each->code.end(),
                               [&](const instruction& i) { return asks(i); });
        });
    }
    std::vector<parameter> parameters(const function&) const override {
        std::vector<parameter> all;
        const auto add = [&](origin from, const char* word) {
            for (int d = 0; d < dimensions_; ++d) {
                parameter p;
                p.what = type(scalar::i64);
                p.name = dimensions_ == 1 ? word : std::string(word) + "_" + "xyz"[d];
                p.origin = {from, static_cast<std::uint16_t>(d)};
                all.push_back(std::move(p));
            }
        };
        if (facts_.is_offset) add(origin::offset, "offset");
        if (facts_.is_subgrid) add(origin::first, "first");
        if (facts_.is_subgrid || facts_.is_padded) add(origin::size, "size");
        return all;
    }
    void rewrite(function& f, const hidden_values& told) override {
        for (block& around : f.blocks) {
            block after;
            for (value_id v : around) {
                if (asks(f.code[v])) compute(f, v, told, after);
                after.push_back(v);
            }
            around = std::move(after);
        }
        if (!facts_.is_padded || f.dimensions == 0) return;
        builder b(f, f.where);
        leave_if_beyond(f, told, b);
        f.blocks[0].insert(f.blocks[0].begin(), b.made.begin(), b.made.end());
    }

    /// Turns the place into that in the user's grid; appends the instructions that this needs to `ahead`.
    void compute(function& f, value_id v, const hidden_values& told, block& ahead) const {
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
    /// The two summands of the place.
    std::pair<value_id, value_id> terms(builder& b, place what, std::uint64_t d,
                                        const hidden_values& told) const {
        switch (what) {
            case place::global_id: {
                const value_id id = b.place_(what, d);
                if (!facts_.is_offset) return {id, told(origin::first, d)};
                const value_id in_grid =
                    facts_.is_subgrid ? b.apply(builtin::add, id, told(origin::first, d)) : id;
                return {in_grid, told(origin::offset, d)};
            }
            case place::global_offset: return {b.constant(0), told(origin::offset, d)};
            case place::group_id: {
                const value_id id = b.place_(what, d), local = b.place_(place::local_size, d);
                return {id, b.apply(builtin::div, told(origin::first, d), local)};
            }
            case place::group_count: {
                const value_id local = b.place_(place::local_size, d), one = b.constant(1);
                const value_id last = b.apply(builtin::sub, told(origin::size, d), one);
                return {b.apply(builtin::div, last, local), one};
            }
            default: return {b.constant(0), told(origin::size, d)};
        }
    }

    /// if (gid >= size) return; in any dimension.
    void leave_if_beyond(function& f, const hidden_values& told, builder& b) const {
        value_id beyond = none;
        for (std::uint64_t d = 0; d < static_cast<std::uint64_t>(dimensions_); ++d) {
            value_id id = b.place_(place::global_id, d);
            if (facts_.is_subgrid) id = b.apply(builtin::add, id, told(origin::first, d));
            const value_id outside =
                b.apply(builtin::greater_equal, id, told(origin::size, d), scalar::boolean);
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
};

}  // namespace

function with_grid(const function& kernel, const grid_facts& facts) {
    return grid_pass(kernel.dimensions, facts).apply(kernel);
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
