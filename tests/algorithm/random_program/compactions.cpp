// Selections, partitions, unique elements and reductions by key.

#include "algorithm/random_program/program.hpp"

namespace balm::test::random_algorithms {

template <class T>
void program<T>::select_some() {
    say("copy_if");
    const operand<T> of = any_values();
    const T bound = least();
    say(" > " + std::to_string(+bound));
    std::vector<T> wanted;
    std::vector<std::int64_t> where;
    for (std::size_t k = 0; k < n_; ++k)
        if (of.on_host[k] > bound) {
            wanted.push_back(of.on_host[k]);
            where.push_back(static_cast<std::int64_t>(k));
        }
    switch (below(3)) {
        case 0: return same(copy_if(of.values, of.values > bound), wanted, "selected");
        case 1: {
            const auto [chosen, at] =
                copy_if(std::tuple(of.values, cast<std::int64_t>(element_index())), of.values > bound);
            same(chosen, wanted, "selected");
            return same(at, where, "positions");
        }
        default: {
            vector<T> into = target<T>(room());
            vector<std::int64_t> count(first_, 1);
            copy_if_into(into, count, of.values, of.values > bound);
            begins(into, wanted, "selected");
            is_count(count, wanted.size());
        }
    }
}
template <class T>
void program<T>::part() {
    say("partition");
    const operand<T> of = any_values();
    const T bound = least();
    say(" > " + std::to_string(+bound));
    std::vector<T> wanted = of.on_host;
    const auto end = std::stable_partition(wanted.begin(), wanted.end(), [&](T v) { return v > bound; });
    const auto chosen = static_cast<std::size_t>(end - wanted.begin());
    if (toss()) {
        const auto [parted, count] = partition(of.values, of.values > bound);
        EXPECT_EQ(count, chosen);
        return same(parted, wanted, "parted");
    }
    vector<T> into = target<T>(n_);
    vector<std::int64_t> count(first_, 1);
    partition_into(into, count, of.values, of.values > bound);
    same(into, wanted, "parted");
    is_count(count, chosen);
}
template <class T>
void program<T>::unique_ones() {
    say("unique");
    if (below(4) == 0) {
        // Zeros of both signs are equal, and NaNs differ from everything.
        const operand<T> of = any_values();
        std::vector<std::size_t> starts;
        for (std::size_t k = 0; k < n_; ++k)
            if (k == 0 || of.on_host[k] != of.on_host[k - 1]) starts.push_back(k);
        return same(unique(of.values), permuted(of.on_host, starts), "unique");
    }
    const operand<std::int32_t> by = keys();
    const std::vector<std::size_t> starts = run_starts(by.on_host);
    const std::vector<std::int32_t> wanted = permuted(by.on_host, starts);
    switch (below(4)) {
        case 0: return same(unique(by.values), wanted, "unique");
        case 1: {
            say(" by key");
            const operand<T> of = values();
            const auto [chosen, first] = unique_by_key(by.values, of.values);
            same(chosen, wanted, "unique");
            return same(first, permuted(of.on_host, starts), "first");
        }
        case 2: {
            const std::size_t size = room();
            vector<std::int32_t> into = target<std::int32_t>(size);
            vector<T> first = target<T>(size);
            vector<std::int64_t> count(first_, 1);
            const operand<T> of = values();
            unique_by_key_into(std::tie(into, first), count, by.values, of.values);
            begins(into, wanted, "unique");
            begins(first, permuted(of.on_host, starts), "first");
            return is_count(count, starts.size());
        }
        default: {
            vector<std::int32_t> into = target<std::int32_t>(room());
            vector<std::int64_t> count(first_, 1);
            unique_into(into, count, by.values);
            begins(into, wanted, "unique");
            is_count(count, starts.size());
        }
    }
}
template <class T>
void program<T>::reduce_runs() {
    say("reduce by key");
    const operand<std::int32_t> by = keys();
    const std::vector<std::size_t> starts = run_starts(by.on_host);
    const std::vector<std::int32_t> wanted = permuted(by.on_host, starts);
    const auto lengths =
        reduced_runs<std::int64_t>(std::vector<std::int64_t>(n_, 1), starts, 0, std::plus<std::int64_t>());
    const std::size_t chosen = below(4);
    if (chosen == 0) {
        say(" lengths");
        const auto [values, counts] = run_length_encode(by.values);
        same(values, wanted, "keys");
        return same(counts, lengths, "lengths");
    }
    if (chosen == 1) {
        say(" lengths");
        const std::size_t size = room();
        vector<std::int32_t> into = target<std::int32_t>(size);
        vector<std::int64_t> counts = target<std::int64_t>(size);
        vector<std::int64_t> count(first_, 1);
        run_length_encode_into(std::tie(into, counts), count, by.values);
        begins(into, wanted, "keys");
        begins(counts, lengths, "lengths");
        return is_count(count, starts.size());
    }
    const operand<T> of = values();
    const auto sums = reduced_runs<sum_type>(of.on_host, starts, sum_type(0), plus);
    const auto last = reduced_runs<T>(of.on_host, starts, T(0), latest<T>);
    if (chosen == 2) {
        const auto [k, totals, latest_ones] = reduce_by_key(by.values, of.values, latest_of(of.values));
        same(k, wanted, "keys");
        same(totals, sums, "sums");
        return same(latest_ones, last, "latest");
    }
    const std::size_t size = room();
    vector<std::int32_t> into = target<std::int32_t>(size);
    vector<sum_type> totals = target<sum_type>(size);
    vector<T> latest_ones = target<T>(size);
    vector<std::int64_t> count(first_, 1);
    reduce_by_key_into(std::tie(into, totals, latest_ones), count, by.values, of.values,
                       latest_of(of.values));
    begins(into, wanted, "keys");
    begins(totals, sums, "sums");
    begins(latest_ones, last, "latest");
    is_count(count, starts.size());
}

#define BALM_INSTANTIATE(T)                  \
    template void program<T>::select_some(); \
    template void program<T>::part();        \
    template void program<T>::unique_ones(); \
    template void program<T>::reduce_runs();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
