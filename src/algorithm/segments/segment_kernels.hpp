#pragma once
// The kernels of reductions of segments on CPUs. Each work-item has consecutive segments of about as many
// elements and segments as every other one; the first and the last of them may be parts of segments, which a
// second kernel combines.

#include <cstddef>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "array/layout.hpp"

namespace balm::array {

struct segments_plan {
    bool is_finish = false;    ///< combines the parts of segments
    bool has_nothing = false;  ///< the result of an empty segment is a parameter
    int at_once = 1;           ///< elements that are combined with each other first

    friend bool operator==(const segments_plan&, const segments_plan&) = default;
};

/// What a work-item leaves for the second kernel: whether its first segment began earlier, whether it has
/// the end of a segment, the number of its first segment, and the states of the parts of the first and of
/// the last one.
block::types state_of_share(const operations&);

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_segments(trace::recording&, const parameter_list& given,
                                                   const segments_plan&, const operations&, const tape&,
                                                   const layout&);

}  // namespace balm::array
