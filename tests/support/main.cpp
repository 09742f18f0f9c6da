// The main of every test program: says the seed, draws types, and has every kernel compiled for CUDA too.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "kernel/launch/kernel_program.hpp"
#include "support/devices.hpp"
#include "support/nvrtc_listener.hpp"

namespace {

/// Of each suite that repeats its tests for many types, takes one type in BALM_TEST_SHARE, others in each
/// run; all of them where that is not set.
void draw_types() {
    const char* const asked = std::getenv("BALM_TEST_SHARE");
    const std::size_t share = asked != nullptr ? std::strtoul(asked, nullptr, 10) : 1;
    if (share < 2) return;
    std::map<std::string, std::vector<std::string>> instances;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int k = 0; k < all.total_test_suite_count(); ++k) {
        const std::string name = all.GetTestSuite(k)->name();
        const std::size_t number = name.rfind('/') + 1;
        if (number > 0 && name.find_first_not_of("0123456789", number) == std::string::npos)
            instances[name.substr(0, number)].push_back(name);
    }
    std::mt19937_64 random(balm::test::seed());
    std::string others;
    for (auto& [suite, types] : instances) {
        std::shuffle(types.begin(), types.end(), random);
        for (std::size_t k = (types.size() + share - 1) / share; k < types.size(); ++k)
            others += ':' + types[k] + ".*";
    }
    std::string& filter = testing::GTEST_FLAG(filter);
    if (others.empty()) return;
    if (filter.find('-') == std::string::npos) others[0] = '-';
    filter += others;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    if (!testing::GTEST_FLAG(list_tests)) {
        draw_types();
        std::cout << "seed " << balm::test::seed() << " (BALM_TEST_SEED repeats it)\n";
        // The process that has several devices makes the kernels of the one that started it.
        if (!balm::test::devices_are_together()) balm::test::compile_kernels_with_nvrtc();
    }
    const int status = RUN_ALL_TESTS();
    balm::kernels::observe_compilations(nullptr);
    return status;
}
