// k-means clustering by Lloyd's method: each point belongs to the nearest centre, each centre moves to the
// mean of its points, until no point changes its cluster. A centre without points restarts at the point that
// is farthest from its own centre. All centres begin at the same place, so this also spreads them.
//
// Source: S. P. Lloyd, "Least squares quantization in PCM", IEEE Transactions on Information Theory 28, 1982.

#include <balm/balm.hpp>
#include <cstdint>
#include <cstdio>

namespace {

using points = balm::vector<balm::double2>;

/// The nearest centre of each point; the lowest index of several. The distances are a matrix with a row for
/// each point and a column for each centre, which is computed but never stored.
auto nearest(const points& all, const points& centres) {
    const auto n = all.size(), k = centres.size();
    const auto way = balm::view(all, {n, 1}).broadcast({n, k}) - balm::view(centres, {k}).broadcast({n, k});
    return balm::arg_min(dot(way, way), balm::along(1));
}

}  // namespace

int main() {
    constexpr std::int64_t n = 100'000, k = 5;
    constexpr std::uint64_t seed = 2026;
    const balm::context ctx;

    // Points of the plane, normally distributed around known centres.
    const auto i = balm::element_index(0, n);
    const points known(ctx, {{-4, 1}, {-1, -3}, {0.5, 3}, {2, -1}, {4, 3}});
    const points all = known[i % k] + 0.7 * balm::normal<balm::double2>()(i, seed);

    points centres(ctx, k, balm::double2{0, 0});
    balm::vector<std::int64_t> cluster(ctx, n, -1), before(ctx, n), sizes(ctx, k);
    int iterations = 0;
    do {
        swap(before, cluster);
        cluster = nearest(all, centres);

        // Cluster numbers are small integers: bincount adds up by them without sorting, and has a bin for a
        // cluster without points. (sort_by_key and reduce_by_key are for keys of any kind.)
        sizes = balm::bincount(cluster, k);
        const auto sums = balm::compose<balm::double2>(balm::bincount(cluster, k, balm::lane<0>(all)),
                                                       balm::bincount(cluster, k, balm::lane<1>(all)));
        const auto farthest = balm::arg_max(distance(all, centres[cluster])).position;
        centres = select(sizes > 0, sums / sizes, all[farthest]);
        ++iterations;
    } while (balm::any(cluster != before));

    // The computed centre for each known one.
    const balm::vector<std::int64_t> match = nearest(known, centres);
    const points found = centres[match];
    const balm::vector<std::int64_t> members = sizes[match];
    std::printf("%lld points, %d iterations\n", static_cast<long long>(n), iterations);
    for (std::size_t c = 0; c < k; ++c) {
        const auto [x, y] = found[c];
        std::printf("%5.2f %5.2f: %lld points\n", x, y, static_cast<long long>(members[c]));
    }
    const double error = balm::max(distance(found, known));
    std::printf("the known centres are %s\n", error < 0.05 ? "found" : "MISSED");
    return error < 0.05 ? 0 : 1;
}
