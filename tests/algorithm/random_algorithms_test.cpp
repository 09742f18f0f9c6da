// Random programs of scans, sorts, selections, reductions by key, histograms and searches against the
// standard library on the host. BALM_TEST_CASES says how many, BALM_TEST_SEED the first case's seed; case k
// has seed + k, so that the seed of a failure with BALM_TEST_CASES=1 repeats it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithm/histogram/histogram_strategy.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "algorithm/sort/sort_strategy.hpp"
#include "balm/balm.hpp"
#include "support/case_count.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace random_algorithms {

struct record {
    float a;
    std::int32_t number;
    double b;
};
BALM_STRUCT(record, a, number, b)

}  // namespace random_algorithms

namespace {

using namespace balm::dsl;
using random_algorithms::record;

// ---- what is drawn

using generator = std::mt19937_64;
std::size_t drawn(generator& random, std::size_t end) { return random() % end; }
bool is_drawn(generator& random) { return random() % 2 == 0; }

/// Sizes at the borders of work-items, groups, tiles and chunks.
std::size_t drawn_size(generator& random, bool is_small) {
    constexpr std::size_t small[] = {0, 1, 2, 31, 32, 33, 63, 255, 256, 257, 1000, 1023, 1025, 2048, 3999};
    constexpr std::size_t large[] = {4096,  4097,  16384,  16385,  65535,  65536,
                                     65537, 99999, 131072, 131073, 262145, 1000003};
    switch (drawn(random, is_small ? 3 : 6)) {
        case 0:
        case 1: return small[drawn(random, std::size(small))];
        case 2: return drawn(random, 5000);
        case 3:
        case 4: return large[drawn(random, std::size(large) - (drawn(random, 4) == 0 ? 0 : 1))];
        default: return drawn(random, 300000);
    }
}

/// Whole numbers whose sums are exact.
template <class T>
T small_number(generator& random) {
    const int value = static_cast<int>(drawn(random, 9));
    return static_cast<T>(std::is_signed_v<T> ? value - 4 : value);
}
template <class T>
std::vector<T> small_numbers(generator& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) each = small_number<T>(random);
    return made;
}
std::vector<std::int32_t> numbers_in_runs(generator& random, std::size_t n) {
    constexpr std::size_t lengths[] = {1, 2, 5, 100, 3000, 1000000};
    const std::size_t length = lengths[drawn(random, std::size(lengths))];
    std::vector<std::int32_t> made(n);
    std::int32_t own = 0;
    for (std::int32_t& each : made) {
        if (drawn(random, length) == 0) own = static_cast<std::int32_t>(drawn(random, 40)) - 8;
        each = own;
    }
    return made;
}
/// Values that orders are about, among any.
template <class T>
std::vector<T> corners(generator& random, std::size_t n) {
    using limits = std::numeric_limits<T>;
    std::vector<T> some{T(0), T(1), limits::max(), limits::lowest(), limits::min(), T(7)};
    if constexpr (std::is_floating_point_v<T>)
        some.insert(some.end(), {-T(0), T(-1), limits::infinity(), -limits::infinity(), limits::quiet_NaN(),
                                 limits::denorm_min(), -limits::denorm_min()});
    const bool has_many = is_drawn(random);
    std::vector<T> made(n);
    for (T& each : made) {
        each = some[drawn(random, some.size())];
        if (!has_many || is_drawn(random)) continue;
        if constexpr (std::is_floating_point_v<T>)
            each =
                std::ldexp(T(static_cast<std::int64_t>(random())), static_cast<int>(drawn(random, 40)) - 80);
        else
            each = static_cast<T>(random());
    }
    return made;
}

// ---- the standard library's part

