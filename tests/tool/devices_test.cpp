// `balm devices`: says of every device all that device_info holds, to people and to programs, and starts
// nothing.

#include <sys/resource.h>

#include <limits>
#include <sstream>

#include "runtime/device/platform.hpp"
#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
using C1_devices = tool_program;

json fields_of(const float_support& f) {
    return {{"denormals", f.denormals},
            {"infinities_and_nans", f.infinities_and_nans},
            {"rounds_to_nearest", f.rounds_to_nearest},
            {"rounds_to_zero", f.rounds_to_zero},
            {"rounds_to_infinity", f.rounds_to_infinity},
            {"fma", f.fma},
            {"correctly_rounded_divide", f.correctly_rounded_divide},
            {"in_software", f.in_software}};
}

json fields_of(const vector_widths& w) {
    return {{"int8", w.int8},       {"int16", w.int16},     {"int32", w.int32},    {"int64", w.int64},
            {"float16", w.float16}, {"float32", w.float32}, {"float64", w.float64}};
}

json fields_of(const image_limits& i) {
    return {{"size_2d", i.size_2d},       {"size_3d", i.size_3d},         {"buffer_size", i.buffer_size},
            {"array_size", i.array_size}, {"read_images", i.read_images}, {"write_images", i.write_images},
            {"samplers", i.samplers},     {"size_1d", i.size_1d}};
}

json fields_of(const partition_support& p) {
    return {{"max_sub_devices", p.max_sub_devices},
            {"equally", p.equally},
            {"by_counts", p.by_counts},
            {"by_numa", p.by_numa},
            {"by_l4_cache", p.by_l4_cache},
            {"by_l3_cache", p.by_l3_cache},
            {"by_l2_cache", p.by_l2_cache},
            {"by_l1_cache", p.by_l1_cache}};
}

json fields_of(const shared_virtual_memory_support& s) {
    return {{"allocations", s.allocations},
            {"at_once", s.at_once},
            {"all_memory", s.all_memory},
            {"atomics", s.atomics}};
}

/// Text cut at one character; no empty parts.
std::vector<std::string> parts(const std::string& text, char between) {
    std::istringstream stream(text);
    std::vector<std::string> found;
    for (std::string part; std::getline(stream, part, between);)
        if (!part.empty()) found.push_back(part);
    return found;
}

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
            {"is_available", d.is_available},
            {"profile", d.profile},
            {"vendor_id", d.vendor_id},
            {"built_in_kernels", parts(d.built_in_kernels, ';')},
            {"extensions", parts(d.extensions, ' ')},
            {"has_own_local_memory", d.has_own_local_memory},
            {"max_constant_arguments", d.max_constant_arguments},
            {"max_parameter_bytes", d.max_parameter_bytes},
            {"global_cache_type", to_string(d.global_cache_type)},
            {"type_alignment", d.type_alignment},
            {"printf_buffer", d.printf_buffer},
            {"shared_virtual_memory", fields_of(d.shared_virtual_memory)},
            {"max_dimensions", d.max_dimensions},
            {"preferred_vectors", fields_of(d.preferred_vectors)},
            {"native_vectors", fields_of(d.native_vectors)},
            {"half_arithmetic", fields_of(d.half_arithmetic)},
            {"single_arithmetic", fields_of(d.single_arithmetic)},
            {"double_arithmetic", fields_of(d.double_arithmetic)},
            {"images", fields_of(d.images)},
            {"has_compiler", d.has_compiler},
            {"has_linker", d.has_linker},
            {"runs_native_kernels", d.runs_native_kernels},
            {"has_out_of_order_queues", d.has_out_of_order_queues},
            {"has_profiling", d.has_profiling},
            {"partition", fields_of(d.partition)}};
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
        const bool is_limited = info.max_groups != std::numeric_limits<std::size_t>::max();
        EXPECT_EQ(got["max_groups"], is_limited ? json(info.max_groups) : json());
        EXPECT_TRUE(got["uuid"].is_null() || got["uuid"].get<std::string>().size() == 36);
        // Of device_info nothing is left out: its fields, and position, is_default, compiler.
        EXPECT_EQ(got.size(), expected.size() + 4 + 3);
    }
    EXPECT_EQ(listed["notes"], json(runtime::platforms().notes));
}

TEST_F(C1_devices, json_holds_the_platforms_with_their_devices) {
    const json listed = run_json("devices --json");
    const auto& platforms = runtime::platforms().platforms;
    ASSERT_EQ(listed["platforms"].size(), platforms.size());
    for (std::size_t k = 0; k < platforms.size(); ++k) {
        const json& got = listed["platforms"][k];
        EXPECT_EQ(got["name"], platforms[k].name);
        EXPECT_EQ(got["vendor"], platforms[k].vendor);
        EXPECT_EQ(got["version"], platforms[k].version);
        EXPECT_EQ(got["extensions"], json(parts(platforms[k].extensions, ' ')));
        ASSERT_EQ(got["devices"].size(), platforms[k].devices.size());
        for (const json& position : got["devices"])
            EXPECT_EQ(listed["devices"][position.get<std::size_t>()]["platform"], platforms[k].name);
        for (const json& position : got["gpus"])
            EXPECT_EQ(listed["devices"][position.get<std::size_t>()]["type"], "gpu");
        for (const json& position : got["cpus"])
            EXPECT_EQ(listed["devices"][position.get<std::size_t>()]["type"], "cpu");
        EXPECT_EQ(got["gpus"].size(), platforms[k].gpus().size());
        EXPECT_EQ(got["cpus"].size(), platforms[k].cpus().size());
    }
}

