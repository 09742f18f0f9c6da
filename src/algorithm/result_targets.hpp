#pragma once
// Checks of the vectors that an algorithm is given for results whose number only the device knows, and of the
// one for that number.

#include "array/vector_state.hpp"
#include "balm/inline_vector.hpp"

namespace balm::array {

struct result_targets {
    const char* name;                     ///< the function that is called, for messages
    const runtime::device_state& device;  ///< where the elements are
    detail::inline_vector<const vector_state*, 6> into;
    detail::inline_vector<const vector_state*, 10> read;  ///< what results are made of
};

/// Throws usage_error unless targets are on the device, of one size, apart from each other and from what is
/// read.
void check(const result_targets&);
/// The same for the vector that gets the count, of one element.
void check_count(const vector_state* count, const result_targets&);

}  // namespace balm::array