template <class T>
bool is_nan(T x) {
    if constexpr (std::is_floating_point_v<T>)
        return std::isnan(x);
    else
        return false;
}
/// -0 < +0, NaNs last in either order.
template <class T>
bool is_ahead(T a, T b, sort_order order) {
    if (is_nan(a) || is_nan(b)) return !is_nan(a);
    if (order == descending) std::swap(a, b);
    if constexpr (std::is_floating_point_v<T>)
        if (a == b) return std::signbit(a) && !std::signbit(b);
    return a < b;
}
template <class T>
bool sorts_ahead(T a, T b, sort_order order) {
    return !(is_nan(a) && is_nan(b)) && is_ahead(a, b, order);
}
template <class Less>
std::vector<std::size_t> order_of(std::size_t n, Less&& is_less) {
    std::vector<std::size_t> made(n);
    std::iota(made.begin(), made.end(), std::size_t{0});
    std::stable_sort(made.begin(), made.end(), is_less);
    return made;
}
template <class T>
std::vector<T> permuted(const std::vector<T>& x, const std::vector<std::size_t>& order) {
    std::vector<T> made;
    made.reserve(order.size());
    for (const std::size_t k : order) made.push_back(x[k]);
    return made;
}
template <class T>
std::vector<T> sorted_on_host(std::vector<T> x, sort_order order) {
    std::stable_sort(x.begin(), x.end(), [order](T a, T b) { return sorts_ahead(a, b, order); });
    return x;
}
template <class R, class T, class F>
std::vector<R> scanned_on_host(const std::vector<T>& x, bool is_inclusive, R init, F&& combine,
                               const std::vector<std::int32_t>* keys = nullptr) {
    std::vector<R> made;
    made.reserve(x.size());
    R sum = init;
    for (std::size_t k = 0; k < x.size(); ++k) {
        if (keys != nullptr && k > 0 && (*keys)[k] != (*keys)[k - 1]) sum = init;
        if (!is_inclusive) made.push_back(sum);
        sum = combine(sum, static_cast<R>(x[k]));
        if (is_inclusive) made.push_back(sum);
    }
    return made;
}
std::vector<std::size_t> run_starts(const std::vector<std::int32_t>& keys) {
    std::vector<std::size_t> made;
    for (std::size_t k = 0; k < keys.size(); ++k)
        if (k == 0 || keys[k] != keys[k - 1]) made.push_back(k);
    return made;
}
/// The latest number but 0: associative, does not commute.
template <class T>
T latest(T a, T b) {
    return b != T(0) ? b : a;
}
template <class R, class T, class F>
std::vector<R> reduced_runs(const std::vector<T>& x, const std::vector<std::size_t>& starts, R init,
                            F&& combine) {
    std::vector<R> made;
    for (std::size_t k = 0; k < starts.size(); ++k) {
        const std::size_t end = k + 1 < starts.size() ? starts[k + 1] : x.size();
        R sum = init;
        for (std::size_t i = starts[k]; i < end; ++i) sum = combine(sum, static_cast<R>(x[i]));
        made.push_back(sum);
    }
    return made;
}

// ---- forced strategies

/// A way for all algorithms, while it lives.
class forced_ways {
public:
    explicit forced_ways(generator& random, bool on_cpu) {
        if (const std::size_t chosen = drawn(random, 8); chosen == 0) {
            is_of_groups = true;
            scans.strategy = is_drawn(random) ? array::scan_strategy::chunk_a_group
                                              : array::scan_strategy::tiles_look_back;
            sorts = array::forced_sort{.strategy = array::sort_strategy::chunk_a_group,
                                       .most_of_one = is_drawn(random) ? 0 : ~std::size_t{0}};
            array::force_scans(&scans);
            array::force_histograms_of_gpus(true);
            array::force_sorts(&sorts);
        } else if (chosen < 4 && on_cpu) {
            sorts = array::forced_sort{.strategy = array::sort_strategy::chunk_an_item,
                                       .most_of_one = 0,
                                       .chunk = 1 + drawn(random, 3000)};
            array::force_sorts(&sorts);
        }
    }
    forced_ways(const forced_ways&) = delete;
    forced_ways& operator=(const forced_ways&) = delete;
    ~forced_ways() {
        array::force_scans(nullptr);
        array::force_histograms_of_gpus(false);
        array::force_sorts(nullptr);
    }

    bool is_of_groups = false;  ///< which CPUs emulate slowly

private:
    array::forced_scan scans{array::scan_strategy::chunk_a_group};
    array::forced_sort sorts{};
};

// ---- programs

