// Calls belong to the same four if their indices are the same sum except for the last two bits of its
// constant, and the sum's other terms are multiples of four.

#include "ir/lower/fours.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "ir/builder.hpp"
#include "ir/lower/loop_index.hpp"

namespace balm::ir {

namespace {

/// The key of a four: calls with equal keys belong to the same four.
struct four {
    std::uint64_t callee = 0;
    index_sum index;                  ///< of its first element: a multiple of four
    std::vector<value_id> arguments;  ///< without the index

    friend bool operator<(const four& a, const four& b) {
        return std::tie(a.callee, a.index.constant, a.index.terms, a.arguments) <
               std::tie(b.callee, b.index.constant, b.index.terms, b.arguments);
    }
};

struct member {
    value_id call;
    std::uint64_t lane;  ///< which of the four
};

class sharing {
public:
    explicit sharing(function& f) : f_(f) {}

    bool share(block_id number) {
        const loop_index indices(f_);
        std::map<four, std::vector<member>> fours;
        for (const value_id v : f_.blocks[number]) note(v, indices, fours);
        std::erase_if(fours, [](const auto& each) { return each.second.size() < 2; });
        if (fours.empty()) return false;
        std::map<value_id, const std::vector<member>*> begins;
        for (const auto& [which, members] : fours) begins.emplace(members.front().call, &members);
        const block before = std::move(f_.blocks[number]);
        builder after(f_, source_line());
        std::map<value_id, member> shared;  // by call: the call of four, and the lane
        for (const value_id v : before) {
            if (const auto found = begins.find(v); found != begins.end()) {
                const value_id call = call_of_four(v, after);
                for (const member& m : *found->second) shared.emplace(m.call, member{call, m.lane});
            }
            if (const auto found = shared.find(v); found != shared.end()) become_lane(v, found->second);
            after.made.push_back(v);
        }
        f_.blocks[number] = std::move(after.made);
        return true;
    }

private:
    void note(value_id v, const loop_index& indices, std::map<four, std::vector<member>>& fours) const {
        const instruction& i = f_.code[v];
        if (i.op != opcode::evaluate || f_.callees[i.bits]->of_four == nullptr) return;
        const auto operands = f_.operands_of(v);
        const std::optional<index_sum> index = indices.sum_of(operands[0]);
        if (!index || !indices.is_in_fours(*index)) return;
        const std::int64_t lane = index->constant & 3;
        four which{i.bits, *index, {operands.begin() + 1, operands.end()}};
        which.index.constant -= lane;
        fours[which].push_back({v, static_cast<std::uint64_t>(lane)});
    }

    /// Makes the call of four. Its index is a quarter of that of any of the calls, which is the same for all.
    value_id call_of_four(value_id v, builder& to) {
        const auto own = f_.operands_of(v);
        std::vector<value_id> operands(own.begin(), own.end());
        operands[0] = to.apply(builtin::shr, operands[0], to.constant(2, scalar::u64), scalar::u64);
        const std::shared_ptr<const function> callee = f_.callees[f_.code[v].bits]->of_four;
        const auto known = std::find(f_.callees.begin(), f_.callees.end(), callee);
        const auto number = static_cast<std::uint64_t>(known - f_.callees.begin());
        if (known == f_.callees.end()) f_.callees.push_back(callee);
        return to.make(opcode::evaluate, type(f_.code[v].result.element, 4), operands, 0, number);
    }
    void become_lane(value_id v, const member& of) {
        instruction& i = f_.code[v];
        i.op = opcode::swizzle;
        i.bits = of.lane;
        f_.set_operands(v, {&of.call, 1});
    }

    function& f_;
};

}  // namespace

bool share_fours(function& f) {
    const bool may_share = std::any_of(f.callees.begin(), f.callees.end(),
                                       [](const auto& callee) { return callee->of_four != nullptr; });
    if (!may_share) return false;
    sharing pass(f);
    bool shares = false;
    for (block_id b = 0; b < f.blocks.size(); ++b) shares |= pass.share(b);
    return shares;
}

}  // namespace balm::ir
