// Histograms, searches, differences, gathers and scatters.

#include "algorithm/random_program/program.hpp"

namespace balm::test::random_algorithms {

template <class T>
void program<T>::count_bins() {
    constexpr std::size_t sizes[] = {1, 5, 16, 300, 20000};
    const std::size_t bins = sizes[below(std::size(sizes))];
    const operand<std::int32_t> by = keys();
    const operand<T> of = values();
    say(" in " + std::to_string(bins) + " bins");
    const auto is_there = [&](std::int64_t bin) { return bin >= 0 && static_cast<std::size_t>(bin) < bins; };
    switch (below(3)) {
        case 0: {
            std::vector<std::int64_t> wanted(bins);
            for (const std::int32_t each : by.on_host)
                if (is_there(each)) ++wanted[static_cast<std::size_t>(each)];
            return same(vector<std::int64_t>(bincount(by.values, bins)), wanted, "counts");
        }
        case 1: {
            std::vector<sum_type> wanted(bins);
            for (std::size_t k = 0; k < n_; ++k)
                if (is_there(by.on_host[k])) {
                    sum_type& own = wanted[static_cast<std::size_t>(by.on_host[k])];
                    own = plus(own, static_cast<sum_type>(of.on_host[k]));
                }
            return same(vector<sum_type>(bincount(by.values, bins, of.values)), wanted, "sums");
        }
        default: {
            say(" even ones");
            std::vector<std::int64_t> wanted(8);
            for (const T each : of.on_host)
                if (each >= T(0) && each < T(4)) ++wanted[static_cast<std::size_t>(2 * each) / 1];
            if constexpr (std::is_floating_point_v<T>)
                return same(vector<std::int64_t>(histogram(of.values, 8, 0.0, 4.0)), wanted, "counts");
            else
                return same(vector<std::int64_t>(histogram(of.values, 8, 0, 4)), wanted, "counts");
        }
    }
}
template <class T>
void program<T>::search() {
    const std::size_t size = drawn_size(random_, true);
    say("search among " + std::to_string(size) + " for");
    std::vector<T> list = small_values<T>(random_, size);
    std::sort(list.begin(), list.end());
    const vector<T> on_device(ctx_, list);
    const operand<T> of = values();
    const bool is_lower = toss();
    std::vector<std::int64_t> wanted;
    for (const T each : of.on_host) {
        const auto found = is_lower ? std::lower_bound(list.begin(), list.end(), each)
                                    : std::upper_bound(list.begin(), list.end(), each);
        wanted.push_back(found - list.begin());
    }
    same(vector<std::int64_t>(is_lower ? lower_bound(on_device, of.values)
                                       : upper_bound(on_device, of.values)),
         wanted, "positions");
}
template <class T>
void program<T>::move_some() {
    const std::size_t chosen = below(3);
    if (chosen == 0) {
        say("differences");
        const operand<T> of = values();
        using D = typename decltype(adjacent_difference(of.values))::value_type;
        std::vector<D> wanted;
        for (std::size_t k = 0; k < n_; ++k)
            wanted.push_back(
                static_cast<D>(k == 0 ? D(of.on_host[0]) : D(of.on_host[k]) - D(of.on_host[k - 1])));
        return same(vector<D>(adjacent_difference(of.values)), wanted, "differences");
    }
    std::vector<std::int64_t> positions(n_);
    std::iota(positions.begin(), positions.end(), std::int64_t{0});
    std::shuffle(positions.begin(), positions.end(), random_);
    for (std::int64_t& each : positions)
        if (below(4) == 0) each = is_drawn(random_) ? -1 - each : each + static_cast<std::int64_t>(n_);
    const vector<std::int64_t> on_device(ctx_, positions);
    const auto size = static_cast<std::int64_t>(n_);
    const auto is_there = [&](std::int64_t p) { return p >= 0 && p < size; };
    const operand<T> of = values();
    if (chosen == 1) {
        say(" gather_if");
        std::vector<T> wanted = of.on_host;
        for (std::size_t k = 0; k < n_; ++k)
            if (is_there(positions[k])) wanted[k] = x_.on_host[static_cast<std::size_t>(positions[k])];
        yields<T>(gather_if(x_.on_device, on_device, on_device >= 0 && on_device < size, of.values), wanted);
        return;
    }
    if (ctx_.size() > 1) return;
    say(" scatter_if to x");
    const vector<T> moved(of.values);
    scatter_if(x_.on_device, on_device, moved, on_device >= 0 && on_device < size);
    for (std::size_t k = 0; k < n_; ++k)
        if (is_there(positions[k])) x_.on_host[static_cast<std::size_t>(positions[k])] = of.on_host[k];
}

#define BALM_INSTANTIATE(T)                 \
    template void program<T>::count_bins(); \
    template void program<T>::search();     \
    template void program<T>::move_some();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
