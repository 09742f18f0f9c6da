// What is particular to CUDA: NVRTC, which needs no GPU; discovery, which starts nothing.

#include <algorithm>

#include "balm/error.hpp"
#include "devices.hpp"
#include "driver/cuda/driver_api.hpp"
#include "driver/cuda/nvrtc.hpp"

namespace balm::test {

TEST(C14_backend, discovery_makes_no_cuda_context) {
    const runtime::discovery found = runtime::discover_cuda();
    std::vector<std::shared_ptr<runtime::driver_device>> devices;
    for (const runtime::discovered_platform& each : found.platforms)
        devices.insert(devices.end(), each.devices.begin(), each.devices.end());
    for (const auto& device : devices) {
        const auto id = static_cast<cuda::CUdevice>(reinterpret_cast<std::intptr_t>(device->native_device()));
        unsigned flags = 0;
        int active = 1;
        ASSERT_EQ(cuda::driver().cuDevicePrimaryCtxGetState(id, &flags, &active), cuda::CUDA_SUCCESS);
        // Only sure while no other test of this process has used the device; ctest runs each alone.
        if (active != 0) GTEST_SKIP() << "an earlier test made the context";
        cuda::CUcontext current = nullptr;
        ASSERT_EQ(cuda::driver().cuCtxGetCurrent(&current), cuda::CUDA_SUCCESS);
        EXPECT_EQ(current, nullptr);
    }
    if (devices.empty()) {
        EXPECT_FALSE(found.notes.empty()) << "it should say why there is no device";
    }
}

TEST(C14_backend, one_gpu_has_one_identity_in_both_backends) {
    std::vector<device_info> in_opencl;
    for (const auto& device : driver_devices())
        if (device->info().platform == "NVIDIA CUDA") in_opencl.push_back(device->info());
    if (in_opencl.empty()) GTEST_SKIP() << "no NVIDIA device in OpenCL";
    for (const auto& device : driver_devices()) {
        const device_info& info = device->info();
        if (info.api != backend::cuda) continue;
        const auto same = std::find_if(in_opencl.begin(), in_opencl.end(),
                                       [&](const device_info& other) { return other.uuid == info.uuid; });
        ASSERT_NE(same, in_opencl.end()) << info.name << " has another uuid in OpenCL";
        EXPECT_EQ(same->pci_address, info.pci_address);
        EXPECT_EQ(same->name, info.name);
        EXPECT_EQ(same->sub_group_size, info.sub_group_size);
    }
}

TEST(C14_backend, nvrtc_says_where_it_is_or_what_was_tried) {
    const std::string text = cuda::describe_nvrtc();
    std::cout << text << '\n';
    EXPECT_NE(text.find("libnvrtc.so"), text.npos);
    if (cuda::nvrtc_available()) return;
    std::string log;
    EXPECT_THROW(cuda::compile_with_nvrtc("", cuda::nvrtc_options, "sm_80", log), build_error);
}

TEST(C14_backend, nvrtc_compiles_without_a_gpu) {
    if (!cuda::nvrtc_available()) GTEST_SKIP() << cuda::describe_nvrtc();
    for (const std::string& source : {saxpy_source.cuda_cpp, local_source.cuda_cpp}) {
        std::string log;
        const auto ptx = cuda::compile_with_nvrtc(source, cuda::nvrtc_options, "compute_80", log);
        const std::string text(reinterpret_cast<const char*>(ptx.data()));  // ends in a zero
        EXPECT_EQ(text.size() + 1, ptx.size());
        EXPECT_NE(text.find(".target sm_80"), text.npos) << text;
        EXPECT_EQ(text.find("fma.rn.f32"), text.npos) << "contracted:\n" << text;
        const auto cubin = cuda::compile_with_nvrtc(source, cuda::nvrtc_options, "sm_80", log);
        ASSERT_GT(cubin.size(), 4u);
        EXPECT_EQ(std::memcmp(cubin.data(),
                              "\x7f"
                              "ELF",
                              4),
                  0);
        EXPECT_EQ(log, "");
    }
}

TEST(C14_backend, nvrtc_chooses_a_cubin_or_the_newest_ptx_before) {
    if (!cuda::nvrtc_available()) GTEST_SKIP() << cuda::describe_nvrtc();
    EXPECT_EQ(cuda::nvrtc_architecture(80, "test"), "sm_80");
    EXPECT_TRUE(cuda::nvrtc_architecture(999, "test").starts_with("compute_"));
    EXPECT_THROW(cuda::nvrtc_architecture(10, "test"), build_error);
}

TEST(C14_backend, nvrtc_errors_hold_the_log_and_the_numbered_source) {
    if (!cuda::nvrtc_available()) GTEST_SKIP() << cuda::describe_nvrtc();
    std::string log;
    try {
        cuda::compile_with_nvrtc(broken_source.cuda_cpp, cuda::nvrtc_options, "compute_80", log, "some GPU");
        FAIL() << "a broken program compiled";
    } catch (const build_error& fault) {
        const std::string text = fault.what();
        EXPECT_NE(text.find("NVRTC_ERROR_COMPILATION"), text.npos) << text;
        EXPECT_NE(text.find("balm.cu(4): error"), text.npos) << text;
        EXPECT_NE(text.find("   4 |     x[0] = no_such_name;"), text.npos) << text;
        EXPECT_NE(text.find("some GPU"), text.npos) << text;
        EXPECT_NE(log.find("no_such_name"), log.npos);
    }
}

}  // namespace balm::test
