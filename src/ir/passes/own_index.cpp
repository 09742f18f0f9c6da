// An index is a work-item's own if it is a sum in which the ids of all dimensions occur once, each times
// values that all work-items share. Such sums may still be equal, but then the work-items write the same
// element through one parameter, too.

#include "ir/passes/own_index.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace balm::ir {

namespace {

/// The ids that occur in a sum: in each dimension the global id, or those of the group and within it.
struct ids {
    unsigned in_grid = 0, of_group = 0, in_group = 0;  ///< a bit for each dimension

    bool any() const { return (in_grid | of_group | in_group) != 0; }
    bool overlaps(const ids& other) const {
        const unsigned own = of_group | in_group, others = other.of_group | other.in_group;
        return ((in_grid & (other.in_grid | others)) | (own & other.in_grid) | (of_group & other.of_group) |
                (in_group & other.in_group)) != 0;
    }
    ids joined(const ids& other) const {
        return {in_grid | other.in_grid, of_group | other.of_group, in_group | other.in_group};
    }
};

class index_comparison {
public:
    index_comparison(const function& f, std::size_t parameter, std::size_t other)
        : f_(f), parameters_{parameter, other} {}

    bool holds() {
        const type &a = f_.parameters[parameters_[0]].what, &b = f_.parameters[parameters_[1]].what;
        const bool are_alike = a.element == b.element && a.lanes == b.lanes && a.aggregate == b.aggregate &&
                               a.is_packed == b.is_packed;
        if (!are_alike || !walk(0)) return false;
        if (!has_store_ || !is_accessed_[0] || !is_accessed_[1]) return true;
        const bool are_one = std::all_of(indices_.begin() + 1, indices_.end(),
                                         [this](value_id v) { return is_same(indices_[0], v, max_depth); });
        if (!are_one) return false;
        const std::optional<ids> found = ids_of(indices_[0], max_depth);
        const unsigned all = (1u << f_.dimensions) - 1;
        return found && (found->in_grid | (found->of_group & found->in_group)) == all;
    }

private:
    /// Operands of operands; sums of sums would be walked again and again.
    static constexpr int max_depth = 12;

    bool is_of_interest(value_id pointer) const {
        const instruction& root = f_.code[root_of(f_, pointer)];
        return root.op == opcode::parameter &&
               std::find(parameters_.begin(), parameters_.end(), root.bits) != parameters_.end();
    }
    /// Collects the indices of all accesses; false if memory is used in another way.
    bool walk(block_id b) {
        return std::all_of(f_.blocks[b].begin(), f_.blocks[b].end(), [this](value_id v) {
            const instruction& i = f_.code[v];
            return is_understood(v) &&
                   std::all_of(std::begin(i.blocks), std::end(i.blocks),
                               [this](block_id inner) { return inner == none || walk(inner); });
        });
    }
    bool is_understood(value_id v) {
        const std::span<const value_id> operands = f_.operands_of(v);
        const auto is_memory = [this](value_id o) {
            return o != none && f_.code[o].result.is_pointer() && is_of_interest(o);
        };
        if (std::none_of(operands.begin(), operands.end(), is_memory)) return true;
        switch (f_.code[v].op) {
            case opcode::prefetch:
            case opcode::offset:
            case opcode::member: return true;  // they access nothing
            case opcode::load:
            case opcode::store: break;
            default: return false;
        }
        if (std::any_of(operands.begin() + 1, operands.end(), is_memory)) return false;
        // Within an element there are members, and elements of members.
        value_id index = operands[1], pointer = operands[0];
        bool is_element = true;  // index is that of an element
        for (; f_.code[pointer].op != opcode::parameter; pointer = f_.operand(pointer, 0)) {
            if (f_.code[pointer].op == opcode::member) {
                is_element = false;
            } else {
                const instruction& before = f_.code[index];
                const bool is_first = before.op == opcode::constant && before.bits == 0;
                if (f_.code[pointer].op != opcode::offset || (is_element && !is_first)) return false;
                index = f_.operand(pointer, 1);
                is_element = true;
            }
        }
        if (!is_element) return false;
        indices_.push_back(index);
        has_store_ = has_store_ || f_.code[v].op == opcode::store;
        is_accessed_[f_.code[pointer].bits == parameters_[1]] = true;
        return true;
    }

