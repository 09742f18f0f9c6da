// Kernels that compilers let run in small work-groups only, since they use many registers: on a null device,
// which compares each launch with its kernel's limit.

#include <gtest/gtest.h>

#include <string>

#include "balm/balm.hpp"
#include "null_driver/device.hpp"
#include "runtime/device/device_state.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

/// Runs the algorithms whose kernels share local memory, and returns what the device counted.
const null::counters& after_algorithms(const std::shared_ptr<null::device>& driver) {
    const device on(runtime::device_state::make(driver));
    const context ctx({on});
    static const auto larger =
        function("larger", [](dsl::Double a, dsl::Double b) { return dsl::Double(dsl::max(a, b)); });
    const std::size_t n = 100000;
    const vector<std::uint32_t> words(ctx, n);
    const vector<double> x(ctx, n), y(ctx, n);
    vector<double> z(ctx, n);
    z = inclusive_scan(x * y);
    z = inclusive_scan(fold_of(x, 0.0, larger));
    vector<std::uint32_t> sums(ctx, n);
    sums = exclusive_scan(words + 1u);
    sums = sorted(words);
    const vector<std::int64_t> counts = bincount(cast<int>(words % 100u), 100);
    vector<double> total(ctx, 1);
    sum_into(total, x * y);
    z = convolve(border::clamp, x, {0.25, 0.5, 0.25});
    z = vector<double>(sum(view(x, {100, 1000}), along(0)))[element_index() % 1000];
    vector<complex_value<double>> waves(ctx, 4096);
    waves = fft(waves);
    on.finish();
    return driver->counts();
}

}  // namespace

TEST(G1_group_limits, are_kept_by_every_kernel) {
    for (const runtime::dialect language : {runtime::dialect::opencl_c, runtime::dialect::cuda_cpp})
        for (const std::size_t most : {1024, 512, 256, 128, 64, 32}) {
            SCOPED_TRACE(std::to_string(most) + " work-items");
            const auto driver = null::make_null_device(language);
            driver->limit_groups(most);
            const null::counters& counts = after_algorithms(driver);
            EXPECT_GT(counts.launches, 10u);
            EXPECT_EQ(counts.too_large, 0u);
        }
}

}  // namespace balm::test
