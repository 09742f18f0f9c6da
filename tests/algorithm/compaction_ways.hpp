#pragma once
// What tests of selections and of reductions by key share.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "algorithm/scan_ways.hpp"
#include "balm/balm.hpp"
#include "support/vectors.hpp"

namespace balm::test {

/// Numbers of 0 to `distinct` - 1 in runs of about `length`.
template <class T>
std::vector<T> numbers_in_runs(std::mt19937_64& random, std::size_t n, std::size_t length,
                               std::size_t distinct) {
    std::vector<T> made(n);
    T own = static_cast<T>(below(random, distinct));
    for (T& each : made) {
        if (below(random, length) == 0) own = static_cast<T>(below(random, distinct));
        each = own;
    }
    return made;
}

/// The first elements of a target, and that those behind have kept a value.
template <class T>
void expect_begins(const vector<T>& got, const std::vector<T>& wanted, T behind) {
    std::vector<T> all(got.size(), behind);
    std::copy_n(wanted.begin(), std::min(wanted.size(), all.size()), all.begin());
    expect_same(got, all);
}

}  // namespace balm::test
