// The main of every test program: says the seed, and has every kernel compiled for CUDA too.

#include <gmock/gmock.h>

#include <iostream>

#include "kernel/launch/kernel_program.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    if (!testing::GTEST_FLAG(list_tests)) {
        std::cout << "seed " << balm::test::seed() << " (BALM_TEST_SEED repeats it)\n";
        // The process that has several devices makes the kernels of the one that started it.
        if (!balm::test::devices_are_together()) balm::test::compile_kernels_with_nvrtc();
    }
    const int status = RUN_ALL_TESTS();
    balm::kernels::observe_compilations(nullptr);
    return status;
}
