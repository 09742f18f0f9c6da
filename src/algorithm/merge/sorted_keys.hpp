#pragma once
// The keys of sorted arrays in kernels: their types, and how two elements compare.

#include <memory>

#include "algorithm/block/merge.hpp"
#include "algorithm/sort/sort_key.hpp"
#include "balm/inline_vector.hpp"
#include "balm/merge.hpp"
#include "base/hash.hpp"

namespace balm::array {

/// The properties of keys that kernels depend on.
struct sorted_keys {
    detail::inline_vector<trace::type, 2> types;  ///< elements are sorted by the first, then …
    bool is_descending = false;                   ///< numbers, if there is no comparison
    bool has_comparison = false;                  ///< of two elements of a single key
    runtime::digest comparison;                   ///< of the function

    void take(const ordering&);

    friend bool operator==(const sorted_keys&, const sorted_keys&) = default;
};

/// Arrays as kernels take them: keys that are numbers, among the first `keys` of the list, are unsigned
/// integers of the same size.
std::vector<std::shared_ptr<vector_state>> as_kernels_take(vector_list, std::size_t keys, const ordering&);

/// Compares keys in a kernel that is being traced. Both arguments must outlive it.
class key_comparison {
public:
    key_comparison(const sorted_keys& keys, const comparison& is_ahead) : keys_(keys), is_ahead_(is_ahead) {}

    /// The types of keys in kernels.
    block::types types() const;
    /// Keys as ascending numbers; keys that a function compares are unchanged. Values after the keys are
    /// dropped.
    block::values numbers_of(const block::values& own) const;
    block::values keys_of(const block::values& numbers) const;
    /// Whether `a` is ordered before `b`, both as numbers_of() returns them.
    block::Bool are_ahead(const block::values& a, const block::values& b) const;
    /// The order of such numbers, and of elements as stored in memory.
    block::element_order of_numbers() const;
    block::element_order in_memory() const;

private:
    key_order order_of(std::size_t k) const { return {keys_.types[k].element, keys_.is_descending}; }

    const sorted_keys& keys_;
    const comparison& is_ahead_;
};

}  // namespace balm::array
