#pragma once
// The kernels that combine two sorted arrays: merges and set operations. Both are divided into tiles of as
// many elements, by the merge path or by the balanced path. Of a merge each tile's output is as large as the
// tile; of a set operation one kernel counts the tiles' results, and the next stores them behind the scanned
// counts.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "algorithm/block/set_path.hpp"
#include "algorithm/merge/sorted_keys.hpp"
#include "array/parameters.hpp"
#include "balm/inline_vector.hpp"
#include "balm/trace.hpp"
#include "base/table_hash.hpp"

namespace balm::array {

enum class combine_stage : std::uint8_t {
    split,  ///< on GPUs: what is ahead of each tile
    count,  ///< of a set operation: how many results each tile has
    move    ///< the results
};

struct combine_plan {
    combine_stage stage = combine_stage::move;
    std::optional<block::set_operation> what;  ///< nothing: a merge
    sorted_keys keys;
    detail::inline_vector<trace::type, 4> values;  ///< that go to the places of their keys
    bool is_bounded = false;                       ///< targets may have no room for all results
    std::size_t group = 1;                         ///< work-items
    int each = 1;                                  ///< elements of a work-item's share of a tile, on GPUs

    bool on_item() const { return group == 1; }
    bool moves() const { return stage == combine_stage::move; }

    friend bool operator==(const combine_plan&, const combine_plan&) = default;
    void add_to(runtime::table_hash& hash) const;
};

/// Bytes that tiles have for an element.
std::size_t bytes_of_element(const combine_plan&);

/// Records the body of a kernel whose parameters are declared. Keys of numbers are unsigned integers of their
/// size.
std::shared_ptr<const ir::function> trace_combination(trace::recording&, const parameter_list& given,
                                                      const combine_plan&, const comparison& is_ahead);

}  // namespace balm::array
