#pragma once
// The kernels of compactions: elements that are selected move to the front, in order. The place of an element
// is the number of selected ones before it, a scan. If elements are selected that begin a run of equal keys,
// what is scanned has the reductions of the run beside that number: where a run begins, the results of the
// one before it are ready. If the only reduction is a run's length, it is how far two selected elements are
// apart, and the state is where the last one stands.
//
// Elements are cut as those of scans are: a kernel that finds what chunks have in total, one that scans the
// totals, one that moves elements; of a single chunk one kernel; with look-back a single kernel.

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
    parts,         ///< the chunks' totals, scanned in place, the total of all behind them, the count
    chunks,        ///< moves elements of chunks behind the scanned totals
    whole,         ///< moves elements of one chunk, the count
    look_back      ///< the same, of tiles that find out what is ahead of them
};

struct compact_plan : tile_plan {
    compact_stage stage = compact_stage::whole;
    std::size_t kept = 0;       ///< values that are kept of an element
    std::size_t keys = 0;       ///< of them, that elements are compared by; 0: there is a condition
    bool is_partition = false;  ///< the other elements are moved behind the selected ones
    bool is_bounded = false;    ///< targets may have no room for all
    bool is_wide = false;       ///< counts take 64 bits
    bool has_lengths = false;   ///< the reduction is how many elements a run has

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
    /// Bits of a count, which is no negative number.
    int count_bits() const { return is_wide ? 62 : 31; }

    friend bool operator==(const compact_plan&, const compact_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        tile_plan::add_to(hash);
        hash.add(stage, kept, keys, is_partition, is_bounded, is_wide, has_lengths);
    }
};

/// Whether the reduction of a tape's runs, whose values come last, is how many elements they have.
bool are_lengths(const compaction&, const tape&);

/// The types of what is scanned: the count, and the state of the run's reductions, or where it begins.
block::types compact_state(const compact_plan&, const operations&);

/// Bytes that tiles have for an element.
std::size_t bytes_of_element(const compact_plan&, const compaction&, const operations&);

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_compaction(trace::recording&, const parameter_list& given,
                                                     const compact_plan&, const compaction&,
                                                     const operations&, const tape&, const layout&);

}  // namespace balm::array
