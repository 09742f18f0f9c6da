#pragma once
// How the algorithms of a random program go: as suits the device, or as forced.

#include <cstddef>
#include <iterator>
#include <random>

#include "algorithm/histogram/histogram_strategy.hpp"
#include "algorithm/random_program/draw.hpp"
#include "algorithm/reduce/reduce_shapes.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "algorithm/sparse/sparse_strategy.hpp"

namespace balm::test::random_algorithms {

/// Elements of programs that go in groups on a CPU, which is slow at it.
inline constexpr std::size_t most_in_groups_of_cpu = 20000;

/// A way for all algorithms, while it lives.
class forced_ways {
public:
    explicit forced_ways(generator& random, bool on_cpu) {
        array::force_matrices_of_gpus(below(random, 4) == 0);
        if (const std::size_t chosen = below(random, 8); chosen == 0) {
            is_of_groups = true;
            constexpr array::scan_strategy strategies[] = {array::scan_strategy::chunk_a_group,
                                                           array::scan_strategy::tiles_look_back,
                                                           array::scan_strategy::one_group};
            scans.strategy = strategies[below(random, std::size(strategies))];
            sorts = array::forced_sort{.strategy = array::sort_strategy::chunk_a_group,
                                       .most_of_one = is_drawn(random) ? ~std::size_t{0} : 0};
            array::force_scans(&scans);
            array::force_histograms_of_gpus(true);
            array::use_shapes_of_gpus(true);
            array::force_sorts(&sorts);
        } else if (chosen < 4 && on_cpu) {
            sorts = array::forced_sort{.strategy = array::sort_strategy::chunk_an_item,
                                       .most_of_one = 0,
                                       .chunk = 1 + below(random, 3000)};
            array::force_sorts(&sorts);
        }
    }
    forced_ways(const forced_ways&) = delete;
    forced_ways& operator=(const forced_ways&) = delete;
    ~forced_ways() {
        array::force_scans(nullptr);
        array::force_histograms_of_gpus(false);
        array::use_shapes_of_gpus(false);
        array::force_sorts(nullptr);
        array::force_matrices_of_gpus(false);
    }

    bool is_of_groups = false;

private:
    array::forced_scan scans{array::scan_strategy::chunk_a_group};
    array::forced_sort sorts{};
};

}  // namespace balm::test::random_algorithms
