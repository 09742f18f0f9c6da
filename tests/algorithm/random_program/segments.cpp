// Sorts and reductions of segments.

#include <algorithm>
#include <limits>
#include <numeric>

#include "algorithm/random_program/program.hpp"
#include "algorithm/segment_offsets.hpp"

namespace balm::test::random_algorithms {

template <class T>
void program<T>::sort_in_segments() {
    const std::vector<std::int32_t> offsets = offsets_of(random_, n_);
    say("sort " + std::to_string(offsets.size() - 1) + " segments of special");
    const sort_order way = order();
    const vector<std::int32_t> at(ctx_, offsets);
    std::vector<std::size_t> places(n_);
    std::iota(places.begin(), places.end(), std::size_t{0});
    for_each_segment(offsets, [&](auto begin, auto end) {
        std::stable_sort(places.begin() + begin, places.begin() + end, [&](std::size_t a, std::size_t b) {
            return sorts_ahead(special_.on_host[a], special_.on_host[b], way);
        });
    });
    switch (below(3)) {
        case 0: sort_segments(special_.on_device, at, way); break;
        case 1:
            say(", x");
            sort_segments_by_key(special_.on_device, cast<std::int64_t>(at), x_.on_device, way);
            x_.on_host = permuted(x_.on_host, places);
            break;
        default:
            say(", x, wide");
            sort_segments_by_key(special_.on_device, at, x_.on_device, wide_.on_device, way);
            x_.on_host = permuted(x_.on_host, places);
            wide_.on_host = permuted(wide_.on_host, places);
    }
    special_.on_host = permuted(special_.on_host, places);
}

template <class T>
void program<T>::reduce_in_segments() {
    const std::vector<std::int32_t> offsets = offsets_of(random_, n_);
    say("reduce " + std::to_string(offsets.size() - 1) + " segments of");
    const operand<T> of = values();
    const vector<std::int32_t> at(ctx_, offsets);
    // Each element has what its segment comes to.
    const auto of_each = [&]<class R>(const vector<R>& results, const std::vector<R>& wanted) {
        same(results, wanted, "results of segments");
        if (n_ == 0) return;
        std::vector<std::int32_t> positions(n_);
        std::iota(positions.begin(), positions.end(), 0);
        std::vector<R> spread;
        std::size_t segment = 0;
        for_each_segment(offsets, [&](auto begin, auto end) {
            spread.insert(spread.end(), static_cast<std::size_t>(end - begin), wanted[segment++]);
        });
        const auto segment_of_each = upper_bound(at, vector<std::int32_t>(ctx_, positions)) - std::int64_t{1};
        yields<R>(expr<R>(on_all(results)[segment_of_each]), spread);
    };
    const auto reduced = [&]<class R>(R identity, const auto& combine) {
        std::vector<R> made;
        for_each_segment(offsets, [&](auto begin, auto end) {
            R own = identity;
            for (auto k = begin; k != end; ++k)
                own = combine(own, static_cast<R>(of.on_host[static_cast<std::size_t>(k)]));
            made.push_back(own);
        });
        return made;
    };
    switch (below(3)) {
        case 0: return of_each(reduce_segments(at, of.values), reduced(sum_type(0), plus));
        case 1:
            say(", the last ones");
            return of_each(reduce_segments(at, latest_of(of.values)), reduced(T(0), latest<T>));
        default: {
            say(", the largest");
            using limits = std::numeric_limits<T>;
            const T least = std::is_floating_point_v<T> ? limits::quiet_NaN() : limits::lowest();
            const auto greater = [](T a, T b) { return is_nan(a) ? b : std::max(a, b); };
            same(reduce_segments(cast<std::int64_t>(at), max_of(of.values)), reduced(least, greater),
                 "largest of segments", true);
        }
    }
}

#define BALM_INSTANTIATE(T)                       \
    template void program<T>::sort_in_segments(); \
    template void program<T>::reduce_in_segments();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
