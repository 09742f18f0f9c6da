#pragma once
// What tests of selections and of reductions by key share.

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "algorithm/compact/compact_strategy.hpp"
#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

struct forced_compactions {
    explicit forced_compactions(array::forced_scan asked) : how(asked) { array::force_compactions(&how); }
    forced_compactions(const forced_compactions&) = delete;
    forced_compactions& operator=(const forced_compactions&) = delete;
    ~forced_compactions() { array::force_compactions(nullptr); }
    const array::forced_scan how;
};

/// Runs the body with a strategy in place of the devices' own.
template <class Body>
void with_compaction(array::scan_strategy chosen, const char* words, Body&& body) {
    SCOPED_TRACE(words);
    const forced_compactions held({chosen});
    body();
}
/// Runs the body on every context with each strategy that its devices run at full speed.
template <class Body>
void in_all_compactions(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        if (ctx.device(0).info().type == device_type::cpu) return;
        with_compaction(array::scan_strategy::chunk_a_group, "a chunk a group", [&] { body(ctx); });
    });
}
/// The strategies of GPUs, emulated on a CPU by dozens of barriers: for a few launches.
template <class Body>
void in_compactions_of_gpus_on_cpu(Body&& body) {
    if (devices_are_together()) return;
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    with_compaction(array::scan_strategy::chunk_a_group, "a chunk a group", [&] { body(ctx); });
    with_compaction(array::scan_strategy::tiles_look_back, "tiles look back", [&] { body(ctx); });
}

inline std::size_t below(std::mt19937_64& random, std::size_t end) { return random() % end; }

/// Numbers of 0 to `distinct` - 1 in runs of about `length`.
template <class T>
std::vector<T> numbers_in_runs(std::mt19937_64& random, std::size_t n, std::size_t length,
                               std::size_t distinct) {
    std::vector<T> made(n);
    T own = static_cast<T>(below(random, distinct));
    for (T& each : made) {
        if (below(random, length) == 0) own = static_cast<T>(below(random, distinct));
        each = own;
    }
    return made;
}

template <class T>
void expect_same(const vector<T>& got, const std::vector<T>& wanted) {
    const host_array<T> host = got.to_host();
    ASSERT_EQ(host.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (std::memcmp(&host.begin()[k], &wanted[k], sizeof(T)) == 0) continue;
        ADD_FAILURE() << "element " << k << " of " << wanted.size() << " is " << +host.begin()[k] << ", not "
                      << +wanted[k];
        return;
    }
}
/// The first elements of a target, and that those behind have kept a value.
template <class T>
void expect_begins(const vector<T>& got, const std::vector<T>& wanted, T behind) {
    std::vector<T> all(got.size(), behind);
    std::copy_n(wanted.begin(), std::min(wanted.size(), all.size()), all.begin());
    expect_same(got, all);
}

}  // namespace balm::test
