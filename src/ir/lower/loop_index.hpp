#pragma once
// Which memory a loop's body accesses at the loop's index plus what does not change in the loop.

#include <optional>
#include <vector>

#include "ir/builder.hpp"
#include "ir/ir.hpp"

namespace balm::ir {

/// The loop-invariant terms that an index is more than the loop's; none: it is the loop's own.
using index_terms = std::vector<value_id>;

class loop_index {
public:
    loop_index(const function&, value_id loop);

    /// The terms of a load's or store's index; nothing where the index is no such sum.
    std::optional<index_terms> terms_of(value_id access) const;

private:
    bool is_invariant(value_id v) const { return v >= varies_.size() || !varies_[v]; }
    bool take_apart(value_id index, index_terms& terms, int& budget) const;

    const function& f_;
    const value_id loop_;
    std::vector<bool> varies_;  ///< by value: it depends on the loop's index, on memory, or has an effect
};

/// The sum of terms, computed ahead of the loop; at least one.
value_id hoisted_sum(const function&, value_id loop, const index_terms&, builder&);

}  // namespace balm::ir
