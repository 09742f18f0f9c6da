// Device code in the C++ source, as a lambda and as text, and in a separate file: one computation, the same
// numbers.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernel/run.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

const std::string squared_text = R"(
int squared(int x) { return x * x; }
kernel void sums(int by, global const int* in, global int* out) {
    size_t i = get_global_id(0);
    out[i] = squared(in[i]) + by;
})";

using sums_signature = void(int, In<int>, Out<int>);

}  // namespace

TEST(G9_sources, a_lambda_text_and_a_file_compute_the_same) {
    const scratch_directory folder;
    const std::string path = folder / "sums.cl";
    std::ofstream(path) << squared_text;
    const auto traced = balm::kernel<1>("sums(by, in, out)", [](Int by, In<int> from, Out<int> out) {
        const Index i = global_id(0);
        const Int x = from[i];
        out[i] = x * x + by;
    });
    const auto text = source_kernel<1, sums_signature>("sums", squared_text);
    const auto separate = source_kernel<1, sums_signature>("sums", text_source::from_files({path}));
    auto random = seeded_random();
    on_all_devices([&](const device& on) {
        host_array<int> x(shape(1 + random() % 200));
        for (int& each : x) each = static_cast<int>(random() % 2001) - 1000;
        const int by = static_cast<int>(random() % 100);
        const auto memory = in(on, x);
        const auto wanted = [&](std::size_t i) { return x[i] * x[i] + by; };
        expect_each(run<int>(on, traced, x.size(), by, memory), wanted);
        expect_each(run<int>(on, text, x.size(), by, memory), wanted);
        expect_each(run<int>(on, separate, x.size(), by, memory), wanted);
    });
}

TEST(G9_sources, a_file_may_hold_functions_for_traced_kernels_and_expressions) {
    const scratch_directory folder;
    const std::string path = folder / "scaled.cl";
    std::ofstream(path) << "int scaled(int x, int by) { return x * by; }\n";
    const auto scaled = source_function<int(int, int)>("scaled", text_source::from_files({path}));
    const auto kernel = balm::kernel<1>("next(in, out)", [&](In<int> from, Out<int> out) {
        const Index i = global_id(0);
        out[i] = scaled(from[i], 3) + 1;
    });
    on_all_devices([&](const device& on) {
        const host_array<int> x({1, -2, 30});
        expect_each(run<int>(on, kernel, x.size(), in(on, x)), [&](std::size_t i) { return 3 * x[i] + 1; });
        const vector<int> v(context({on}), {1, -2, 30});
        const vector<int> y = scaled(v, 7) - v;
        expect_each(y.to_host(), [&](std::size_t i) { return 6 * x[i]; });
    });
}

TEST(G9_sources, a_file_that_is_missing_is_named) {
    const scratch_directory folder;
    EXPECT_THAT(usage_message_of([&] {
                    (void)source_kernel<1, sums_signature>(
                        "sums", text_source::from_files({std::string(folder / "none.cl")}));
                }),
                testing::HasSubstr("none.cl"));
}

}  // namespace balm::test
