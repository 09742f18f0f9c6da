#pragma once
// The kernels of merge sorts by a comparison. Tiles are sorted, then merged in passes over all elements, each
// of which doubles the length of the sorted runs. A pass finds where each tile's output begins in its two
// runs (Green, McColl & Bader, GPU merge path, 2012); then one work-item or group merges each tile.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/block/values.hpp"
#include "array/parameters.hpp"
#include "balm/trace.hpp"
#include "base/hash.hpp"

namespace balm::array {

enum class merge_stage : std::uint8_t {
    sort_tiles,
    split,  ///< of a pass: how many elements of its first run precede each tile's output
    merge   ///< of a pass: the tiles' outputs
};

struct merge_plan {
    merge_stage stage = merge_stage::sort_tiles;
    trace::type key;
    trace::type value;           ///< nothing: keys only
    runtime::digest comparison;  ///< the function's identity
    std::size_t group = 1;       ///< work-items
    int each = 1;                ///< elements of a work-item's share of a tile, on GPUs
    bool is_in_place = true;     ///< sorted tiles stay in the vector

    bool on_item() const { return group == 1; }
    bool has_values() const { return value.element != scalar::nothing; }

    friend bool operator==(const merge_plan&, const merge_plan&) = default;
};

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_merge_sort(trace::recording&, const parameter_list& given,
                                                     const merge_plan&,
                                                     const std::shared_ptr<const ir::function>& is_ahead);

}  // namespace balm::array