template <class T>
struct twin {
    twin(const context& ctx, std::vector<T> values) : on_device(ctx, values), on_host(std::move(values)) {}
    vector<T> on_device;
    std::vector<T> on_host;
};
/// An expression, and its elements.
template <class T>
struct operand {
    expr<T> values;
    std::vector<T> on_host;
};

template <class T>
class program {
public:
    using sum_type = decltype(sum(std::declval<vector<T>>()));

    program(const context& ctx, generator& random, bool is_small)
        : ctx_(ctx),
          first_(std::vector<device>{ctx.device(0)}),
          random_(random),
          n_(drawn_size(random, is_small)),
          x_(ctx, small_numbers<T>(random, n_)),
          y_(ctx, small_numbers<T>(random, n_)),
          base_(ctx, small_numbers<T>(random, n_ + margin)),
          special_(ctx, corners<T>(random, n_)),
          keys_(ctx, numbers_in_runs(random, n_)),
          wide_(ctx, small_numbers<std::int64_t>(random, n_)) {
        words_ = std::to_string(n_) + " elements of " + std::to_string(sizeof(T)) + " bytes";
    }

    void run() {
        for (std::size_t steps = 2 + drawn(random_, 3); steps > 0 && !testing::Test::HasFailure(); --steps) {
            step();
            same(x_, "x");
            same(y_, "y");
            same(base_, "base");
            same(special_, "special");
            same(keys_, "keys");
            same(wide_, "wide");
        }
    }
    const std::string& words() const { return words_; }

private:
    static constexpr std::size_t margin = 17;

    bool toss() { return is_drawn(random_); }
    std::size_t below(std::size_t end) { return drawn(random_, end); }
    sort_order order() {
        const sort_order made = toss() ? ascending : descending;
        if (made == descending) say(" descending");
        return made;
    }
    void say(const std::string& more) { words_ += more; }

