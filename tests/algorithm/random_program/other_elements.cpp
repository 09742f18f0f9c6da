// Scans, reductions by key and of segments, unique elements and weights that are complex numbers, short
// vectors and structures.

#include <complex>
#include <numeric>

#include "algorithm/random_program/host_algorithms.hpp"
#include "algorithm/random_program/program_state.hpp"
#include "algorithm/segment_offsets.hpp"
#include "balm/scan_along.hpp"
#include "balm/scan_into.hpp"

namespace balm::test::random_algorithms {

using namespace balm::dsl;

/// x -> scale x + shift, modulo 2^32.
struct linear_map {
    std::uint32_t scale, shift;
};
BALM_STRUCT(linear_map, scale, shift)
/// The same, wider than what work-items announce or fit in local memory in usual groups.
struct wide_map {
    std::uint32_t scale, shift;
    double sums[40];
};
BALM_STRUCT(wide_map, scale, shift, sums)

namespace {

using complex = std::complex<float>;

std::uint32_t drawn_word(generator& random) { return static_cast<std::uint32_t>(random()); }

// ---- reductions: elements, their combination on the host, and its identity

struct complex_sum {
    using element = complex;
    static constexpr const char* name = "complex sum";
    static element drawn(generator& random) {
        return {static_cast<float>(below(random, 9)) - 4, static_cast<float>(below(random, 9)) - 4};
    }
    static element identity() { return {0, 0}; }
    static element combined(element a, element b) { return a + b; }
    template <class E>
    static auto of(E&& e) {
        return sum_of(e);
    }
};
struct complex_product {
    using element = std::complex<double>;
    static constexpr const char* name = "complex product";
    static element drawn(generator& random) {
        constexpr element units[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
        return units[below(random, 4)];
    }
    static element identity() { return {1, 0}; }
    static element combined(element a, element b) { return a * b; }
    template <class E>
    static auto of(E&& e) {
        return product_of(e);
    }
};
struct lanes_sum {
    using element = vec<std::int32_t, 3>;
    static constexpr const char* name = "sum of three lanes";
    static element drawn(generator& random) {
        return {static_cast<std::int32_t>(drawn_word(random)), static_cast<std::int32_t>(below(random, 9)),
                -1};
    }
    static element identity() { return {0, 0, 0}; }
    static element combined(element a, element b) {
        for (int k = 0; k < 3; ++k)
            a[k] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a[k]) +
                                             static_cast<std::uint32_t>(b[k]));
        return a;
    }
    template <class E>
    static auto of(E&& e) {
        return sum_of(e);
    }
};
struct map_composition {
    using element = linear_map;
    static constexpr const char* name = "composition";
    static element drawn(generator& random) { return {drawn_word(random), drawn_word(random)}; }
    static element identity() { return {1, 0}; }
    static element combined(element f, element g) { return {g.scale * f.scale, g.scale * f.shift + g.shift}; }
    template <class E>
    static auto of(E&& e) {
        static const auto composed = function("composed", [](Var<linear_map> f, Var<linear_map> g) {
            Var<linear_map> made;
            made.scale = g.scale * f.scale;
            made.shift = g.scale * f.shift + g.shift;
            return made;
        });
        return fold_of(e, identity(), composed);
    }
};
struct wide_composition {
    using element = wide_map;
    static constexpr const char* name = "wide composition";
    static element drawn(generator& random) {
        element made{drawn_word(random), drawn_word(random), {}};
        for (double& each : made.sums) each = static_cast<double>(below(random, 100));
        return made;
    }
    static element identity() { return {1, 0, {}}; }
    static element combined(const element& f, const element& g) {
        element made{g.scale * f.scale, g.scale * f.shift + g.shift, {}};
        for (std::size_t k = 0; k < std::size(made.sums); ++k) made.sums[k] = f.sums[k] + g.sums[k];
        return made;
    }
    template <class E>
    static auto of(E&& e) {
        static const auto composed = function("composed", [](Var<wide_map> f, Var<wide_map> g) {
            Var<wide_map> made;
            made.scale = g.scale * f.scale;
            made.shift = g.scale * f.shift + g.shift;
            for (Int k : range(40)) made.sums[k] = f.sums[k] + g.sums[k];
            return made;
        });
        return fold_of(e, identity(), composed);
    }
};

template <class F>
void with_any_reduction(generator& random, F&& f) {
    switch (below(random, 5)) {
        case 0: return f(complex_sum());
        case 1: return f(complex_product());
        case 2: return f(lanes_sum());
        case 3: return f(map_composition());
        default: return f(wide_composition());
    }
}

template <class T>
bool is_equal(const T& a, const T& b) {
    return std::memcmp(&a, &b, sizeof(T)) == 0;
}
/// Zeros have any sign.
template <class T>
bool is_equal(const std::complex<T>& a, const std::complex<T>& b) {
    return a == b;
}
template <int N>
bool is_equal(const vec<std::int32_t, N>& a, const vec<std::int32_t, N>& b) {
    for (int k = 0; k < N; ++k)
        if (a[k] != b[k]) return false;
    return true;
}
template <class V, class T>
void expect_elements(const vector<V>& got, const std::vector<T>& wanted, const char* name) {
    const host_array<V> host = got.to_host();
    ASSERT_EQ(host.size(), wanted.size()) << name;
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        T own{};
        static_assert(sizeof(T) == sizeof(V));
        std::memcpy(static_cast<void*>(&own), &host.begin()[k], sizeof own);
        if (is_equal(own, wanted[k])) continue;
        ADD_FAILURE() << name << "[" << k << "] of " << wanted.size() << " differs";
        return;
    }
}

