#pragma once
// How two pieces of code are compared: alternately, in one process, so that other load on the machine affects
// both alike.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace balm::bench {

inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Wall time of one call.
template <class F>
double seconds(F&& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Medians of both, and the speed of the first relative to the second: above 1, it is faster.
struct comparison {
    double balm = 0;  ///< seconds
    double peer = 0;  ///< seconds
    double ratio = 0;
};

/// For CPUs: the ratio is the median over pairs of consecutive runs. Identical code spreads 0.957-1.022 on
/// the two-core machine of docs/performance.md.
template <class Balm, class Peer>
comparison compare_in_pairs(Balm&& balm, Peer&& peer, int pairs = 41) {
    std::vector<double> ours, theirs, ratios;
    for (int k = 0; k < pairs; ++k) {
        ours.push_back(seconds(balm));
        theirs.push_back(seconds(peer));
        ratios.push_back(theirs.back() / ours.back());
    }
    return {median(ours), median(theirs), median(ratios)};
}

/// For GPUs: the ratio of the medians of alternating samples. Each call submits `launches` launches and waits
/// for them; before each sample, an untimed launch lets the driver switch from the other's context.
template <class Balm, class Peer>
comparison compare_samples(Balm&& balm, Peer&& peer, int launches, int samples = 31) {
    std::vector<double> ours, theirs;
    for (int k = 0; k < samples; ++k) {
        balm(1);
        ours.push_back(seconds([&] { balm(launches); }) / launches);
        peer(1);
        theirs.push_back(seconds([&] { peer(launches); }) / launches);
    }
    const comparison made{median(ours), median(theirs), 0};
    return {made.balm, made.peer, made.peer / made.balm};
}

}  // namespace balm::bench