TEST_F(C1_devices, people_see_the_same_devices) {
    const outcome shown = run("devices --verbose");
    EXPECT_EQ(run("devices -v").out, shown.out);
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.err, "");
    for (const auto& each : runtime::platforms().devices) {
        EXPECT_NE(shown.out.find(each->info().name), std::string::npos);
        EXPECT_NE(shown.out.find(std::to_string(each->info().global_memory) + " bytes"), std::string::npos);
    }
    for (const std::string& note : runtime::platforms().notes)
        EXPECT_NE(shown.out.find(": " + note), std::string::npos) << note;
}

TEST_F(C1_devices, are_a_line_each_in_aligned_columns) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const outcome shown = run("devices");
    EXPECT_EQ(shown.code, 0);
    EXPECT_EQ(shown.err, "");
    std::istringstream lines(shown.out);
    std::string headings, line;
    std::getline(lines, headings);
    const auto& devices = runtime::platforms().devices;
    for (std::size_t k = 0; k < devices.size(); ++k) {
        std::getline(lines, line);
        const device_info& info = devices[k]->info();
        EXPECT_EQ(line.find_first_not_of(" 0123456789*"), headings.find("name")) << line;
        EXPECT_EQ(line.compare(headings.find("name"), info.name.size(), info.name), 0) << line;
        const std::string backend = to_string(info.api), type = to_string(info.type);
        EXPECT_EQ(line.compare(headings.find("backend"), backend.size(), backend), 0) << line;
        EXPECT_EQ(line.compare(headings.find("type"), type.size(), type), 0) << line;
        EXPECT_EQ(line.size(), headings.size()) << "units end where their heading ends";
        EXPECT_TRUE(line.ends_with(" " + std::to_string(info.compute_units))) << line;
    }
}

TEST_F(C1_devices, can_be_chosen_by_name) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    const std::string name = runtime::platforms().devices.back()->info().name;
    const json listed = run_json("devices --json --device '" + name + "'");
    EXPECT_FALSE(listed["devices"].empty());
    for (const json& each : listed["devices"]) {
        EXPECT_EQ(each["name"], name);
        EXPECT_EQ(runtime::platforms().devices[each["position"]]->info().name, name);
    }
    EXPECT_NE(run("devices --device '" + name + "'").out.find(name), std::string::npos);
    expect_refusal("devices --device 'no such device'", "no such device");
}

TEST_F(C1_devices, cuda_that_is_normally_absent_is_no_fault) {
    const auto& notes = runtime::platforms().notes;
    const bool is_absent = std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
        return note.find("libcuda.so.1 cannot be opened") != std::string::npos;
    });
    if (!is_absent || std::filesystem::exists("/dev/nvidiactl"))
        GTEST_SKIP() << "CUDA is, or should be, there";
    const std::string shown = run("devices").out, all = run("devices -v").out;
    for (const std::string& text : {shown, all}) {
        EXPECT_NE(text.find("this machine has no NVIDIA GPU"), std::string::npos) << text;
        EXPECT_EQ(text.find("note: CUDA"), std::string::npos) << text;
    }
    EXPECT_EQ(shown.find("libcuda"), std::string::npos) << shown;
    EXPECT_NE(all.find("libcuda"), std::string::npos) << all;
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
    EXPECT_NE(run("devices", environment).out.find(std::to_string(chosen) + "*  " + name), std::string::npos);
    EXPECT_NE(run("devices -v", environment).out.find("used by a default context"), std::string::npos);
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
    expect_refusal("device", "unknown command 'device'; did you mean 'devices'? (see balm --help)");
    expect_refusal("devices --jason",
                   "unknown option '--jason'; did you mean '--json'? (see balm devices --help)");
    expect_refusal("devices all", "unknown argument 'all' (see balm devices --help)");
}

TEST_F(C1_devices, the_version_is_told) {
    const outcome told = run("--version");
    EXPECT_EQ(told.code, 0);
    EXPECT_EQ(told.out.find("balm "), 0u);
    EXPECT_EQ(run("--help").code, 0);
}

TEST_F(C1_devices, without_a_command_the_help_is_printed) {
    const outcome told = run("");
    EXPECT_EQ(told.code, 0);
    EXPECT_EQ(told.err, "");
    EXPECT_EQ(told.out, run("--help").out);
    for (const char* each : {"devices", "selftest", "bandwidth", "cache", "doctor"})
        EXPECT_NE(told.out.find(each), std::string::npos) << each;
}

}  // namespace
}  // namespace balm::test
