// `balm bandwidth`: every device and every pair has its lines, and the figures follow from bytes and times.

#include "bandwidth.hpp"

#include <map>
#include <thread>

#include "balm/error.hpp"
#include "runtime/device/platform.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
using G5_bandwidth = tool_program;

constexpr std::size_t mebibyte = 1 << 20;

/// What each array's worth of bytes is moved how many times over.
const std::map<std::string, std::size_t> host_lines{{"copy", 2}, {"triad", 3}};
const std::map<std::string, std::size_t> device_lines{{"host to device, pageable", 1},
                                                      {"device to host, pageable", 1},
                                                      {"host to device, pinned", 1},
                                                      {"device to host, pinned", 1},
                                                      {"scale by a kernel", 2},
                                                      {"triad by a kernel", 3},
                                                      {"fill", 1},
                                                      {"copy", 2}};
const char* const latencies[] = {"launch, waited for", "launch, one of many", "write of 4 bytes",
                                 "read of 4 bytes"};

void expect_rate(const json& line, std::size_t bytes) {
    EXPECT_EQ(line["bytes"], bytes) << line;
    const double seconds = line["seconds"], best = line["best_seconds"];
    EXPECT_LE(best, seconds) << line;
    EXPECT_NEAR(line["gigabytes_per_second"], static_cast<double>(bytes) * 1e-9 / seconds, 1e-6 / seconds);
    EXPECT_NEAR(line["best_gigabytes_per_second"], static_cast<double>(bytes) * 1e-9 / best, 1e-6 / best);
    EXPECT_GT(line["gigabytes_per_second"], 0.001) << line;
    EXPECT_LT(line["best_gigabytes_per_second"], 100'000.) << "no memory is as fast: " << line;
}

void expect_lines(const json& list, const std::map<std::string, std::size_t>& expected, std::size_t bytes) {
    for (const auto& [name, times] : expected) {
        const auto is_it = [&name = name](const json& line) { return line["name"] == name; };
        ASSERT_EQ(std::count_if(list.begin(), list.end(), is_it), 1) << name;
        expect_rate(*std::find_if(list.begin(), list.end(), is_it), times * bytes);
    }
}

TEST_F(G5_bandwidth, of_the_host_and_of_every_device_is_measured) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const json told = run_json("bandwidth --size 1 --json");
    EXPECT_EQ(told["host"]["threads"], std::max(1u, std::thread::hardware_concurrency()));
    EXPECT_EQ(told["host"]["array_bytes"], mebibyte);
    expect_lines(told["host"]["measurements"], host_lines, mebibyte);
    const auto& devices = runtime::platforms().devices;
    ASSERT_EQ(told["devices"].size(), devices.size());
    for (std::size_t k = 0; k < devices.size(); ++k) {
        const json& got = told["devices"][k];
        EXPECT_EQ(got["position"], k);
        EXPECT_EQ(got["name"], devices[k]->info().name);
        EXPECT_TRUE(got["fault"].is_null()) << got["fault"];
        expect_lines(got["measurements"], device_lines, mebibyte);
        EXPECT_EQ(got["measurements"].size(), device_lines.size() + std::size(latencies));
        EXPECT_EQ(got["measurements"].size(), tool::lines_of_device) << "for progress";
        for (const json& line : got["measurements"])
            if (std::count(std::begin(latencies), std::end(latencies), line["name"]) != 0) {
                EXPECT_EQ(line["bytes"], 0);
                EXPECT_GT(line["best_seconds"], 1e-8) << line;
                EXPECT_LT(line["best_seconds"], 1.) << line;
            }
    }
}

TEST_F(G5_bandwidth, between_devices_is_measured_both_ways) {
    const std::string two = "POCL_DEVICES='pthread basic'";
    const json devices = run_json("devices --json", two)["devices"];
    std::vector<std::pair<int, int>> expected;
    for (const json& from : devices)
        for (const json& to : devices)
            if (from["position"] != to["position"] && from["api"] == to["api"])
                expected.emplace_back(from["position"], to["position"]);
    if (expected.empty()) GTEST_SKIP() << "no two devices of one backend, and no PoCL to make some";
    const json told = run_json("bandwidth --size 1 --json", two);
    ASSERT_EQ(told["between_devices"].size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
        const json& line = told["between_devices"][k];
        EXPECT_EQ(line["from"], expected[k].first);
        EXPECT_EQ(line["to"], expected[k].second);
        EXPECT_TRUE(line["fault"].is_null()) << line;
        expect_rate(line, mebibyte);
        const bool is_cuda = devices[static_cast<std::size_t>(expected[k].first)]["api"] == "cuda";
        const std::string path = line["path"];
        EXPECT_EQ(path == "through the host", !is_cuda) << path;
    }
}

TEST_F(G5_bandwidth, people_see_the_same_lines) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const outcome shown = run("bandwidth --size 1");
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.err, "");
    EXPECT_NE(shown.out.find("host memory"), std::string::npos);
    for (const auto& [name, times] : device_lines)
        EXPECT_NE(shown.out.find("   " + name + " "), std::string::npos);
    for (const char* name : latencies) EXPECT_NE(shown.out.find(name), std::string::npos);
    for (const auto& each : runtime::platforms().devices)
        EXPECT_NE(shown.out.find(each->info().name), std::string::npos);
}

TEST_F(G5_bandwidth, of_named_devices_only_is_measured) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const std::string name = runtime::platforms().devices.back()->info().name;
    const json told = run_json("bandwidth --size 1 --json --device '" + name + "'");
    for (const json& each : told["devices"]) EXPECT_EQ(each["name"], name);
    EXPECT_FALSE(told["devices"].empty());
}

TEST_F(G5_bandwidth, wrong_arguments_are_refused_in_one_line) {
    for (const char* wrong : {"0", "-1", "65537", "1.5", "many", "99999999999999999999"})
        expect_refusal(std::string("bandwidth --size ") + wrong, "--size");
    expect_refusal("bandwidth all", "all");
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    expect_refusal("bandwidth --device 'no such device'", "no such device");
}

TEST_F(G5_bandwidth, of_a_host_without_room_is_an_error_with_words) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers end the process";
#endif
    EXPECT_NE(message_of<out_of_memory_error>([] {
                  tool::measure_host(std::size_t{1} << 55);
              }).find("enough memory for three arrays of 3.277e+04 TiB"),
              std::string::npos);
}

TEST_F(G5_bandwidth, a_measured_time_is_that_of_one_operation) {
    using namespace std::chrono_literals;
    const tool::duration slow =
        tool::measure([](std::size_t times) { std::this_thread::sleep_for(3ms * times); });
    EXPECT_GE(slow.best, 0.003);
    EXPECT_GE(slow.median, slow.best);
    EXPECT_LT(slow.best, 0.006);
    std::size_t most = 0;
    const tool::duration none = tool::measure([&](std::size_t times) { most = std::max(most, times); });
    EXPECT_LT(none.best, 1e-6) << "the clock's own time is shared out among " << most;
}

}  // namespace
}  // namespace balm::test