    bool is_same(value_id a, value_id b, int depth) const {
        if (a == b) return true;
        const instruction &x = f_.code[a], &y = f_.code[b];
        if (depth == 0 || x.op != y.op || x.detail != y.detail || !(x.result == y.result)) return false;
        switch (x.op) {
            case opcode::constant:
            case opcode::place: return x.bits == y.bits;
            case opcode::parameter: return x.bits == y.bits || are_equal_extents(x.bits, y.bits);
            case opcode::builtin:
            case opcode::convert: break;
            default: return false;
        }
        const auto of_a = f_.operands_of(a), of_b = f_.operands_of(b);
        return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          [&](value_id p, value_id q) { return is_same(p, q, depth - 1); });
    }
    bool are_equal_extents(std::uint64_t a, std::uint64_t b) const {
        const runtime::parameter_origin x = f_.parameters[a].origin, y = f_.parameters[b].origin;
        const auto is_one_of_both = [&](std::size_t number) {
            return std::find(parameters_.begin(), parameters_.end(), number / 4) != parameters_.end();
        };
        return x.from == runtime::origin::extent && y.from == runtime::origin::extent &&
               x.number % 4 == y.number % 4 && is_one_of_both(x.number) && is_one_of_both(y.number);
    }

    /// The ids in a sum; none if all work-items share the value; nullopt for anything else.
    std::optional<ids> ids_of(value_id v, int depth) const {
        const instruction& i = f_.code[v];
        if (depth == 0) return std::nullopt;
        switch (i.op) {
            case opcode::constant:
            case opcode::parameter: return ids{};
            case opcode::place: return ids_of_place(i);
            case opcode::grid_for: return ids{1u << i.bits};
            case opcode::for_: {  // its iterations follow each other
                if (const std::optional<unsigned> by = strided_dimension(v)) return ids{1u << *by};
                const auto of = f_.operands_of(v);
                const auto is_shared = [&](value_id o) {
                    const std::optional<ids> found = ids_of(o, depth - 1);
                    return found && !found->any();
                };
                return std::all_of(of.begin(), of.end(), is_shared) ? std::optional(ids{}) : std::nullopt;
            }
            case opcode::convert: {
                const bool may_wrap = !is_integer(i.result.element) || size_of(i.result.element) < 4;
                return may_wrap ? std::nullopt : ids_of(f_.operand(v, 0), depth - 1);
            }
            case opcode::builtin: return ids_of_row(v, depth);
            default: return std::nullopt;
        }
    }
    /// The dimension that range(global_id(d), n, global_size(d)) distributes.
    std::optional<unsigned> strided_dimension(value_id loop) const {
        const instruction &from = unconverted(f_.operand(loop, 0)), &by = unconverted(f_.operand(loop, 2));
        const auto is = [](const instruction& i, place what) {
            return i.op == opcode::place && static_cast<place>(i.detail) == what;
        };
        const bool is_strided =
            is(from, place::global_id) && is(by, place::global_size) && from.bits == by.bits;
        return is_strided ? std::optional(static_cast<unsigned>(from.bits)) : std::nullopt;
    }
    const instruction& unconverted(value_id v) const {
        while (f_.code[v].op == opcode::convert && size_of(f_.code[v].result.element) >= 4)
            v = f_.operand(v, 0);
        return f_.code[v];
    }
    static std::optional<ids> ids_of_place(const instruction& i) {
        const unsigned dimension = 1u << i.bits;
        switch (static_cast<place>(i.detail)) {
            case place::global_id: return ids{dimension};
            case place::group_id: return ids{0, dimension};
            case place::local_id: return ids{0, 0, dimension};
            case place::global_size:
            case place::local_size:
            case place::group_count:
            case place::global_offset:
            case place::local_linear_size: return ids{};
            default: return std::nullopt;
        }
    }
    std::optional<ids> ids_of_row(value_id v, int depth) const {
        const auto of = f_.operands_of(v);
        std::array<ids, 3> found;
        if (of.size() > found.size()) return std::nullopt;
        bool any = false;
        for (std::size_t k = 0; k < of.size(); ++k) {
            const std::optional<ids> operand = ids_of(of[k], depth - 1);
            if (!operand) return std::nullopt;
            found[k] = *operand;
            any = any || operand->any();
        }
        if (!any) return ids{};
        const ids &a = found[0], &b = found[1];
        switch (static_cast<builtin>(f_.code[v].detail)) {
            case builtin::neg: return a;
            case builtin::add:
            case builtin::sub: return a.overlaps(b) ? std::nullopt : std::optional(a.joined(b));
            case builtin::mul: return a.any() && b.any() ? std::nullopt : std::optional(a.joined(b));
            case builtin::shl: return b.any() ? std::nullopt : std::optional(a);
            default: return std::nullopt;
        }
    }

    const function& f_;
    std::array<std::size_t, 2> parameters_;
    std::vector<value_id> indices_;
    bool has_store_ = false;
    std::array<bool, 2> is_accessed_{};
};

}  // namespace

bool share_their_own_index(const function& kernel, std::size_t parameter, std::size_t other) {
    return index_comparison(kernel, parameter, other).holds();
}

}  // namespace balm::ir
