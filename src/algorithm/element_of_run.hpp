#pragma once

#include "algorithm/block/values.hpp"
#include "array/map/placement.hpp"

namespace balm::array {

/// Element k of a run of neighbours, which is loaded as one vector where the kernel loads such.
inline coordinates element_of_run(const block::Index& run, int k, int length, bool loads_vectors) {
    coordinates made(block::node_of(run * length + k));
    if (loads_vectors) made.vector = {block::node_of(run), k, length};
    return made;
}

}  // namespace balm::array
