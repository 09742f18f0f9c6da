#pragma once
// What tests that compute share: every device of the machine, fresh random numbers that can be repeated, and
// the text of a fault.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "balm/context.hpp"
#include "balm/error.hpp"

namespace balm::test {

/// Every available device that BALM_BACKEND, BALM_TYPE, BALM_PLATFORM and BALM_DEVICE accept, a GPU once for
/// each backend; printed when first asked for.
const std::vector<device>& present_devices();
/// Whether one of them is a CPU, on which tests force what other devices do.
bool has_cpu();
/// "device 'NVIDIA H100' (cuda)"
std::string words(const device&);

/// Runs the body once on every device; failures name it.
template <class Body>
void on_all_devices(Body&& body) {
    if (present_devices().empty()) GTEST_SKIP() << "no device";
    for (const device& each : present_devices()) {
        SCOPED_TRACE(words(each));
        body(each);
    }
}
/// Whether this run is one with all devices in one context: BALM_TEST_TOGETHER.
bool devices_are_together();
/// Runs tests of a program once more in a process of its own, whose context has three of PoCL's devices.
/// Skipped without PoCL, and in that process.
void run_on_three_devices(const std::string& program, const std::string& filter);
/// The same with a context of the one device, or with one of all.
template <class Body>
void on_all_contexts(Body&& body) {
    if (devices_are_together()) return body(context(present_devices()));
    on_all_devices([&](const device& each) { body(context(std::vector<device>{each})); });
}

/// The seed of this run: BALM_TEST_SEED, or a fresh one. main() prints it.
std::uint64_t seed();
/// A generator for the running test: the same for the same seed and test, whatever else runs.
std::mt19937_64 seeded_random();

/// Messages that contain other messages may end up with the punctuation of both.
inline std::string with_single_punctuation(const std::string& message) {
    for (std::size_t at = 0; at + 1 < message.size(); ++at) {
        const std::string_view two = std::string_view(message).substr(at, 2);
        const bool is_word = at > 0 && std::isalnum(static_cast<unsigned char>(message[at - 1])) != 0;
        const bool is_end = at + 2 == message.size() ||
                            std::string_view(" \n").find(message[at + 2]) != std::string_view::npos;
        if (is_word && is_end && std::string_view(".,:;?!").find(two[0]) != std::string_view::npos &&
            std::string_view(".,:;").find(two[1]) != std::string_view::npos)
            ADD_FAILURE() << "doubled punctuation, '" << two << "', in: " << message;
    }
    return message;
}

/// The message of the exception E that the body throws; a test failure if it throws none.
template <class E, class Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const E& fault) {
        return with_single_punctuation(fault.what());
    } catch (const std::exception& fault) {
        ADD_FAILURE() << "another exception: " << fault.what();
        return {};
    }
    ADD_FAILURE() << "nothing is thrown";
    return {};
}

/// That of a usage_error.
template <class Body>
std::string usage_message_of(Body&& body) {
    return message_of<usage_error>(body);
}

/// "device_test.cpp:12", as messages name the C++ line.
inline std::string line_of(const char* file, int line) {
    const std::string path(file);
    return path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(line) + ":";
}

}  // namespace balm::test

#include "support/devices_random.hpp"