    template <class V>
    void same(const vector<V>& got, const std::vector<V>& wanted, const char* name) {
        const host_array<V> host = got.to_host();
        if (host.size() != wanted.size()) {
            ADD_FAILURE() << name << " has " << host.size() << " elements, not " << wanted.size();
            return;
        }
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            const V own = host.begin()[k], other = wanted[k];
            if (std::memcmp(&own, &other, sizeof(V)) == 0) continue;
            if constexpr (std::is_arithmetic_v<V>) {
                if (is_nan(own) && is_nan(other)) continue;
                if (own == V(0) && other == V(0) && name != std::string("special")) continue;
                ADD_FAILURE() << name << "[" << k << "] is " << +own << ", not " << +other;
            } else {
                ADD_FAILURE() << name << "[" << k << "] is another one";
            }
            return;
        }
    }
    template <class V>
    void same(const twin<V>& each, const char* name) {
        same(each.on_device, each.on_host, name);
    }
    /// An expression alone, and as part of another one, which also is where other steps go on from.
    template <class R>
    void yields(const expr<R>& got, const std::vector<R>& wanted) {
        same(vector<R>(got), wanted, "result");
        if (toss() || wanted.size() != n_) return;
        say(", y = result % 7");
        y_.on_device = cast<T>(cast<std::int64_t>(got) % std::int64_t{7});
        for (std::size_t k = 0; k < n_; ++k)
            y_.on_host[k] = static_cast<T>(static_cast<std::int64_t>(wanted[k]) % 7);
    }

    // ---- operands

    /// Of small numbers.
    operand<T> values(int depth = 0) {
        switch (below(depth < 2 ? 10 : 4)) {
            case 0: say(" x"); return {expr<T>(x_.on_device), x_.on_host};
            case 1: say(" y"); return {expr<T>(y_.on_device), y_.on_host};
            case 2: {
                const std::size_t from = below(margin + 1);
                say(" base(" + std::to_string(from) + "…)");
                return {expr<T>(part_of_base(from)), host_part(from)};
            }
            case 3: {
                say(" reversed base");
                const auto first = static_cast<std::int64_t>(margin + n_) - 1;
                std::vector<T> made = host_part(margin);
                std::reverse(made.begin(), made.end());
                return {expr<T>(view(base_.on_device,
                                     {n_ + margin})(slice(first, static_cast<std::int64_t>(margin) - 1, -1))),
                        made};
            }
            case 4: {
                say(" scan of");
                operand<T> of = values(depth + 1);
                std::vector<T> made = scanned_on_host<T>(of.on_host, true, std::numeric_limits<T>::lowest(),
                                                         [](T a, T b) { return std::max(a, b); });
                return {expr<T>(inclusive_scan(max_of(std::move(of.values)))), std::move(made)};
            }
            case 5: {
                say(" sorted");
                const sort_order way = order();
                operand<T> of = values(depth + 1);
                // -0 equals +0 here: small numbers have one only.
                return {expr<T>(sorted(std::move(of.values), way)), sorted_on_host(of.on_host, way)};
            }
            case 6: {
                say(" argsort of keys in");
                const auto by = order_of(
                    n_, [this](std::size_t a, std::size_t b) { return keys_.on_host[a] < keys_.on_host[b]; });
                return {expr<T>(x_.on_device[argsort(keys_.on_device)]), permuted(x_.on_host, by)};
            }
            default: {
                say(" select(keys > 3,");
                operand<T> a = values(depth + 1), b = values(depth + 1);
                say(")");
                std::vector<T> made(n_);
                for (std::size_t k = 0; k < n_; ++k)
                    made[k] = keys_.on_host[k] > 3 ? a.on_host[k] : b.on_host[k];
                return {expr<T>(select(keys_.on_device > 3, std::move(a.values), std::move(b.values))),
                        std::move(made)};
            }
        }
    }
    auto part_of_base(std::size_t from) {
        return view(base_.on_device, {n_ + margin})(
            slice(static_cast<std::int64_t>(from), static_cast<std::int64_t>(from + n_)));
    }
    std::vector<T> host_part(std::size_t from) const {
        const auto begin = base_.on_host.begin() + static_cast<std::ptrdiff_t>(from);
        return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n_));
    }
    operand<std::int32_t> keys() {
        switch (below(3)) {
            case 0: {
                say(" keys / 2");
                std::vector<std::int32_t> made = keys_.on_host;
                for (std::int32_t& each : made) each /= 2;
                return {expr<std::int32_t>(keys_.on_device / 2), made};
            }
            case 1:
                say(" sorted(keys)");
                return {expr<std::int32_t>(sorted(keys_.on_device)),
                        sorted_on_host(keys_.on_host, ascending)};
            default: say(" keys"); return {expr<std::int32_t>(keys_.on_device), keys_.on_host};
        }
    }
    /// The condition value > `least`.
    T least() { return static_cast<T>(static_cast<int>(below(10)) - (std::is_signed_v<T> ? 5 : 0)); }

    // ---- steps

    void step() {
        say("\n  ");
        switch (below(16)) {
            case 0: return scan();
            case 1: return scan_by_key();
            case 2: return scan_in_place();
            case 3: return sort_special();
            case 4: return sort_with_values();
            case 5: return sort_several_keys();
            case 6: return sort_by_comparison();
            case 7: return sort_positions();
            case 8: return sort_rows();
            case 9: return select_some();
            case 10: return part();
            case 11: return unique_ones();
            case 12: return reduce_runs();
            case 13: return count_bins();
            case 14: return search();
            default: return move_some();
        }
    }

    static sum_type plus(sum_type a, sum_type b) { return static_cast<sum_type>(a + b); }

    void scan() {
        say("scan");
        operand<T> of = values();
        const bool is_inclusive = toss(), has_init = toss();
        say(is_inclusive ? " inclusive" : " exclusive");
        if (has_init) say(" from 3");
        const sum_type init = has_init ? sum_type(3) : sum_type(0);
        const std::vector<sum_type> wanted = scanned_on_host<sum_type>(of.on_host, is_inclusive, init, plus);
        if (has_init)
            yields<sum_type>(is_inclusive ? inclusive_scan(of.values, T(3)) : exclusive_scan(of.values, T(3)),
                             wanted);
        else
            yields<sum_type>(is_inclusive ? inclusive_scan(of.values) : exclusive_scan(of.values), wanted);
    }
    auto latest_of(const expr<T>& of) {
        static const auto function_of_two =
            function("latest", [](Var<T> a, Var<T> b) { return Var<T>(dsl::select(b != T(0), b, a)); });
        return fold_of(of, T(0), function_of_two);
    }
    void scan_by_key() {
        say("scan by key");
        operand<std::int32_t> by = keys();
        operand<T> of = values();
        const bool is_inclusive = toss();
        say(is_inclusive ? " inclusive" : " exclusive");
        if (toss()) {
            say(" latest");
            const std::vector<T> wanted =
                scanned_on_host<T>(of.on_host, is_inclusive, T(0), latest<T>, &by.on_host);
            yields<T>(is_inclusive ? inclusive_scan_by_key(by.values, latest_of(of.values))
                                   : exclusive_scan_by_key(by.values, latest_of(of.values)),
                      wanted);
        } else {
            const std::vector<sum_type> wanted =
                scanned_on_host<sum_type>(of.on_host, is_inclusive, sum_type(2), plus, &by.on_host);
            yields<sum_type>(is_inclusive ? inclusive_scan_by_key(by.values, of.values, T(2))
                                          : exclusive_scan_by_key(by.values, of.values, T(2)),
                             wanted);
        }
    }
    void scan_in_place() {
        const std::size_t from = below(margin + 1), to = below(margin + 1);
        const bool is_inclusive = toss();
        say("base(" + std::to_string(to) + "…) = scan of latest of base(" + std::to_string(from) + "…)");
        const std::vector<T> made = scanned_on_host<T>(host_part(from), is_inclusive, T(0), latest<T>);
        const expr<T> of(part_of_base(from));
        part_of_base(to) = is_inclusive ? inclusive_scan(latest_of(of)) : exclusive_scan(latest_of(of));
        std::copy(made.begin(), made.end(), base_.on_host.begin() + static_cast<std::ptrdiff_t>(to));
        if (toss()) return;
        say(", x = its scan");
        x_.on_host = scanned_on_host<T>(x_.on_host, is_inclusive, T(0), latest<T>);
        const expr<T> own(x_.on_device);
        x_.on_device = is_inclusive ? inclusive_scan(latest_of(own)) : exclusive_scan(latest_of(own));
    }

    void sort_special() {
        say("sort special");
        const sort_order way = order();
        const std::vector<T> wanted = sorted_on_host(special_.on_host, way);
        switch (below(3)) {
            case 0: sort(special_.on_device, way); break;
            case 1:
                say(" = sorted");
                special_.on_device = sorted(special_.on_device, way);
                break;
            default:
                say(" another");
                same(vector<T>(sorted(special_.on_device, way)), wanted, "special");
                return;
        }
        special_.on_host = wanted;
    }
    void sort_with_values() {
        say("sort by key");
        const sort_order way = order();
        const std::size_t chosen = below(4);
        const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
            return chosen == 3 ? sorts_ahead(keys_.on_host[a], keys_.on_host[b], way)
                               : sorts_ahead(special_.on_host[a], special_.on_host[b], way);
        });
        if (chosen == 0) {
            say(" special, x");
            sort_by_key(special_.on_device, x_.on_device, way);
            x_.on_host = permuted(x_.on_host, by);
            special_.on_host = permuted(special_.on_host, by);
        } else if (chosen == 1) {
            say(" special, x, wide, keys");
            sort_by_key(special_.on_device, x_.on_device, tie(wide_.on_device, keys_.on_device), way);
            x_.on_host = permuted(x_.on_host, by);
            wide_.on_host = permuted(wide_.on_host, by);
            keys_.on_host = permuted(keys_.on_host, by);
            special_.on_host = permuted(special_.on_host, by);
        } else if (chosen == 2) {
            say(" special, records");
            std::vector<record> records(n_);
            for (std::size_t k = 0; k < n_; ++k) {
                std::memset(static_cast<void*>(&records[k]), 0, sizeof(record));
                records[k].a = static_cast<float>(k % 9);
                records[k].number = static_cast<std::int32_t>(k);
                records[k].b = static_cast<double>(k) / 2;
            }
            vector<record> moved(ctx_, records);
            sort_by_key(special_.on_device, moved, way);
            special_.on_host = permuted(special_.on_host, by);
            same(moved, permuted(records, by), "records");
        } else {
            say(" keys + 0, special");
            sort_by_key(keys_.on_device + 0, special_.on_device, way);
            special_.on_host = permuted(special_.on_host, by);
        }
    }
    void sort_several_keys() {
        say("sort by keys, special; x");
        const sort_order way = order();
        const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
            if (keys_.on_host[a] != keys_.on_host[b])
                return sorts_ahead(keys_.on_host[a], keys_.on_host[b], way);
            return sorts_ahead(special_.on_host[a], special_.on_host[b], way);
        });
        sort_by_key(tie(keys_.on_device, special_.on_device), x_.on_device, way);
        keys_.on_host = permuted(keys_.on_host, by);
        special_.on_host = permuted(special_.on_host, by);
        x_.on_host = permuted(x_.on_host, by);
    }
    void sort_by_comparison() {
        say("sort keys by comparison");
        static const auto is_lower =
            function("is_lower", [](Int a, Int b) { return Bool((a >> 2) < (b >> 2)); });
        const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
            return (keys_.on_host[a] >> 2) < (keys_.on_host[b] >> 2);
        });
        switch (below(3)) {
            case 0: sort(keys_.on_device, is_lower); break;
            case 1:
                say(", y");
                sort_by_key(keys_.on_device, y_.on_device, is_lower);
                y_.on_host = permuted(y_.on_host, by);
                break;
            default:
                say(", y, wide");
                sort_by_key(keys_.on_device, y_.on_device, wide_.on_device, is_lower);
                y_.on_host = permuted(y_.on_host, by);
                wide_.on_host = permuted(wide_.on_host, by);
        }
        keys_.on_host = permuted(keys_.on_host, by);
    }
    void sort_positions() {
        say("argsort");
        const sort_order way = order();
        const operand<T> of = values();
        const auto by = order_of(
            n_, [&](std::size_t a, std::size_t b) { return sorts_ahead(of.on_host[a], of.on_host[b], way); });
        if (toss())
            same(vector<std::int64_t>(argsort<std::int64_t>(of.values, way)),
                 std::vector<std::int64_t>(by.begin(), by.end()), "positions");
        else
            same(vector<std::uint32_t>(argsort(of.values, way)),
                 std::vector<std::uint32_t>(by.begin(), by.end()), "positions");
    }
    void sort_rows() {
        constexpr std::size_t lengths[] = {1, 2, 3, 7, 64, 255, 1025, 5000, 70000};
        const std::size_t length = lengths[below(std::size(lengths))], rows = n_ / length;
        say("rows of " + std::to_string(length));
        if (rows == 0) return;
        const sort_order way = order();
        const auto count = static_cast<std::ptrdiff_t>(rows * length);
        std::vector<T> wanted(special_.on_host.begin(), special_.on_host.begin() + count);
        vector<T> own(ctx_, wanted);
        for (auto row = wanted.begin(); row != wanted.end(); row += static_cast<std::ptrdiff_t>(length))
            std::stable_sort(row, row + static_cast<std::ptrdiff_t>(length),
                             [way](T a, T b) { return sorts_ahead(a, b, way); });
        auto rows_of_own = view(own, {rows, length});
        if (toss())
            own = sorted(rows_of_own, along(1), way);
        else
            own = vector<T>(sorted(rows_of_own, along(1), way));
        same(own, wanted, "special");
    }

    // ---- compactions

    std::size_t room() {
        const std::size_t rooms[] = {n_, n_ + 3, n_ / 2, 1, 0};
        const std::size_t made = rooms[below(std::size(rooms))];
        say(" into " + std::to_string(made));
        return made;
    }
    template <class V>
    static constexpr V untouched = static_cast<V>(77);
    /// A target whose elements are known.
    template <class V>
    vector<V> target(std::size_t size) {
        return vector<V>(first_, std::vector<V>(size, untouched<V>));
    }
    template <class V>
    void begins(const vector<V>& got, const std::vector<V>& wanted, const char* name) {
        std::vector<V> all(got.size(), untouched<V>);
        std::copy_n(wanted.begin(), std::min(wanted.size(), all.size()), all.begin());
        same(got, all, name);
    }
    void is_count(const vector<std::int64_t>& count, std::size_t wanted) {
        same(count, {static_cast<std::int64_t>(wanted)}, "count");
    }

    void select_some() {
        say("copy_if");
        const operand<T> of = values();
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
    void part() {
        say("partition");
        const operand<T> of = values();
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
    void unique_ones() {
        say("unique");
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
    void reduce_runs() {
        say("reduce by key");
        const operand<std::int32_t> by = keys();
        const std::vector<std::size_t> starts = run_starts(by.on_host);
        const std::vector<std::int32_t> wanted = permuted(by.on_host, starts);
        const auto lengths = reduced_runs<std::int64_t>(std::vector<std::int64_t>(n_, 1), starts, 0,
                                                        std::plus<std::int64_t>());
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

    // ---- the others

    void count_bins() {
        constexpr std::size_t sizes[] = {1, 5, 16, 300, 20000};
        const std::size_t bins = sizes[below(std::size(sizes))];
        const operand<std::int32_t> by = keys();
        const operand<T> of = values();
        say(" in " + std::to_string(bins) + " bins");
        const auto is_there = [&](std::int64_t bin) {
            return bin >= 0 && static_cast<std::size_t>(bin) < bins;
        };
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
    void search() {
        const std::size_t size = drawn_size(random_, true);
        say("search among " + std::to_string(size) + " for");
        std::vector<T> list = small_numbers<T>(random_, size);
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
    void move_some() {
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
            yields<T>(gather_if(x_.on_device, on_device, on_device >= 0 && on_device < size, of.values),
                      wanted);
            return;
        }
        if (ctx_.size() > 1) return;
        say(" scatter_if to x");
        const vector<T> moved(of.values);
        scatter_if(x_.on_device, on_device, moved, on_device >= 0 && on_device < size);
        for (std::size_t k = 0; k < n_; ++k)
            if (is_there(positions[k])) x_.on_host[static_cast<std::size_t>(positions[k])] = of.on_host[k];
    }

    const context& ctx_;
    const context first_;
    generator& random_;
    const std::size_t n_;
    twin<T> x_, y_, base_, special_;
    twin<std::int32_t> keys_;
    twin<std::int64_t> wide_;
    std::string words_;
};

template <class T>
void run_one(const context& ctx, std::uint64_t own_seed) {
    generator random(own_seed);
    const bool on_cpu = ctx.device(0).info().type == device_type::cpu;
    const forced_ways held(random, on_cpu);
    const bool shows = std::getenv("BALM_TEST_SHOW") != nullptr;
    std::optional<program<T>> drawn_one;
    try {
        drawn_one.emplace(ctx, random, held.is_of_groups && on_cpu);
        drawn_one->run();
    } catch (const std::exception& fault) {
        ADD_FAILURE() << fault.what();
    }
    if (shows && drawn_one) std::cout << own_seed << ": " << drawn_one->words() << "\n";
    if (testing::Test::HasFailure() && drawn_one)
        ADD_FAILURE() << "BALM_TEST_SEED=" << own_seed
                      << " BALM_TEST_CASES=1: " << (held.is_of_groups ? "as on GPUs, " : "")
                      << drawn_one->words();
}

TEST(V15_random_algorithms, compute_what_the_standard_library_does) {
    const std::size_t cases = case_count(2);  // half a second to compile each kernel
    on_all_contexts([&](const context& ctx) {
        for (std::size_t k = 0; k < cases && !HasFailure(); ++k) {
            const std::uint64_t own_seed = seed() + k;
            switch (own_seed % 5) {
                case 0: run_one<float>(ctx, own_seed); break;
                case 1: run_one<std::int32_t>(ctx, own_seed); break;
                case 2: run_one<std::uint8_t>(ctx, own_seed); break;
                case 3: run_one<double>(ctx, own_seed); break;
                default: run_one<std::int64_t>(ctx, own_seed);
            }
        }
    });
}

TEST(V15_random_algorithms, over_several_devices) {
    run_on_three_devices("test_algorithm", "V15_random_algorithms.compute*");
}

}  // namespace

}  // namespace balm::test
