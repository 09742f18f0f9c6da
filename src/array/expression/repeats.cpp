// Value numbering: the same operation on the same operands yields the same value.

#include "array/expression/repeats.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace balm::array {

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}
std::uint64_t look_of(const step& s, std::uint64_t hash) {
    for (std::size_t w = 0; w < sizeof(step) / sizeof(std::uint64_t); ++w) hash = mixed(hash, s.word(w));
    return hash;
}

/// Whether two scalars are equal and beside equal steps, which is cheaper to detect than whether they belong
/// to a repetition: `2 * x + 2 * y` has none.
bool may_repeat(const tape& p, const leaf_numbers& number_of_leaf) {
    if (!p.may_repeat) return false;
    const auto look = [&](std::size_t k, std::uint64_t hash) {
        step s = p.steps[k];
        const bool is_vector = s.what == step::kind::vector || s.what == step::kind::memory;
        s.leaf = is_vector ? number_of_leaf[s.leaf] : std::uint16_t{0};
        return look_of(s, hash);
    };
    detail::inline_vector<std::uint64_t, 16> looks;
    for (std::size_t k = 0; k + 1 < p.steps.size(); ++k) {
        if (!is_argument(p.steps[k])) continue;
        std::uint64_t hash = look(k + 1, look(k, 0));
        if (p.steps[k + 1].arity > 1) hash = look(k - 1, hash);  // the other operand is before it
        looks.push_back(hash);
    }
    std::sort(looks.begin(), looks.end());
    return std::adjacent_find(looks.begin(), looks.end()) != looks.end();
}

class search {
public:
    search(const tape& p, const leaf_numbers& number_of_leaf)
        : p_(p), number_of_leaf_(number_of_leaf), operands_(p.steps.size()), like_(p.steps.size()) {}

    scalar_numbers numbers() {
        std::vector<std::size_t> first(p_.steps.size());  // for a scalar's step, the one that it repeats
        for (std::size_t k = 0; k < p_.steps.size(); ++k) {
            first[k] = k;
            follow(k);
            for (std::size_t o = 0; o < operands_[k].size(); ++o)
                if (is_argument(p_.steps[operands_[k][o]]))
                    first[operands_[k][o]] = first[operands_[like_[k]][o]];
        }
        scalar_numbers found;
        std::vector<std::uint16_t> number_at(p_.steps.size());
        std::uint16_t next = 0;
        for (std::size_t k = 0; k < p_.steps.size(); ++k) {
            if (!is_argument(p_.steps[k])) continue;
            number_at[k] = first[k] == k ? next++ : number_at[first[k]];
            found.push_back(number_at[k]);
        }
        if (next == found.size()) found.clear();
        return found;
    }

private:
    /// Records the steps that compute step k's operands, and the first step with the same value.
    void follow(std::size_t k) {
        const step& s = p_.steps[k];
        like_[k] = k;
        if (s.what == step::kind::at) return move_last(stack_, indices_);
        std::size_t count = s.arity;
        if (s.what == step::kind::end) {
            move_last(indices_, stack_);
            count = 2;  // what was computed, and the index
        }
        for (std::size_t o = stack_.size() - count; o < stack_.size(); ++o)
            operands_[k].push_back(static_cast<std::uint32_t>(stack_[o]));
        stack_.resize(stack_.size() - count);
        stack_.push_back(k);
        const auto [from, to] = by_hash_.equal_range(hash_of(k));
        const auto known = std::find_if(from, to, [&](const auto& each) { return is_same(each.second, k); });
        if (known == to)
            by_hash_.emplace(hash_of(k), k);
        else
            like_[k] = known->second;
    }
    static void move_last(std::vector<std::size_t>& from, std::vector<std::size_t>& to) {
        to.push_back(from.back());
        from.pop_back();
    }

    /// The step, with its leaf replaced by the first equal one in the tape's list.
    step bare(std::size_t k) const {
        step s = p_.steps[k];
        const auto number_in = [&](const auto& list) {
            return static_cast<std::uint16_t>(std::find(list.begin(), list.end(), list[s.leaf]) -
                                              list.begin());
        };
        switch (s.what) {
            case step::kind::vector:
            case step::kind::memory: s.leaf = number_of_leaf_[s.leaf]; break;
            case step::kind::call: s.leaf = number_in(p_.functions); break;
            case step::kind::position: s.leaf = number_in(p_.maps); break;
            default: break;
        }
        return s;
    }
    std::uint64_t hash_of(std::size_t k) const {
        std::uint64_t hash = look_of(bare(k), 0);
        for (const std::uint32_t o : operands_[k]) hash = mixed(hash, like_[o]);
        return hash;
    }
    bool is_same(std::size_t a, std::size_t b) const {
        const step x = bare(a), y = bare(b);
        return x.word(0) == y.word(0) && x.word(1) == y.word(1) && x.word(2) == y.word(2) &&
               std::equal(operands_[a].begin(), operands_[a].end(), operands_[b].begin(), operands_[b].end(),
                          [&](std::size_t i, std::size_t j) { return like_[i] == like_[j]; });
    }

    const tape& p_;
    const leaf_numbers& number_of_leaf_;
    std::vector<detail::inline_vector<std::uint32_t, 4>>
        operands_;                              ///< per step, the steps that compute them
    std::vector<std::size_t> like_;             ///< per step, the first with the same value
    std::vector<std::size_t> stack_, indices_;  ///< steps whose values are not used yet
    std::unordered_multimap<std::uint64_t, std::size_t> by_hash_;  ///< the first step of each value
};

}  // namespace

scalar_numbers repeated_scalars(const tape& p, const leaf_numbers& number_of_leaf) {
    return may_repeat(p, number_of_leaf) ? search(p, number_of_leaf).numbers() : scalar_numbers();
}

}  // namespace balm::array
