// Drivers that are there, half there or broken: what `balm` finds of them, that it says why it finds nothing,
// and that it starts nothing on a device that it only looks at. CUDA is played by tests/fake_drivers/cuda.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <link.h>

#include <array>

#include "tool/program.hpp"

namespace balm::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

class B1_drivers : public tool_program {
protected:
    /// OpenCL without other drivers than PoCL: NVIDIA's would meet the fake CUDA. None of the user's wishes.
    std::string pocl_only() const {
        const fs::path folder = cache() / "pocl only", pocl = "/etc/OpenCL/vendors/pocl.icd";
        fs::create_directories(folder);
        if (fs::exists(pocl)) fs::copy(pocl, folder, fs::copy_options::overwrite_existing);
        return "BALM_TYPE= BALM_PLATFORM= BALM_BACKEND= BALM_POSITION= BALM_DEVICE= BALM_MAX_DEVICES= " +
               opencl_drivers_in(folder);
    }
    /// Also without those that OCL_ICD_FILENAMES adds to the folder's.
    static std::string opencl_drivers_in(const fs::path& folder) {
        return "OCL_ICD_FILENAMES= OCL_ICD_VENDORS='" + folder.string() + "/'";
    }
    static std::string library_path(const fs::path& first) {
        return " LD_LIBRARY_PATH='" + first.string() + "':\"$LD_LIBRARY_PATH\" ";
    }
    static std::string fake_cuda(const std::string& mode) {
        return library_path(BALM_TEST_FAKE_CUDA_DIR) + "BALM_FAKE_CUDA=" + mode;
    }
    std::string fake(const std::string& mode) const { return pocl_only() + fake_cuda(mode); }
    std::size_t opencl_devices() const {
        const json told = run_json("devices --json", pocl_only());
        std::size_t count = 0;
        for (const json& each : told["devices"]) count += each["api"] == "opencl" ? 1 : 0;
        return count;
    }
    static json of_cuda(const json& devices) {
        json found = json::array();
        for (const json& each : devices)
            if (each["api"] == "cuda") found.push_back(each);
        return found;
    }
    static std::string notes_of(const json& told) {
        std::string all;
        for (const json& each : told["notes"]) all += each.get<std::string>() + '\n';
        return all;
    }
};

/// The same through whatever else is on the machine.
using C2_drivers = B1_drivers;
using C1_drivers = B1_drivers;

TEST_F(B1_drivers, cuda_without_a_device_is_a_note_and_opencl_goes_on) {
    const std::pair<const char*, const char*> modes[] = {
        {"no_device", "cuInit of libcuda.so.1 failed with CUDA_ERROR_NO_DEVICE"},
        {"empty", "no devices"},
        {"broken", "cuDeviceGetCount failed with CUDA_ERROR_UNKNOWN"}};
    for (const auto& [mode, expected] : modes) {
        const json told = run_json("devices --json", fake(mode));
        EXPECT_EQ(told["devices"].size(), opencl_devices()) << mode;
        EXPECT_NE(notes_of(told).find(expected), std::string::npos) << mode << '\n' << notes_of(told);
    }
}

TEST_F(B1_drivers, a_device_that_cannot_be_had_hides_no_other) {
    const json told = run_json("devices --json", fake("half"));
    const json found = of_cuda(told["devices"]);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0]["name"], "Fake discrete GPU");
    EXPECT_NE(notes_of(told).find("cuDeviceGet failed with CUDA_ERROR_UNKNOWN"), std::string::npos);
}

TEST_F(B1_drivers, a_library_that_is_no_driver_is_a_note_and_the_program_starts) {
    void* const other = ::dlopen("libm.so.6", RTLD_NOW);
    ASSERT_NE(other, nullptr);
    char origin[4096] = {};
    ASSERT_EQ(::dlinfo(other, RTLD_DI_ORIGIN, origin), 0);
    const std::array<const char*, 3> libraries[] = {{"CUDA", "libcuda.so", "cuInit"},
                                                    {"OpenCL", "libOpenCL.so", "clBuildProgram"}};
    for (const auto& [api, library, first] : libraries) {
        const fs::path folder = cache() / api, name = std::string(library) + ".1";
        fs::create_directories(folder);
        const auto note = [&] {
            return notes_of(run_json("devices --json", pocl_only() + library_path(folder)));
        };
        // Both names that Balm tries: a real one may be installed under the second.
        for (const fs::path& each : {name, fs::path(library)})
            std::ofstream(folder / each) << "not a library";
        EXPECT_THAT(note(), HasSubstr(std::string(api) + ": " + name.string() + " cannot be opened"));
        fs::remove(folder / name);
        fs::create_symlink(fs::path(origin) / "libm.so.6", folder / name);
        EXPECT_THAT(note(), HasSubstr(std::string("it lacks ") + first));
    }
    ::dlclose(other);
}

