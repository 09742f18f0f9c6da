#pragma once
// A scan that one device computes as a whole, of one or more expressions into vectors.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "array/layout.hpp"
#include "balm/scan.hpp"

namespace balm::array {

struct scan_request {
    const tape& p;  ///< materialised: the values of each reduction and, by key, whether a segment begins,
                    ///< then the keys
    std::span<const reduction> what;
    std::span<vector_state* const> into;  ///< one for each reduction, with the same element count
    bool is_inclusive = true;
    /// For each reduction, a value to start from; empty: none. No list: none for any.
    std::span<const element_bytes> init = {};
    std::size_t row = 0;  ///< elements per row, each scanned by itself; 0: all elements are scanned together
    /// For each reduction, a vector of one element: the value before all elements, which the total replaces.
    /// Empty for scans by key or of rows.
    std::span<vector_state* const> carry = {};
    std::size_t keys = 0;                           ///< of each element, if the scan is by key
    std::shared_ptr<const ir::function> same = {};  ///< compares them; null: ==

    bool has_init(std::size_t k) const { return k < init.size() && !init[k].empty(); }
    /// Whether the first result is that of no elements, for which there is no identity.
    bool starts_from_nothing(std::size_t k) const {
        return !is_inclusive && carry.empty() && !what[k].nothing.empty();
    }
};

/// Runs the scan. Targets may be vectors that the expressions read at the same positions.
void run(const scan_request&);

/// The type of the results.
trace::type result_type(const reduction&);

/// Copies what several devices hold to the first of them; returns the expression there.
tape on_first_device(const tape&);

}  // namespace balm::array
