#pragma once
// The kernels of compactions, which move selected elements to the front, in order. The position of an element
// is the number of selected ones before it, a scan. If the selected elements are those that begin a run of
// equal keys, the scanned state also contains the reductions of the run: where a run begins, the results of
// the previous run are complete. If the only reduction is the length of a run, it is the distance between two
// selected elements, and the state is the position of the last one.
//
// Elements are divided as in scans: one kernel computes the totals of chunks, one scans the totals, one moves
// elements. A single chunk takes one kernel, and so does look-back.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "algorithm/scan/look_back.hpp"
#include "algorithm/scan/work_division.hpp"
#include "array/layout.hpp"
#include "balm/compaction.hpp"

namespace balm::array {

enum class compact_stage : std::uint8_t {
    chunk_totals,  ///< a total for each chunk
    parts,         ///< scans the chunks' totals in place, stores the total after them, and the count
    chunks,        ///< moves the elements of chunks, given the scanned totals
    whole,         ///< moves the elements of a single chunk, stores the count
    look_back      ///< the same for tiles, which find the total before them by look-back
};

struct compact_plan {
    tile_plan tiles;
    compact_stage stage = compact_stage::whole;
    std::size_t kept = 0;       ///< kept values of an element
    std::size_t keys = 0;       ///< of these, the keys that delimit runs; 0: a condition selects
    bool is_partition = false;  ///< the other elements follow the selected ones
    bool is_bounded = false;    ///< targets may be too small for all
    bool is_wide = false;       ///< counts take 64 bits
    bool has_lengths = false;   ///< the only reduction is the length of a run

    bool of_runs() const { return keys > 0; }
    bool reads_elements() const { return stage != compact_stage::parts; }
    bool moves_elements() const {
        return stage == compact_stage::chunks || stage == compact_stage::whole ||
               stage == compact_stage::look_back;
    }
    bool gives_count() const {
        return stage == compact_stage::parts || stage == compact_stage::whole ||
               stage == compact_stage::look_back;
    }
    scalar count_type() const { return is_wide ? scalar::i64 : scalar::i32; }
    /// Bits of a count, which is not negative.
    int count_bits() const { return is_wide ? 62 : 31; }

    friend bool operator==(const compact_plan&, const compact_plan&) = default;
};

/// Whether the only reduction of the runs is their length. The reduced values are the tape's last ones.
bool are_lengths(const compaction&, const tape&);

/// The types of the scanned state: the count, and the state of the run's reductions, or the run's first
/// position.
block::types compact_state(const compact_plan&, const operations&);

/// The bytes of an element in a tile.
std::size_t bytes_of_element(const compact_plan&, const compaction&, const operations&);

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_compaction(trace::recording&, const parameter_list& given,
                                                     const compact_plan&, const compaction&,
                                                     const operations&, const tape&, const layout&);

}  // namespace balm::array
