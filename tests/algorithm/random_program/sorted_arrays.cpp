// Merges and set operations of arrays in the order of one collection, so that they have elements in common.

#include <algorithm>
#include <iterator>
#include <tuple>

#include "algorithm/random_program/program.hpp"
#include "algorithm/sorted_arrays.hpp"

namespace balm::test::random_algorithms {

two_parts program_state::drawn_parts() {
    const auto places = [this](std::size_t count) {
        std::vector<std::size_t> made(n_ == 0 ? 0 : count);
        for (std::size_t& each : made) each = below(n_);
        std::sort(made.begin(), made.end());
        return made;
    };
    const std::size_t first = toss() ? below(n_ + 1) : drawn_size(random_, true);
    const std::size_t second = toss() && first <= n_ ? n_ - first : drawn_size(random_, true);
    say(" (" + std::to_string(first) + " and " + std::to_string(second) + ")");
    return {ctx_, places(first), places(second)};
}

namespace {

template <class T>
std::vector<T> both_of(const std::vector<T>& all, const two_parts& parts) {
    return joined(permuted(all, parts.first_places), permuted(all, parts.second_places));
}

}  // namespace

template <class T>
void program<T>::merge_two() {
    say("merge of sorted");
    const sort_order way = order();
    const operand<T> of = any_values();
    const std::vector<T> all = sorted_on_host(of.on_host, way);
    const vector<T> collection(sorted(of.values, way));
    const two_parts parts = drawn_parts();
    const std::vector<T> first = permuted(all, parts.first_places),
                         second = permuted(all, parts.second_places);
    std::vector<T> wanted;
    std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(wanted),
               by<T>(way));
    vector<T> made = target<T>(wanted.size());
    if (toss()) {
        say(" into");
        merge_into(made, collection[parts.at_first], collection[parts.at_second], way);
    } else {
        const vector<T> on_device(ctx_, first);
        made = merge(on_device, collection[parts.at_second], way);
    }
    same(made, wanted, "merged");
    if (wanted.size() != n_) return;
    say(", special = merged");
    special_.on_device = on_all(made);
    special_.on_host = wanted;
}

template <class T>
void program<T>::merge_with_values() {
    say("merge by key of sorted special");
    const sort_order way = order();
    const std::vector<T> all = sorted_on_host(special_.on_host, way);
    const vector<T> collection(sorted(special_.on_device, way));
    const operand<T> of = values();
    const two_parts parts = drawn_parts();
    const std::vector<T> both = both_of(all, parts);
    const auto by_order =
        merged_order(parts.first_places.size(), parts.second_places.size(),
                     [&](std::size_t a, std::size_t b) { return sorts_ahead(both[a], both[b], way); });
    const auto wanted_keys = permuted(both, by_order);
    const auto wanted_values = permuted(both_of(of.on_host, parts), by_order);
    const auto wanted_wide = permuted(both_of(wide_.on_host, parts), by_order);

    const vector<T> own(of.values);
    const auto first_keys = collection[parts.at_first], second_keys = collection[parts.at_second];
    const auto first_values = own[parts.at_first], second_values = own[parts.at_second];
    const auto first_wide = wide_.on_device[parts.at_first], second_wide = wide_.on_device[parts.at_second];
    switch (below(3)) {
        case 0: {
            const auto [merged_keys, merged_values] =
                merge_by_key(first_keys, first_values, second_keys, second_values, way);
            same(merged_keys, wanted_keys, "merged keys");
            return same(merged_values, wanted_values, "merged values");
        }
        case 1: {
            say(", two values");
            const auto [merged_keys, moved] =
                merge_by_key(first_keys, std::tuple(first_values, first_wide), second_keys,
                             std::tuple(second_values, second_wide), way);
            same(merged_keys, wanted_keys, "merged keys");
            same(std::get<0>(moved), wanted_values, "merged values");
            return same(std::get<1>(moved), wanted_wide, "merged wide values");
        }
        default: {
            say(" into");
            vector<T> merged_keys = target<T>(parts.size());
            vector<std::int64_t> merged_wide = target<std::int64_t>(parts.size());
            merge_by_key_into(std::tie(merged_keys, merged_wide), first_keys, first_wide, second_keys,
                              second_wide, way);
            same(merged_keys, wanted_keys, "merged keys");
            same(merged_wide, wanted_wide, "merged wide values");
        }
    }
}

