#pragma once
// A scan on one device, for what is computed there as a whole: of one expression or several, whose results
// go to vectors.

#include <cstddef>
#include <cstdint>
#include <span>

#include "array/layout.hpp"
#include "balm/scan.hpp"

namespace balm::array {

struct scan_request {
    const tape& p;  ///< materialised: the values of each reduction, then by key whether a segment begins
    std::span<const reduction> what;
    std::span<vector_state* const> into;  ///< for each, of as many elements
    bool is_inclusive = true;
    bool has_init = false;
    std::uint64_t init = 0;  ///< of a single reduction
    bool is_by_key = false;
    std::size_t row = 0;  ///< elements of a row that is scanned by itself; 0: all are scanned together
    /// For each, a vector of one element: the value ahead of all, which becomes the total. None, or no keys
    /// and rows.
    std::span<vector_state* const> carry = {};
};

/// Computes it. Targets may be what is read at the same places.
void run(const scan_request&);

/// The type of the results.
trace::type result_type(const reduction&);

/// Copies what several devices have to the first of them: the expression there.
tape on_first_device(const tape&);

}  // namespace balm::array
