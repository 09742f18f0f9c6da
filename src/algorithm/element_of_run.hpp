#pragma once
// Vector loads of reductions, scans, selections and histograms on GPUs, which no pass of the IR makes. Which
// elements a work-item takes determines the order in which they are combined, and so the bits of a
// floating-point sum: the algorithm's plan decides it, and no pass may change it. (ir/lower/coarsen.cpp
// reassigns the elements of elementwise kernels, whose iterations are independent.) Only the loads are
// widened here: each element is recorded as a lane of its vector (array/record.cpp), and value numbering
// makes the lanes share one load.

#include "algorithm/block/values.hpp"
#include "array/map/placement.hpp"

namespace balm::array {

/// Element k of a run of neighbours, which is loaded as one vector if the kernel loads vectors.
inline coordinates element_of_run(const block::Index& run, int k, int length, bool loads_vectors) {
    coordinates made(block::node_of(run * length + k));
    if (loads_vectors) made.vector = {block::node_of(run), k, length};
    return made;
}

}  // namespace balm::array
