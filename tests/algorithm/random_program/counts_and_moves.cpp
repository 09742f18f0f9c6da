// Histograms, searches, differences, gathers and scatters.

#include "algorithm/exact_numbers.hpp"
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
    if (toss()) {
        std::vector<std::int64_t> wanted(bins);
        for (const std::int32_t each : by.on_host)
            if (is_there(each)) ++wanted[static_cast<std::size_t>(each)];
        return same(vector<std::int64_t>(bincount(by.values, bins)), wanted, "counts");
    }
    std::vector<sum_type> wanted(bins);
    for (std::size_t k = 0; k < n_; ++k)
        if (is_there(by.on_host[k])) {
            sum_type& own = wanted[static_cast<std::size_t>(by.on_host[k])];
            own = plus(own, static_cast<sum_type>(of.on_host[k]));
        }
    same(vector<sum_type>(bincount(by.values, bins, of.values)), wanted, "sums");
}
/// Bounds that are elements, or close to them, or extreme; often so that elements are on edges.
template <class T>
void program<T>::count_even_bins() {
    constexpr std::size_t sizes[] = {1, 2, 3, 5, 8, 100, 1000, 20000};
    const std::size_t bins = sizes[below(std::size(sizes))];
    const operand<T> of = any_values();
    const auto bound = [&]() -> T {
        const T some = toss() || n_ == 0 ? special_value<T>(random_) : of.on_host[below(n_)];
        const T other = toss() ? some : small_value<T>(random_);
        if constexpr (std::is_floating_point_v<T>)
            return std::isfinite(other) ? other : T(1);
        else
            return other;
    };
    T low = bound(), high = bound();
    if (high < low) std::swap(low, high);
    if (!(low < high)) return;
    say(" in " + std::to_string(bins) + " even bins from " + std::to_string(low) + " to " +
        std::to_string(high));
    std::vector<std::int64_t> wanted(bins);
    for (const T each : of.on_host) {
        const std::int64_t bin = exact_bin(each, bins, low, high);
        if (bin >= 0) ++wanted[static_cast<std::size_t>(bin)];
    }
    same(vector<std::int64_t>(histogram(of.values, bins, low, high)), wanted, "counts");
}
/// Among elements of another type.
template <class T>
void program<T>::search() {
    const std::size_t size = drawn_size(random_, true);
    const operand<T> of = any_values();
    const auto search_in = [&]<class L>(std::type_identity<L>) {
        say(" among " + std::to_string(size) + " of " + std::to_string(sizeof(L)) + " bytes");
        std::vector<L> list =
            toss() ? small_values<L>(random_, size) : keys_of<L>(any_kind(random_), random_, size);
        std::sort(list.begin(), list.end(), is_less_exactly<L, L>);
        const vector<L> on_device(ctx_, list);
        std::vector<std::int64_t> low, high, counts(std::max<std::size_t>(size, 2) - 1);
        for (const T each : of.on_host) {
            low.push_back(std::lower_bound(list.begin(), list.end(), each, is_less_exactly<L, T>) -
                          list.begin());
            high.push_back(std::upper_bound(list.begin(), list.end(), each, is_less_exactly<T, L>) -
                           list.begin());
            const auto bin = static_cast<std::size_t>(high.back() - 1);
            if (high.back() > 0 && bin < counts.size() && !is_nan(each)) ++counts[bin];
        }
        switch (below(size < 2 ? 2 : 3)) {
            case 0: return same(vector<std::int64_t>(lower_bound(on_device, of.values)), low, "positions");
            case 1: return same(vector<std::int64_t>(upper_bound(on_device, of.values)), high, "positions");
            default: return same(vector<std::int64_t>(histogram(of.values, on_device)), counts, "counts");
        }
    };
    say(" searched");
    switch (below(6)) {
        case 0: return search_in(std::type_identity<std::int32_t>());
        case 1: return search_in(std::type_identity<std::int64_t>());
        case 2: return search_in(std::type_identity<std::uint64_t>());
        case 3: return search_in(std::type_identity<float>());
        case 4: return search_in(std::type_identity<double>());
        default: return search_in(std::type_identity<T>());
    }
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

#define BALM_INSTANTIATE(T)                      \
    template void program<T>::count_bins();      \
    template void program<T>::count_even_bins(); \
    template void program<T>::search();          \
    template void program<T>::move_some();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
