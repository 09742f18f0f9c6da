// Faults that end a process, or come from many at once: what is left standing.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "kernel/run.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

const auto read_at = balm::kernel<1>("read_at(from, in, out)", [](Long from, In<float> in, Out<float> out) {
    Index i = global_id(0);
    out[i] = in[i + from];
});

constexpr std::size_t n = 64;
constexpr std::int64_t far_outside = std::int64_t{1} << 40;

std::vector<float> counted_floats() {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 1.f);
    return values;
}

/// Ends the process: by a signal where kernels run in it, else with what the driver's error leaves.
void read_outside(const device& on) {
    auto memory = on.in_buffer<float>(n);
    auto out = on.out_buffer<float>(n);
    memory.write(counted_floats());
    std::fprintf(stderr, "reading outside\n");
    try {
        on.execute(read_at(far_outside, memory, out), {n});
        out.read();
    } catch (const device_error& fault) {
        std::fprintf(stderr, "%s\n", fault.what());
        std::exit(1);
    }
    std::exit(0);
}

}  // namespace

TEST(C4_errors, of_a_kernel_that_reads_outside_its_memory_stay_in_its_process) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";  // a fresh process, not a fork of this one
    on_all_devices([](const device& on) {
        auto memory = on.in_buffer<float>(n);
        auto out = on.out_buffer<float>(n);
        memory.write(counted_floats());
        const event before = on.execute(read_at(0, memory, out), {n});
        EXPECT_EXIT(
            read_outside(on), [](int status) { return status != 0; }, HasSubstr("reading outside"));
        EXPECT_NO_THROW(before.wait());
        EXPECT_EQ(out.read(), counted_floats());
        on.execute(read_at(1, memory, out), {n - 1});
        EXPECT_EQ(out.read()[n - 2], static_cast<float>(n));
    });
}

// ---- many cold starts ----

namespace {

constexpr int processes = 32;

pid_t start_process(const std::string& cache) {
    const pid_t process = ::fork();
    if (process != 0) return process;
    for (const char* part : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"})
        ::unsetenv(part);  // its test is not ours
    ::setenv("BALM_CACHE", "1", 1);
    ::setenv("BALM_CACHE_DIR", (cache + "/balm").c_str(), 1);
    ::setenv("POCL_CACHE_DIR", (cache + "/pocl").c_str(), 1);
    ::execl("/proc/self/exe", "test_kernel", "--gtest_also_run_disabled_tests", "--gtest_brief=1",
            "--gtest_filter=B5_other_process.DISABLED_computes", nullptr);
    ::_exit(99);
}

}  // namespace

/// Run by processes that another test starts.
TEST(B5_other_process, DISABLED_computes) {
    const context where;
    const std::vector<float> values = counted_floats();
    const vector<float> x(where, values);
    const host_array<float> got = vector<float>(2 * x + sqrt(x)).to_host();
    expect_each(got, [&](std::size_t i) { return 2 * values[i] + std::sqrt(values[i]); });
    auto memory = where.device(0).in_buffer<float>(n);
    memory.write(values);
    const host_array<float> shifted = run<float>(where.device(0), read_at, n, std::int64_t{0}, memory);
    expect_each(shifted, [&](std::size_t i) { return values[i]; });
}

TEST(B5_programs, of_thirty_two_processes_on_one_cold_cache_are_right) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const scratch_directory cache;
    std::vector<pid_t> started;
    for (int k = 0; k < processes; ++k) started.push_back(start_process(cache.path().string()));
    for (const pid_t process : started) {
        int status = -1;
        ASSERT_EQ(::waitpid(process, &status, 0), process);
        EXPECT_EQ(status, 0);
    }
    std::size_t entries = 0;
    for (const auto& file : std::filesystem::directory_iterator(cache / "balm"))
        entries += file.path().extension() == ".bin" ? 1 : 0;
    EXPECT_EQ(entries, 2u) << "one for each kernel";
}

}  // namespace balm::test
