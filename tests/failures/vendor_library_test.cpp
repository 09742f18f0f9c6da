// Libraries of matrix products that fail, lack functions or do not fit the driver. The search runs once in a
// process, so what it finds is tested in processes of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "fake_drivers/faults.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

constexpr std::size_t extent = 12;

context one_device_of(const std::string& platform) {
    const context all([=](const device_info& each) { return each.platform == platform; });
    return context({all.device(0)});
}

struct squared {
    explicit squared(const context& ctx)
        : x(ctx, std::vector<double>(extent * extent, 2)), y(ctx, extent * extent) {}
    void run() {
        const auto A = balm::view(x, {extent, extent});
        y = matmul(A, A, multiply_by::vendor_library);
    }
    std::string description() const {
        const auto A = balm::view(x, {extent, extent});
        return describe_matmul(A, A, multiply_by::vendor_library);
    }
    balm::vector<double> x, y;
};

/// The message of the error that E names if this driver call fails in a first product.
template <class E>
std::string message_if_fails(const context& ctx, const std::string& call) {
    for (std::uint64_t nth = 1; nth < 200; ++nth) {
        const device fresh = one_device_of(ctx.device(0).info().platform).device(0);
        const balm::queue own = fresh.make_queue();  // its first product creates a handle
        const balm::queue_scope in(own);
        squared s(context({fresh}));
        fresh.finish();
        fresh.trim();  // with memory to release, a product is tried twice
        fail_driver_call(nth);
        std::string message;
        try {
            s.run();
        } catch (const E& fault) {
            message = fault.what();
        } catch (const error&) {
        }
        const char* const failed = failed_driver_call();
        fail_driver_call(0);
        if (failed == nullptr) break;
        if (call != failed) continue;
        s.run();
        EXPECT_EQ(s.y.to_host()[5], 4.0 * extent) << "after the fault";
        return message;
    }
    ADD_FAILURE() << "no call of " << call;
    return {};
}

TEST(V18_vendor_libraries, that_fail_are_named_with_function_and_status) {
    const context cuda = one_device_of("CUDA");
    EXPECT_THAT(message_if_fails<out_of_memory_error>(cuda, "cublasCreate_v2"),
                HasSubstr("cublasCreate of cuBLAS 12.4 (libcublas.so.12) failed with "
                          "CUBLAS_STATUS_ALLOC_FAILED (3) for a handle on device 'Fake discrete GPU'; "
                          "balm::multiply_by::own_kernels multiplies without the library."));
    EXPECT_THAT(message_if_fails<device_error>(cuda, "cublasSetStream_v2"),
                HasSubstr("cublasSetStream of cuBLAS 12.4 (libcublas.so.12) failed with "
                          "CUBLAS_STATUS_EXECUTION_FAILED (13)"));
    EXPECT_THAT(message_if_fails<device_error>(cuda, "cublasGemmEx"),
                HasSubstr("cublasGemmEx of cuBLAS 12.4 (libcublas.so.12) failed with "
                          "CUBLAS_STATUS_EXECUTION_FAILED (13) for 1 products of 12 x 12 and 12 x 12"));
    EXPECT_THAT(message_if_fails<out_of_memory_error>(one_device_of("Fake OpenCL"), "CLBlastDgemm"),
                HasSubstr("CLBlastDgemm of CLBlast (libclblast.so.1) failed with "
                          "CL_MEM_OBJECT_ALLOCATION_FAILURE (-4) for 1 products of 12 x 12 and 12 x 12"));
}

