#pragma once
// The ways in which scans, selections and reductions by key divide elements, and their kernels in the
// interpreter.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "algorithm/scan/look_back.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "balm/balm.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "support/devices.hpp"
#include "support/interpreter.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

using array::scan_strategy;

struct forced_scans {
    explicit forced_scans(array::forced_scan asked) : how(asked) { array::force_scans(&how); }
    forced_scans(const forced_scans&) = delete;
    forced_scans& operator=(const forced_scans&) = delete;
    ~forced_scans() { array::force_scans(nullptr); }
    const array::forced_scan how;
};

/// Runs the body with a strategy in place of the devices' own.
template <class Body>
void with_strategy(scan_strategy chosen, const char* words, Body&& body) {
    SCOPED_TRACE(words);
    const forced_scans held({chosen});
    body();
}
/// Runs the body on every context with each strategy that its devices run at full speed.
template <class Body>
void in_all_scan_strategies(Body&& body) {
    on_all_contexts([&](const context& ctx) {
        body(ctx);
        if (ctx.device(0).info().type == device_type::cpu) return;
        with_strategy(scan_strategy::chunk_a_group, "a chunk a group", [&] { body(ctx); });
        with_strategy(scan_strategy::tiles_look_back, "tiles look back", [&] { body(ctx); });
    });
}
/// The strategies of GPUs, emulated on a CPU by dozens of barriers: for a few launches.
template <class Body>
void in_strategies_of_gpus_on_cpu(Body&& body) {
    if (devices_are_together()) return;
    if (!has_cpu()) GTEST_SKIP() << "no CPU device";
    const context ctx{filter::cpu};
    with_strategy(scan_strategy::chunk_a_group, "a chunk a group", [&] { body(ctx); });
    with_strategy(scan_strategy::tiles_look_back, "tiles look back", [&] { body(ctx); });
    with_strategy(scan_strategy::one_group, "one group", [&] { body(ctx); });
}

/// Whether all sub-groups of a group reach each operation of sub-groups.
inline bool works_in_whole_groups(const ir::function& kernel) {
    try {
        ir::require_whole_groups(kernel);
        return true;
    } catch (const trace_error&) {
        return false;
    }
}

/// The kernel that looks back with sub-groups. A CPU emulates them, or refuses the kernel if only some
/// sub-groups may reach an operation. It is compiled for CUDA, where there is a compiler.
template <class Run>
ir::function kernel_with_sub_groups(const Run& run) {
    std::optional<ir::function> seen;
    kernels::observe_compilations([&](const ir::function& f, const ir::launch_facts&) { seen = f; });
    const forced_scans held({scan_strategy::tiles_look_back, true});
    bool is_refused = false;
    try {
        run();
    } catch (const trace_error&) {
        is_refused = true;
    }
    compile_kernels_with_nvrtc_again();
    if (!seen) throw std::logic_error("no kernel has been traced");
    EXPECT_EQ(is_refused, !works_in_whole_groups(*seen));
    also_compile_with_nvrtc(*seen);
    return *seen;
}

using named_arguments = std::map<std::string, interpreter_argument>;

/// Interprets such a kernel for n elements in tiles; the arguments are those besides n and announcements.
inline void interpret_tiles(const ir::function& kernel, std::size_t n, std::size_t tile,
                            const block::types& announced, int first_bits, named_arguments arguments) {
    const std::size_t tiles = (n + tile - 1) / tile;
    const array::announcements layout(tiles, announced, first_bits);
    std::vector<std::uint64_t> words(layout.words);
    arguments["n"] = value_of(static_cast<std::int64_t>(n));
    arguments["first_run"] = value_of(static_cast<std::int64_t>(layout.runs));
    arguments["first_block"] = value_of(static_cast<std::int64_t>(layout.blocks));
    arguments["words"] = memory_of(words);
    std::vector<interpreter_argument> bound;
    for (const ir::parameter& each : kernel.parameters) bound.push_back(arguments.at(each.name));
    interpret(kernel, {{static_cast<std::int64_t>(256 * tiles), 1, 1}, {256, 1, 1}}, bound);
}

// ---- an operation that does not commute

/// x -> scale x + shift modulo 2^32 in 64 bits; the first of two is applied first.
inline std::uint64_t composed_maps(std::uint64_t f, std::uint64_t g) {
    const auto scale = [](std::uint64_t h) { return static_cast<std::uint32_t>(h >> 32); };
    const auto shift = [](std::uint64_t h) { return static_cast<std::uint32_t>(h); };
    return std::uint64_t{scale(g) * scale(f)} << 32 |
           std::uint64_t{scale(g) * shift(f) + shift(g)} % (1ull << 32);
}
inline const auto& composition() {
    using namespace dsl;
    static const auto made = function("composed(f, g)", [](ULong f, ULong g) {
        const UInt f_scale = cast<unsigned>(f >> 32), f_shift = cast<unsigned>(f);
        const UInt g_scale = cast<unsigned>(g >> 32), g_shift = cast<unsigned>(g);
        return cast<std::uint64_t>(g_scale * f_scale) << 32 |
               cast<std::uint64_t>(g_scale * f_shift + g_shift);
    });
    return made;
}
inline constexpr std::uint64_t unchanged = std::uint64_t{1} << 32;

// ---- scans on the host

inline std::vector<int> random_ints(std::mt19937_64& random, std::size_t n) {
    std::vector<int> made(n);
    for (int& each : made) each = static_cast<int>(below(random, 2000)) - 1000;
    return made;
}
template <class R, class T, class F>
std::vector<R> inclusive(const std::vector<T>& x, F&& combine, R init) {
    std::vector<R> made(x.size());
    std::inclusive_scan(x.begin(), x.end(), made.begin(), combine, init);
    return made;
}
template <class R, class T, class F>
std::vector<R> exclusive(const std::vector<T>& x, F&& combine, R init) {
    std::vector<R> made(x.size());
    std::exclusive_scan(x.begin(), x.end(), made.begin(), init, combine);
    return made;
}
template <class R>
auto plus() {
    return [](R a, R b) { return static_cast<R>(a + b); };
}
/// As numbers: zeros of both signs are equal.
template <class T>
void expect_equal(const vector<T>& got, const std::vector<T>& wanted) {
    const host_array<T> host = got.to_host();
    ASSERT_EQ(host.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        if (std::memcmp(&host.begin()[k], &wanted[k], sizeof(T)) == 0 || host.begin()[k] == wanted[k])
            continue;
        ADD_FAILURE() << "element " << k << " of " << wanted.size() << " is " << +host.begin()[k] << ", not "
                      << +wanted[k];
        return;
    }
}

}  // namespace balm::test
