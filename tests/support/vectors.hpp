#pragma once
// What tests of algorithms share: numbers to compute with, vectors' elements on the host, and comparisons.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "balm/host_array.hpp"
#include "balm/vector.hpp"
#include "support/devices_random.hpp"

namespace balm::test {

using number_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                                    std::uint32_t, std::int64_t, std::uint64_t, float, double>;

/// Elements of vectors that may have any number of them: their last vector load is a part of one.
inline constexpr std::size_t odd_count = 777;

template <class T>
vector<T> on_device(const context& where, const host_array<T>& values) {
    return vector<T>(where, std::span<const T>(values));
}
template <class T>
std::vector<T> on_host(const vector<T>& v) {
    const host_array<T> host = v.to_host();
    return std::vector<T>(host.begin(), host.end());
}
/// The elements of an expression.
template <class R, class E>
std::vector<R> values_of(const E& e) {
    return on_host(vector<R>(e));
}

/// Bit for bit.
template <class T>
void expect_same(const std::vector<T>& got, const std::vector<T>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const T own = got[k], other = wanted[k];
        if (std::memcmp(&own, &other, sizeof(T)) == 0) continue;
        ADD_FAILURE() << "element " << k << " of " << wanted.size() << " is " << testing::PrintToString(own)
                      << ", not " << testing::PrintToString(other);
        return;
    }
}
template <class T>
void expect_same(const vector<T>& got, const std::vector<T>& wanted) {
    expect_same(on_host(got), wanted);
}

}  // namespace balm::test
