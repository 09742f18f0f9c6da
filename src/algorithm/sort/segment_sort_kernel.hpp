#pragma once
// The kernel that sorts segments on CPUs: each work-item sorts consecutive segments.

#include <memory>

#include "algorithm/sort/sort_key.hpp"
#include "array/parameters.hpp"

namespace balm::array {

struct segment_sort_plan {
    key_order how;
    scalar value = scalar::nothing;  ///< of the values' bits; nothing: keys only
    scalar offset = scalar::i64;
    bool has_merges = false;  ///< some segments are longer than a run that is sorted by insertion

    bool has_values() const { return value != scalar::nothing; }

    friend bool operator==(const segment_sort_plan&, const segment_sort_plan&) = default;
};

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_segment_sort(trace::recording&, const parameter_list& given,
                                                       const segment_sort_plan&);

}  // namespace balm::array