TEST(V18_vendor_libraries, are_described_and_multiply_numbers_of_every_type) {
    const std::pair<const char*, const char*> all[] = {
        {"CUDA", "cuBLAS 12.4 (libcublas.so.12)"},
        {"Fake OpenCL", "CLBlast (libclblast.so.1)"},
        {"Portable Computing Language", "CLBlast (libclblast.so.1)"}};
    const auto multiplies = []<class T>(const context& ctx, T one) {
        const std::size_t m = 9, k = 10, c = 11;
        std::vector<T> a(m * k), b(k * c);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = one * static_cast<T>(static_cast<float>(i % 7));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = one * static_cast<T>(static_cast<float>(i % 5));
        const balm::vector<T> x(ctx, a), y(ctx, b);
        for (const bool turn_a : {false, true})
            for (const bool turn_b : {false, true}) {
                std::vector<T> expected(m * c);
                for (std::size_t i = 0; i < m * c; ++i)
                    for (std::size_t j = 0; j < k; ++j)
                        expected[i] += a[turn_a ? j * m + i / c : i / c * k + j] *
                                       b[turn_b ? i % c * k + j : j * c + i % c];
                balm::vector<T> z(ctx, m * c);
                const auto A = turn_a ? balm::view(x, {k, m}).transpose() : balm::view(x, {m, k});
                const auto B = turn_b ? balm::view(y, {c, k}).transpose() : balm::view(y, {k, c});
                z = matmul(A, B, multiply_by::vendor_library);
                const auto got = z.to_host();
                EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()))
                    << turn_a << turn_b;
            }
    };
    for (const auto& [platform, words] : all) {
        SCOPED_TRACE(platform);
        const context ctx = one_device_of(platform);
        EXPECT_EQ(squared(ctx).description(), std::string("12 x 12 by 12 x 12, f64: ") + words + "\n");
        multiplies(ctx, 1.f);
        multiplies(ctx, 1.);
        multiplies(ctx, std::complex<float>(1, 2));
        multiplies(ctx, std::complex<double>(1, 2));
    }
}

/// In a process of its own, with these variables: prints the description, and multiplies.
void describe_with(const std::string& platform,
                   const std::function<void(const scratch_directory&)>& prepare) {
    const scratch_directory scratch;
    prepare(scratch);
    const context ctx = one_device_of(platform);
    squared s(ctx);
    std::cerr << s.description();
    s.run();  // by kernels that the fake drivers do not know: they leave y as it is
    ctx.device(0).finish();
    ::_exit(0);
}

/// A library without any of the functions.
void link_to_other_library(const std::filesystem::path& at) {
    std::filesystem::create_symlink(BALM_TEST_OTHER_LIBRARY, at);
}

TEST(V18_vendor_libraries, that_do_not_fit_are_left_alone) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const auto prepare = [](const scratch_directory& scratch) {
        std::filesystem::create_directory(scratch / "lib64");
        link_to_other_library(scratch / "lib64/libcublas.so.13");
        ::setenv("CUDA_HOME", scratch.path().c_str(), 1);
        ::setenv("BALM_FAKE_CUBLAS", "newer", 1);
    };
    EXPECT_EXIT(describe_with("CUDA", prepare), testing::ExitedWithCode(0),
                "f64: Balm's tiles of .*; not the vendor's library: device 'Fake discrete GPU' .cuda.: "
                "cuBLAS was not found: .*/lib64/libcublas.so.13 .lacks cublasCreate_v2, .*; "
                "libcublas.so.12 .version 13.4, newer than the driver, which supports CUDA 12"
                "|f64: cuBLAS 1[12][.][0-9]+ ./");  // another one is installed
    // The new process is linked to this library instead of the fake CLBlast.
    const scratch_directory scratch;
    link_to_other_library(scratch / "libclblast.so.1");
    ::setenv("LD_LIBRARY_PATH", scratch.path().c_str(), 1);
    EXPECT_EXIT(describe_with("Fake OpenCL", [](const scratch_directory&) {}), testing::ExitedWithCode(0),
                "f64: Balm's tiles of .*; not the vendor's library: device 'Fake .*' .opencl.: CLBlast "
                "cannot be used: libclblast.so.1 .lacks CLBlastSgemm, CLBlastSgemmStridedBatched, ");
    ::unsetenv("LD_LIBRARY_PATH");
}

}  // namespace

}  // namespace balm::test