TEST_F(B1_drivers, an_opencl_driver_that_does_not_load_hides_no_other) {
    const fs::path folder = cache() / "vendors";
    fs::create_directories(folder);
    std::ofstream(folder / "missing.icd") << "libbalm_no_such_driver.so\n";
    std::ofstream(folder / "garbage.icd") << "\x7f\x01 no text at all";
    std::ofstream(folder / "no_driver.icd") << "libm.so.6\n";
    const std::string environment = opencl_drivers_in(folder);
    const json none = run_json("devices --json", environment);
    for (const json& each : none["devices"]) EXPECT_NE(each["api"], "opencl");
    EXPECT_NE(notes_of(none).find("OpenCL: the loader found no driver"), std::string::npos) << notes_of(none);
    const fs::path pocl = "/etc/OpenCL/vendors/pocl.icd";
    if (!fs::exists(pocl)) GTEST_SKIP() << "no PoCL to stand beside them";
    fs::copy(pocl, folder / "pocl.icd");
    const json with_pocl = run_json("devices --json", environment);
    std::size_t found = 0;
    for (const json& each : with_pocl["devices"])
        found += each["platform"] == "Portable Computing Language" ? 1 : 0;
    EXPECT_EQ(found, 1u);
}

TEST_F(B1_drivers, without_any_device_each_command_says_so_in_a_line) {
    const fs::path folder = cache() / "none";
    fs::create_directories(folder);
    const std::string environment = opencl_drivers_in(folder) + fake_cuda("no_device");
    const outcome shown = run("devices", environment);
    EXPECT_EQ(shown.code, 0);
    EXPECT_NE(shown.out.find("There is no device on this machine."), std::string::npos);
    for (const char* command : {"selftest", "bandwidth --size 1"}) {
        const outcome refused = run(command, environment);
        EXPECT_EQ(refused.code, 1) << command;
        EXPECT_EQ(refused.out, "") << command;
        EXPECT_NE(refused.err.find("there is no device on this machine"), std::string::npos) << refused.err;
    }
}

TEST_F(C2_drivers, a_discrete_gpu_is_preferred_to_one_in_the_hosts_memory_and_to_a_cpu) {
    const json told = run_json("devices --json", fake("two"));
    ASSERT_EQ(told["devices"].size(), 2 + opencl_devices());
    const json found = of_cuda(told["devices"]);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0]["name"], "Fake discrete GPU");
    EXPECT_EQ(found[1]["name"], "Fake integrated GPU");
    for (const json& each : told["devices"])
        EXPECT_TRUE(each["type"] != "cpu" || each["position"] > found[1]["position"]);
    EXPECT_TRUE(found[0]["is_default"]) << "CUDA comes before OpenCL";
    const json by_choice = run_json("devices --json", fake("two BALM_DEVICE=integrated"));
    EXPECT_TRUE(of_cuda(by_choice["devices"])[1]["is_default"]);
}

TEST_F(C1_drivers, cuda_tells_each_field_and_nothing_is_started) {
    const outcome shown = run("devices --json", fake("two"));
    EXPECT_EQ(shown.err, "") << "an entry point was called that looking at devices needs not";
    const json found = of_cuda(json::parse(shown.out)["devices"]);
    ASSERT_EQ(found.size(), 2u);
    const json& d = found[0];
    EXPECT_EQ(d["uuid"], "a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1");
    EXPECT_EQ(d["pci_address"], "0000:1b:00.0");
    EXPECT_EQ(d["vendor_id"], 0x10de);
    EXPECT_EQ(d["version"], "75.76");
    EXPECT_EQ(d["platform_version"], "CUDA 12.4");
    EXPECT_EQ(d["global_memory"], 1ull << 34);
    EXPECT_EQ(d["max_clock"], 1755);
    EXPECT_EQ(d["local_memory"], 97);
    EXPECT_EQ(d["constant_memory"], 9);
    EXPECT_EQ(d["global_cache"], 38);
    EXPECT_EQ(d["compute_units"], 16);
    EXPECT_EQ(d["max_work_group_size"], 1);
    EXPECT_EQ(d["max_work_item_sizes"], (json{2, 3, 4}));
    EXPECT_EQ(d["max_group_counts"], (json{5, 6, 7}));
    EXPECT_EQ(d["sub_group_size"], 10);
    EXPECT_EQ(d["images"]["size_1d"], 21);
    EXPECT_EQ(d["images"]["size_2d"], (json{22, 23}));
    EXPECT_EQ(d["images"]["size_3d"], (json{24, 25, 26}));
    EXPECT_EQ(d["images"]["array_size"], 29);
    EXPECT_EQ(d["images"]["buffer_size"], 69);
    EXPECT_EQ(d["error_correction"], true);
    EXPECT_EQ(found[1]["error_correction"], false);
    EXPECT_EQ(d["unified_memory"], false);
    EXPECT_EQ(found[1]["unified_memory"], true);
    EXPECT_EQ(d["shared_virtual_memory"],
              (json{{"allocations", true}, {"at_once", false}, {"all_memory", false}, {"atomics", true}}));
    EXPECT_EQ(d["has_out_of_order_queues"], false);
    EXPECT_EQ(d["partition"]["max_sub_devices"], 0);
    const json platforms = json::parse(shown.out)["platforms"];
    EXPECT_EQ(platforms[0]["name"], "CUDA");
    EXPECT_EQ(platforms[0]["version"], "CUDA 12.4");
    EXPECT_EQ(platforms[0]["gpus"].size(), 2u);
}

}  // namespace
}  // namespace balm::test
