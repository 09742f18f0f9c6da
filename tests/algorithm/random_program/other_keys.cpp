// Merges, sets, first elements and segments of keys of the types that programs are not about.

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "algorithm/random_program/program_state.hpp"
#include "algorithm/segment_offsets.hpp"
#include "algorithm/sorted_arrays.hpp"

namespace balm::test::random_algorithms {

namespace {

/// Calls f with a type that is drawn.
template <class F>
void with_any_key(generator& random, F&& f) {
    switch (below(random, 5)) {
        case 0: return f(std::type_identity<std::int8_t>());
        case 1: return f(std::type_identity<std::uint16_t>());
        case 2: return f(std::type_identity<std::uint32_t>());
        case 3: return f(std::type_identity<half>());
        default: return f(std::type_identity<bool>());
    }
}

}  // namespace

void program_state::merge_other_keys() {
    say("merge and unite");
    const sort_order way = order();
    with_any_key(random_, [&]<class K>(std::type_identity<K>) {
        const std::size_t first_size = drawn_size(random_, true), second_size = drawn_size(random_, true);
        say(" " + std::to_string(first_size) + " and " + std::to_string(second_size) + " of " +
            std::to_string(sizeof(K)) + " bytes");
        const auto [a, b] = sorted_arrays<K>(any_kind(random_), random_, first_size, second_size, way);
        const twin<K> first(ctx_, a), second(ctx_, b);
        std::vector<K> merged, both;
        std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged), by<K>(way));
        same(merge(first.on_device, second.on_device, way), merged, "merged");
        std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
                                      by<K>(way));
        same(set_symmetric_difference(first.on_device, second.on_device, way), both, "set");
    });
}

void program_state::find_first_of_other_keys() {
    say("top_k");
    const sort_order way = order();
    with_any_key(random_, [&]<class K>(std::type_identity<K>) {
        const twin<K> all(ctx_, as_expressions_store(keys_of<K>(any_kind(random_), random_, n_)));
        const std::size_t count = drawn_count(n_);
        say(" of " + std::to_string(sizeof(K)) + " bytes");
        std::vector<std::size_t> wanted = order_on_host(all.on_host, way);
        wanted.resize(count);
        const auto [first, positions] = top_k(all.on_device, count, way);
        same(first, permuted(all.on_host, wanted), "first elements", std::is_same_v<K, half>);
        same(positions, std::vector<std::int64_t>(wanted.begin(), wanted.end()), "positions");
    });
}

void program_state::sort_other_keys_in_segments() {
    const std::vector<std::int32_t> offsets = offsets_of(random_, n_);
    say("sort " + std::to_string(offsets.size() - 1) + " segments");
    const sort_order way = order();
    with_any_key(random_, [&]<class K>(std::type_identity<K>) {
        say(" of " + std::to_string(sizeof(K)) + " bytes");
        twin<K> all(ctx_, keys_of<K>(any_kind(random_), random_, n_));
        sort_segments(all.on_device, vector<std::int32_t>(ctx_, offsets), way);
        for_each_segment(offsets, [&](auto begin, auto end) {
            std::stable_sort(all.on_host.begin() + begin, all.on_host.begin() + end, by<K>(way));
        });
        same(all, "segments");
    });
}

}  // namespace balm::test::random_algorithms
