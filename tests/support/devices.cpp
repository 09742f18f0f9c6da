#include "support/devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "runtime/choice/filter_judge.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/device/platform.hpp"

namespace balm::test {

const std::vector<device>& present_devices() {
    static const std::vector<device>& devices = *[] {
        auto* found = new std::vector<device>;  // never destroyed, as the runtime's own list
        const environment_filter asked = read_environment_filter();
        detail::selection state;
        const auto is_asked = [&](const device_info& info) {
            return !asked.choice || asked.choice->judge(info, state).accepted;
        };
        for (const auto& each : runtime::platforms().devices)
            if (each->info().is_available && is_asked(each->info())) found->emplace_back(each);
        for (const std::string& note : runtime::platforms().notes) std::cout << "note: " << note << '\n';
        for (const device& each : *found) std::cout << "tested on " << words(each) << '\n';
        return found;
    }();
    return devices;
}

bool has_cpu() {
    return std::any_of(present_devices().begin(), present_devices().end(),
                       [](const device& each) { return each.info().type == device_type::cpu; });
}
std::string words(const device& each) { return each.state()->words(); }

bool devices_are_together() { return std::getenv("BALM_TEST_TOGETHER") != nullptr; }

std::uint64_t seed() {
    static const std::uint64_t value = [] {
        if (const char* given = std::getenv("BALM_TEST_SEED")) return std::strtoull(given, nullptr, 10);
        std::random_device source;
        return static_cast<unsigned long long>(source()) << 32 | source();
    }();
    return value;
}

std::mt19937_64 seeded_random() {
    std::string name;
    if (const auto* test = testing::UnitTest::GetInstance()->current_test_info())
        name = std::string(test->test_suite_name()) + test->name();
    std::uint64_t mixed = seed();
    for (const char letter : name) mixed = (mixed ^ static_cast<unsigned char>(letter)) * 0x9e3779b97f4a7c15u;
    return std::mt19937_64(mixed);
}

}  // namespace balm::test
