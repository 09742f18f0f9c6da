// `balm devices`: says of every device all that device_info holds, to people and to programs, and starts
// nothing.

#include <sys/resource.h>

#include <sstream>

#include "runtime/platform.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
using C1_devices = tool_program;

/// What the JSON must have for each field of device_info that is a plain value.
json plain_fields(const device_info& d) {
    return {{"name", d.name},
            {"vendor", d.vendor},
            {"platform", d.platform},
            {"platform_version", d.platform_version},
            {"version", d.version},
            {"language_version", d.language_version},
            {"driver_version", d.driver_version},
            {"api", to_string(d.api)},
            {"type", to_string(d.type)},
            {"pci_address", d.pci_address},
            {"global_memory", d.global_memory},
            {"local_memory", d.local_memory},
            {"constant_memory", d.constant_memory},
            {"max_allocation", d.max_allocation},
            {"global_cache", d.global_cache},
            {"global_cache_line", d.global_cache_line},
            {"compute_units", d.compute_units},
            {"address_bits", d.address_bits},
            {"memory_alignment", d.memory_alignment},
            {"timer_resolution", d.timer_resolution},
            {"max_parameter_bytes", d.max_parameter_bytes},
            {"max_work_group_size", d.max_work_group_size},
            {"max_work_item_sizes", d.max_work_item_sizes},
            {"sub_group_size", d.sub_group_size},
            {"little_endian", d.little_endian},
            {"error_correction", d.error_correction},
            {"unified_memory", d.unified_memory},
            {"has_double", d.has_double},
            {"has_half", d.has_half},
            {"has_images", d.has_images},
            {"has_fma", d.has_fma},
            {"has_correctly_rounded_divide", d.has_correctly_rounded_divide},
            {"is_available", d.is_available}};
}

TEST_F(C1_devices, json_holds_every_field_of_every_device) {
    const json listed = run_json("devices --json");
    const auto& devices = runtime::platforms().devices;
    ASSERT_EQ(listed["devices"].size(), devices.size());
    for (std::size_t k = 0; k < devices.size(); ++k) {
        const json& got = listed["devices"][k];
        const device_info& info = devices[k]->info();
        const json expected = plain_fields(info);
        for (const auto& [key, value] : expected.items()) EXPECT_EQ(got.value(key, json()), value) << key;
        EXPECT_EQ(got["position"], k);
        EXPECT_EQ(got["compiler"], devices[k]->driver().compiler());
        EXPECT_TRUE(got["max_clock"].is_number_unsigned());  // may change between two queries
        EXPECT_EQ(got["max_group_counts"].size(), 3u);
        EXPECT_TRUE(got["uuid"].is_null() || got["uuid"].get<std::string>().size() == 36);
        std::istringstream extensions(info.extensions);
        EXPECT_EQ(got["extensions"],
                  json(std::vector<std::string>(std::istream_iterator<std::string>(extensions), {})));
        // Of device_info nothing is left out: its fields, and position, is_default, compiler.
        EXPECT_EQ(got.size(), expected.size() + 4 + 3);
    }
    EXPECT_EQ(listed["notes"], json(runtime::platforms().notes));
}

TEST_F(C1_devices, people_see_the_same_devices) {
    const outcome shown = run("devices");
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.err, "");
    for (const auto& each : runtime::platforms().devices) {
        EXPECT_NE(shown.out.find(each->info().name), std::string::npos);
        EXPECT_NE(shown.out.find(std::to_string(each->info().global_memory) + " bytes"), std::string::npos);
    }
    for (const std::string& note : runtime::platforms().notes)
        EXPECT_NE(shown.out.find("note: " + note), std::string::npos);
}

TEST_F(C1_devices, the_choice_of_a_default_context_is_marked) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const std::string name = runtime::platforms().devices.back()->info().name;
    const std::string environment =
        "BALM_TYPE= BALM_PLATFORM= BALM_BACKEND= BALM_POSITION= BALM_DEVICE='" + name + "'";
    const json listed = run_json("devices --json", environment);
    ASSERT_EQ(listed["default_context"]["positions"].size(), 1u);
    const auto chosen = listed["default_context"]["positions"][0].get<std::size_t>();
    EXPECT_EQ(listed["devices"][chosen]["name"], name);
    for (const json& each : listed["devices"]) EXPECT_EQ(each["is_default"], each["position"] == chosen);
    EXPECT_NE(run("devices", environment).out.find("a default context takes it"), std::string::npos);
}

TEST_F(C1_devices, an_environment_that_fits_none_is_no_reason_to_show_none) {
    const json listed = run_json("devices --json", "BALM_DEVICE='no such device'");
    EXPECT_EQ(listed["devices"].size(), runtime::platforms().devices.size());
    EXPECT_TRUE(listed["default_context"]["positions"].empty());
    if (present_devices().empty()) return;
    EXPECT_NE(listed["default_context"]["error"].get<std::string>().find("BALM_DEVICE"), std::string::npos);
}

TEST_F(C1_devices, are_listed_within_a_third_of_a_second) {
    const auto processor_seconds = [] {
        rusage used{};
        ::getrusage(RUSAGE_CHILDREN, &used);  // not the clock: tests run beside each other
        return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    };
    const double before = processor_seconds();
    EXPECT_EQ(run("devices").code, 0);
    EXPECT_LT(processor_seconds() - before, 0.3);
}

TEST_F(C1_devices, wrong_arguments_are_refused_in_one_line) {
    expect_refusal("", "subcommand is missing");
    expect_refusal("device", "expected: device");
    expect_refusal("devices --jason", "--jason");
    expect_refusal("devices all", "all");
}

TEST_F(C1_devices, the_version_is_told) {
    const outcome told = run("--version");
    EXPECT_EQ(told.code, 0);
    EXPECT_EQ(told.out.find("balm "), 0u);
    EXPECT_EQ(run("--help").code, 0);
}

}  // namespace
}  // namespace balm::test
