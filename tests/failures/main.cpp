// The main of the tests with faults, which see no devices but those of the fake drivers.

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/scratch_directory.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const balm::test::scratch_directory cache;
    ::setenv("BALM_CACHE_DIR", cache.path().c_str(), 1);
    for (const char* each : {"BALM_DEVICE", "BALM_PLATFORM", "BALM_TYPE", "BALM_BACKEND", "BALM_MAX_DEVICES",
                             "BALM_POSITION", "CUDA_HOME", "CUDA_PATH"})
        ::unsetenv(each);
    return RUN_ALL_TESTS();
}
