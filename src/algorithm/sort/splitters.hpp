#pragma once
// Where sorted parts on several devices are split, so that each device gets the elements of its positions in
// the global order.

#include <cstddef>
#include <span>
#include <vector>

#include "balm/merge.hpp"

namespace balm::array {

/// The arrays of one device: keys, then values.
using device_arrays = std::vector<std::shared_ptr<vector_state>>;

/// How many elements of each part are among the first of all: splits[j][d] elements of part d are among the
/// first ranks[j], which ascend. Of equal elements, those of earlier parts come first. Parts are sorted by
/// their first `keys` arrays. Waits for the parts.
///
/// Selection in several sorted sequences (Varman, Scheufler, Iyer & Ricard, Merging multiple lists on
/// hierarchical-memory multiprocessors, 1991) with many pivots at a time: a round sends pivots of one part,
/// for each rank, to all devices, and reads back their ranks. Equal distributions take log n / log 1024
/// rounds, arbitrary ones as many for each device.
std::vector<std::vector<std::size_t>> splits_of(std::span<const device_arrays> parts, std::size_t keys,
                                                const ordering&, std::span<const std::size_t> ranks);

}  // namespace balm::array
