#pragma once
// What the tests of the headers for VexCL's programs share: contexts of one device and of the same device
// twice, which spreads vectors as two devices do, and random numbers in std::vector.

#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <type_traits>
#include <vector>

#include <vexcl/vexcl.hpp>

#include "support/devices.hpp"

namespace balm::test {

/// Calls the body with a context of one device, then with one of the same device twice.
template <class Body>
void on_one_and_two_devices(Body&& body) {
    const vex::Context one(vex::Filter::DoublePrecision && vex::Filter::Count(1));
    if (!one) GTEST_SKIP() << "no device";
    {
        SCOPED_TRACE("one device");
        body(one);
    }
    SCOPED_TRACE("one device twice");
    const vex::Context two({one.context(0), one.context(0)},
                           {one.queue(0), vex::backend::duplicate_queue(one.queue(0))});
    body(two);
}

/// Floating numbers in [0, 1), integers from 0 to 100.
template <class T>
std::vector<T> numbers(std::mt19937_64& random, std::size_t n) {
    std::vector<T> made(n);
    for (T& each : made) {
        if constexpr (std::is_floating_point_v<T>)
            each = static_cast<T>(std::uniform_real_distribution<double>()(random));
        else
            each = static_cast<T>(random() % 101);
    }
    return made;
}

template <class T>
std::vector<T> on_host(const vex::vector<T>& x) {
    std::vector<T> made(x.size());
    if (!made.empty()) vex::copy(x, made);
    return made;
}

/// got[i] is wanted(i), but for rounding.
template <class F>
void expect_elements(const vex::vector<double>& got, const F& wanted) {
    const std::vector<double> host = on_host(got);
    for (std::size_t i = 0; i < host.size(); ++i) ASSERT_NEAR(host[i], wanted(i), 1e-9) << i;
}

}  // namespace balm::test