/// Each element combined with those before it, from a multiple of `rows * inner` on.
template <class Way>
std::vector<typename Way::element> scanned_along(const std::vector<typename Way::element>& x,
                                                 std::size_t rows, std::size_t inner, bool is_inclusive,
                                                 const typename Way::element& init) {
    std::vector<typename Way::element> made(x.size());
    for (std::size_t first = 0; first < x.size(); ++first) {
        if (first / inner % rows != 0) continue;
        typename Way::element last = init;
        for (std::size_t k = first; k < first + rows * inner; k += inner) {
            const typename Way::element next = Way::combined(last, x[k]);
            made[k] = is_inclusive ? next : last;
            last = next;
        }
    }
    return made;
}

}  // namespace

void program_state::combine_other_elements() {
    with_any_reduction(random_, [&]<class Way>(Way) {
        using T = typename Way::element;
        const std::size_t n = std::min<std::size_t>(n_, sizeof(T) > 100 ? 9999 : 199999);
        say(std::string(Way::name) + " of " + std::to_string(n));
        std::vector<T> x(n);
        for (T& each : x) each = Way::drawn(random_);
        const vector<T> own(ctx_, x);
        const auto reduced = Way::of(own);
        const bool is_inclusive = toss(), has_init = toss();
        const T init = has_init ? Way::drawn(random_) : Way::identity();
        std::vector<std::int32_t> by(keys_.on_host.begin(),
                                     keys_.on_host.begin() + static_cast<std::ptrdiff_t>(n));
        const vector<std::int32_t> keys(ctx_, by);
        const auto combine = [](const T& a, const T& b) { return Way::combined(a, b); };
        switch (below(6)) {
            case 0: {
                say(is_inclusive ? " scan" : " exclusive scan");
                const std::vector<T> wanted =
                    scanned_along<Way>(x, std::max<std::size_t>(n, 1), 1, is_inclusive, init);
                const auto got =
                    has_init ? (is_inclusive ? inclusive_scan(reduced, init) : exclusive_scan(reduced, init))
                             : (is_inclusive ? inclusive_scan(reduced) : exclusive_scan(reduced));
                return expect_elements(vector<T>(got), wanted, "scan");
            }
            case 1: {
                say(" by key");
                const std::vector<T> wanted = scanned_on_host<T>(x, is_inclusive, init, combine, &by);
                const auto got = is_inclusive ? inclusive_scan_by_key(keys, reduced, init)
                                              : exclusive_scan_by_key(keys, reduced, init);
                return expect_elements(vector<T>(got), wanted, "scan by key");
            }
            case 2: {
                const std::size_t inner = std::gcd(n, 1 + below(60)),
                                  rest = n / std::max<std::size_t>(inner, 1),
                                  rows = std::gcd(rest, 1 + below(3000));
                say(" along rows of " + std::to_string(rows) + ", " + std::to_string(inner) + " apart");
                if (n == 0) return;
                const std::vector<T> wanted = scanned_along<Way>(x, rows, inner, is_inclusive, init);
                const auto box =
                    Way::of(expr<balm::detail::element_of<vector<T>>>(view(own, {rest / rows, rows, inner})));
                const auto got =
                    is_inclusive ? inclusive_scan(box, init, along(1)) : exclusive_scan(box, init, along(1));
                return expect_elements(vector<T>(got), wanted, "scan along");
            }
            case 3: {
                say(" into, with a carry");
                const std::vector<T> wanted =
                    scanned_along<Way>(x, std::max<std::size_t>(n, 1), 1, is_inclusive, init);
                vector<T> into(ctx_, n), carry(ctx_, 1, init);
                if (is_inclusive)
                    inclusive_scan_into(into, carry, reduced);
                else
                    exclusive_scan_into(into, carry, reduced);
                expect_elements(into, wanted, "scan into");
                return expect_elements(
                    carry, std::vector<T>{std::accumulate(x.begin(), x.end(), init, combine)}, "carry");
            }
            case 4: {
                say(" reduced by key");
                const std::vector<std::size_t> starts = run_starts(by);
                const auto [first, made] = reduce_by_key(keys, reduced);
                same(first, permuted(by, starts), "keys");
                return expect_elements(made, reduced_runs<T>(x, starts, Way::identity(), combine), "runs");
            }
            default: {
                const std::vector<std::int32_t> offsets = offsets_of(random_, n);
                say(" of " + std::to_string(offsets.size() - 1) + " segments");
                std::vector<T> wanted;
                for_each_segment(offsets, [&](auto begin, auto end) {
                    wanted.push_back(
                        std::accumulate(x.begin() + begin, x.begin() + end, Way::identity(), combine));
                });
                return expect_elements(reduce_segments(vector<std::int32_t>(ctx_, offsets), reduced), wanted,
                                       "segments");
            }
        }
    });
}

