#pragma once
// The kernels that combine two sorted arrays: merges and set operations. The merge path or the balanced path
// divides both arrays into tiles of equal size. In a merge, the output of a tile is as large as the tile. In
// a set operation, one kernel counts the results of each tile, and the next stores them at the positions that
// the scanned counts determine; where tiles can look back, and the targets exist, one kernel does both.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "algorithm/block/set_path.hpp"
#include "algorithm/merge/sorted_keys.hpp"
#include "array/parameters.hpp"
#include "balm/inline_vector.hpp"
#include "balm/trace.hpp"

namespace balm::array {

enum class combine_stage : std::uint8_t {
    split,  ///< GPUs: the number of elements of each array before each tile
    count,  ///< set operations: the number of results of each tile
    move,   ///< stores the results
    sweep   ///< set operations: counts the results and stores them, with tiles that look back
};

struct combine_plan {
    combine_stage stage = combine_stage::move;
    std::optional<block::set_operation> what;  ///< nullopt: a merge
    sorted_keys keys;
    detail::inline_vector<trace::type, 4> values;  ///< of the values that move with their keys
    bool is_bounded = false;                       ///< targets may be too small for all results
    std::size_t group = 1;                         ///< work-items
    bool has_sub_groups = false;
    int each = 1;  ///< GPUs: elements of a work-item's share of a tile

    bool on_item() const { return group == 1; }
    bool moves() const { return stage == combine_stage::move || stage == combine_stage::sweep; }

    friend bool operator==(const combine_plan&, const combine_plan&) = default;
};

/// The bits of the numbers of results that tiles announce: one word holds them.
inline constexpr int bits_of_set_counts = 62;

/// The bytes of an element in a tile.
std::size_t bytes_of_element(const combine_plan&);

/// Records the body of a kernel whose parameters are declared. Keys that are numbers are unsigned integers of
/// the same size.
std::shared_ptr<const ir::function> trace_combination(trace::recording&, const parameter_list& given,
                                                      const combine_plan&, const comparison& is_ahead);

}  // namespace balm::array
