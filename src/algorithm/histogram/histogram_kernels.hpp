#pragma once
// The kernel of histograms. Each work-item of a CPU, or group of a GPU, counts the elements of its chunk, or
// adds up their weights, in tables of its own; the tables are added up after the kernel. If a table does not
// fit in local memory, all groups share one in global memory.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/block/tile.hpp"
#include "array/layout.hpp"
#include "balm/histogram.hpp"
#include "ir/ir.hpp"

namespace balm::array {

enum class table_place : std::uint8_t {
    own,    ///< of a work-item, in global memory: CPUs
    local,  ///< of a group, in local memory
    shared  ///< of all groups, in global memory
};

struct histogram_plan {
    table_place place = table_place::own;
    std::size_t channels = 1;
    bool has_weights = false;
    bool are_checked = true;        ///< bins may be out of range
    scalar even = scalar::nothing;  ///< as that of binning
    trace::type sum;                ///< of counters
    std::size_t copies = 1;         ///< tables of a work-item or group, among which elements are divided
    std::size_t room = 0;           ///< counters of a table in local memory
    std::size_t group = 1;          ///< work-items
    block::runs tile{1, 1};         ///< of a work-item in a group's tile
    bool loads_vectors = false;     ///< each run of a tile is one

    friend bool operator==(const histogram_plan&, const histogram_plan&) = default;
};

/// Records the body of a kernel whose parameters are declared. A tape has the bin of each channel, or the
/// number that even_bins takes, and the weight, if any.
std::shared_ptr<const ir::function> trace_histogram(trace::recording&, const parameter_list& given,
                                                    const histogram_plan&, const tape&, const layout&);

}  // namespace balm::array