void program_state::unique_structures() {
    static const auto is_same = function("is_same", [](Var<linear_map> a, Var<linear_map> b) {
        return Bool(a.scale == b.scale && a.shift == b.shift);
    });
    static const auto is_ahead = function("is_ahead", [](Var<linear_map> a, Var<linear_map> b) {
        return Bool(a.scale < b.scale || (a.scale == b.scale && a.shift < b.shift));
    });
    std::vector<linear_map> x(n_);
    for (std::size_t k = 0; k < n_; ++k) {
        const auto own = static_cast<std::uint32_t>(keys_.on_host[k] + 8);
        x[k] = {own / 5, own % 5};
    }
    const vector<linear_map> own(ctx_, x);
    const std::vector<std::size_t> starts = run_starts(keys_.on_host);
    const std::vector<linear_map> wanted = permuted(x, starts);
    switch (below(3)) {
        case 0: say("unique structures"); return expect_elements(unique(own, is_same), wanted, "unique");
        case 1: {
            say("lengths of runs of structures");
            const auto [first, lengths] = run_length_encode(own, is_same);
            expect_elements(first, wanted, "unique");
            return same(lengths,
                        reduced_runs<std::int64_t>(std::vector<std::int64_t>(n_, 1), starts, 0,
                                                   std::plus<std::int64_t>()),
                        "lengths");
        }
        default: {
            say("sets of structures");
            const auto precedes = [](const linear_map& a, const linear_map& b) {
                return a.scale < b.scale || (a.scale == b.scale && a.shift < b.shift);
            };
            std::vector<linear_map> first(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n_ / 3)),
                second(x.begin() + static_cast<std::ptrdiff_t>(n_ / 3), x.end()), both, rest;
            std::sort(first.begin(), first.end(), precedes);
            std::sort(second.begin(), second.end(), precedes);
            std::set_intersection(first.begin(), first.end(), second.begin(), second.end(),
                                  std::back_inserter(both), precedes);
            std::set_symmetric_difference(first.begin(), first.end(), second.begin(), second.end(),
                                          std::back_inserter(rest), precedes);
            const vector<linear_map> a(ctx_, first), b(ctx_, second);
            expect_elements(set_intersection(a, b, is_ahead), both, "intersection");
            expect_elements(set_symmetric_difference(a, b, is_ahead), rest, "difference");
        }
    }
}

void program_state::count_with_other_weights() {
    const std::size_t bins = 1 + below(50);
    say(std::to_string(bins) + " bins with complex weights and lanes");
    std::vector<complex> weights(n_), sums(bins);
    std::vector<vec<std::int16_t, 2>> pairs(n_);
    std::vector<vec<std::int64_t, 2>> sums_of_pairs(bins);
    for (std::size_t k = 0; k < n_; ++k) {
        weights[k] = complex_sum::drawn(random_);
        pairs[k] = {static_cast<std::int16_t>(drawn_word(random_)), std::int16_t{30000}};
        const std::int32_t bin = keys_.on_host[k];
        if (bin < 0 || static_cast<std::size_t>(bin) >= bins) continue;
        sums[static_cast<std::size_t>(bin)] += weights[k];
        for (int lane = 0; lane < 2; ++lane)
            sums_of_pairs[static_cast<std::size_t>(bin)][lane] += pairs[k][lane];
    }
    const vector<complex> own(ctx_, weights);
    expect_elements(vector<complex>(bincount(keys_.on_device, bins, own)), sums, "sums");
    const vector<vec<std::int16_t, 2>> own_pairs(ctx_, pairs);
    expect_elements(vector<vec<std::int64_t, 2>>(bincount(keys_.on_device, bins, own_pairs)), sums_of_pairs,
                    "sums of pairs");
}

}  // namespace balm::test::random_algorithms
