#pragma once
// Checks of the target vectors of an algorithm, if only the device knows the number of results, and of the
// target of that number.

#include "array/vector_state.hpp"
#include "balm/inline_vector.hpp"

namespace balm::array {

struct result_targets {
    const char* name;                     ///< the function that is called, for messages
    const runtime::device_state& device;  ///< where the elements are
    detail::inline_vector<const vector_state*, 6> into;
    detail::inline_vector<const vector_state*, 10> read;  ///< vectors that results are computed from
};

/// Throws usage_error unless the targets are on the device, have equal sizes, and overlap neither each other
/// nor what is read.
void check(const result_targets&);
/// The same for the target of the count, a vector of one element.
void check_count(const vector_state* count, const result_targets&);

}  // namespace balm::array