template <class T>
void program<T>::merge_several_keys() {
    say("merge of keys, special");
    const sort_order way = order();
    const auto precedes = [&](std::int32_t key, T x, std::int32_t other_key, T other) {
        return key != other_key ? sorts_ahead(key, other_key, way) : sorts_ahead(x, other, way);
    };
    const auto order_of_all = order_of(n_, [&](std::size_t a, std::size_t b) {
        return precedes(keys_.on_host[a], special_.on_host[a], keys_.on_host[b], special_.on_host[b]);
    });
    const twin<std::int32_t> major(ctx_, permuted(keys_.on_host, order_of_all));
    const twin<T> minor(ctx_, permuted(special_.on_host, order_of_all));
    const two_parts parts = drawn_parts();
    const auto both_major = both_of(major.on_host, parts);
    const auto both_minor = both_of(minor.on_host, parts);
    const auto by_order = merged_order(
        parts.first_places.size(), parts.second_places.size(), [&](std::size_t a, std::size_t b) {
            return precedes(both_major[a], both_minor[a], both_major[b], both_minor[b]);
        });
    const std::tuple first(major.on_device[parts.at_first], minor.on_device[parts.at_first]);
    const std::tuple second(major.on_device[parts.at_second], minor.on_device[parts.at_second]);
    const auto [merged_major, merged_minor] = merge(first, second, way);
    same(merged_major, permuted(both_major, by_order), "merged keys");
    same(merged_minor, permuted(both_minor, by_order), "merged special");
}

template <class T>
void program<T>::merge_by_comparison() {
    say("merge by comparison of keys");
    const auto order_of_all = order_of(n_, [&](std::size_t a, std::size_t b) {
        return is_lower_on_host(keys_.on_host[a], keys_.on_host[b]);
    });
    const twin<std::int32_t> all(ctx_, permuted(keys_.on_host, order_of_all));
    const two_parts parts = drawn_parts();
    const auto first = permuted(all.on_host, parts.first_places),
               second = permuted(all.on_host, parts.second_places);
    const auto on_first = all.on_device[parts.at_first], on_second = all.on_device[parts.at_second];
    if (toss()) {
        say(", the union");
        std::vector<std::int32_t> wanted;
        std::set_union(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(wanted),
                       is_lower_on_host);
        return same(set_union(on_first, on_second, is_lower()), wanted, "union");
    }
    const operand<T> of = values();
    const vector<T> own(of.values);
    const auto both = joined(first, second);
    const auto by_order = merged_order(first.size(), second.size(), [&](std::size_t a, std::size_t b) {
        return is_lower_on_host(both[a], both[b]);
    });
    const auto [merged_keys, merged_values] =
        merge_by_key(on_first, own[parts.at_first], on_second, own[parts.at_second], is_lower());
    same(merged_keys, permuted(both, by_order), "merged keys");
    same(merged_values, permuted(both_of(of.on_host, parts), by_order), "merged values");
}

template <class T>
void program<T>::combine_sets() {
    say("sets of sorted");
    const sort_order way = order();
    const operand<T> of = any_values();
    const std::vector<T> all = sorted_on_host(of.on_host, way);
    const vector<T> collection(sorted(of.values, way));
    const two_parts parts = drawn_parts();
    const std::vector<T> first = permuted(all, parts.first_places),
                         second = permuted(all, parts.second_places);
    const auto combine = [&](const auto& on_host, const auto& made, const auto& into) {
        std::vector<T> wanted;
        on_host(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(wanted),
                by<T>(way));
        const auto on_first = collection[parts.at_first], on_second = collection[parts.at_second];
        if (toss()) return same(made(on_first, on_second, way), wanted, "set");
        vector<T> results = target<T>(room(parts.size()));
        vector<std::int64_t> count = target<std::int64_t>(1);
        into(results, count, on_first, on_second, way);
        begins(results, wanted, "set");
        is_count(count, wanted.size());
    };
#define BALM_COMBINE(name)                                            \
    say(" " #name);                                                   \
    return combine([](auto... each) { std::name(each...); },          \
                   [](const auto&... each) { return name(each...); }, \
                   [](auto& into, auto& count, const auto&... each) { name##_into(into, count, each...); })
    switch (below(4)) {
        case 0: BALM_COMBINE(set_union);
        case 1: BALM_COMBINE(set_intersection);
        case 2: BALM_COMBINE(set_difference);
        default: BALM_COMBINE(set_symmetric_difference);
    }
#undef BALM_COMBINE
}

#define BALM_INSTANTIATE(T)                          \
    template void program<T>::merge_two();           \
    template void program<T>::merge_with_values();   \
    template void program<T>::merge_several_keys();  \
    template void program<T>::merge_by_comparison(); \
    template void program<T>::combine_sets();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
