#pragma once
// The kernels of scans. Elements are divided into chunks of contiguous elements. One kernel computes the
// total of each chunk, one scans the totals, and one scans the chunks, given the scanned totals. A single
// chunk takes one kernel. With look-back, one kernel scans any number of tiles.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/reduce/reduce_operations.hpp"
#include "algorithm/scan/look_back.hpp"
#include "algorithm/scan/work_division.hpp"
#include "array/layout.hpp"
#include "balm/scan.hpp"

namespace balm::array {

enum class scan_stage : std::uint8_t {
    chunk_totals,    ///< a total for each chunk
    total_of_parts,  ///< one total of the chunks' totals
    parts,           ///< the chunks' totals, scanned in place
    chunks,          ///< the results of chunks, given the scanned totals
    whole,           ///< the results of one chunk
    look_back,       ///< the results of tiles that look back for what precedes them
    whole_rows       ///< the results of whole rows: several per work-item, or a group's tile of them
};

/// How a scan along the last dimension treats its rows, which are segments of equal length.
enum class row_form : std::uint8_t {
    none,
    segments,  ///< an element's position determines whether a row begins
    apart      ///< no chunk spans two rows
};

struct scan_plan {
    tile_plan tiles;
    scan_stage stage = scan_stage::whole;
    bool is_inclusive = true;
    /// A bit for each reduction that starts from an initial value, and that starts from the result of no
    /// elements, which is no identity.
    std::uint64_t inits = 0, nothings = 0;
    bool has_carry = false;  ///< starts from the values of vectors, and stores totals there
    std::size_t keys = 0;    ///< of each element, if segments are those of equal keys
    row_form rows = row_form::none;
    bool is_narrow = false;       ///< positions in rows are computed in 32 bits
    bool is_cut = false;          ///< the results begin at a later element of the target
    int at_once = 1;              ///< elements that a work-item with its own chunk combines at once
    int compared_at_once = 1;     ///< by key: elements that it scans as one segment where none begins
    bool stores_vectors = false;  ///< each run of a tile is stored as one vector

    bool of_parts() const { return stage == scan_stage::total_of_parts || stage == scan_stage::parts; }
    bool makes_totals() const {
        return stage == scan_stage::chunk_totals || stage == scan_stage::total_of_parts;
    }
    /// Whether elements, and whether totals of chunks, say that a segment begins.
    bool has_flagged_elements() const { return keys > 0 || rows == row_form::segments; }
    bool has_flagged_totals() const { return has_flagged_elements() || rows == row_form::apart; }
    bool has_init(std::size_t reduction) const { return (inits >> reduction & 1) != 0; }
    bool starts_from_value(std::size_t reduction) const { return ((inits | nothings) >> reduction & 1) != 0; }
    /// Whether a kernel stores totals for the next scan.
    bool carries_out() const {
        return has_carry &&
               (stage == scan_stage::whole || stage == scan_stage::parts || stage == scan_stage::look_back);
    }
    bool gives_results() const { return !makes_totals() && !of_parts(); }

    friend bool operator==(const scan_plan&, const scan_plan&) = default;
};

/// The types of the combined state: whether a segment begins, if requested, then the operations' state.
block::types scan_state(const operations&, bool has_flag);

/// Records the body of a kernel whose parameters are declared. The tape has the values of each operation and,
/// for scans by key, whether a segment begins, then the keys, which `same` compares.
std::shared_ptr<const ir::function> trace_scan(trace::recording&, const parameter_list& given,
                                               const scan_plan&, const operations&,
                                               const std::shared_ptr<const ir::function>& same, const tape&,
                                               const layout&);

}  // namespace balm::array
