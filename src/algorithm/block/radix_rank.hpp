#pragma once
// Stable ranks of a tile's elements by one digit of their keys: the position of each element so that digits
// ascend and equal digits keep their order. There are two steps, so that a kernel can publish the tile's
// count of each digit before it computes the ranks.
//
// With sub-groups: each sub-group counts its digits; lanes with the same digit then find each other through a
// word in local memory, and take the next ranks of their digit (Adinets & Merrill, Onesweep, 2022).
// Otherwise, and for groups of one work-item: a counter for each digit of a work-item (Satish, Harris &
// Garland, 2009).

#include <functional>
#include <vector>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// The local memory of a ranking; must be declared before IF, WHILE and loops.
class radix_rank {
public:
    /// Digits have `bits` bits.
    radix_rank(const group&, int bits);
    /// With counters in existing memory, which may serve other purposes before and after: `room` elements of
    /// i32, aligned to 8 bytes.
    radix_rank(const group&, int bits, const arrays& counters);

    /// The size of the counters in elements of i32: 32-bit words of local memory.
    static std::size_t room(const group&, int bits);
    /// The arrangement in which ranks are stable.
    static arrangement arranged(const group&);

    /// The digit of the work-item's element k, 0 to 2^bits - 1. It is recorded at each use, so that digits do
    /// not stay in registers.
    using digits = std::function<Int(int k)>;
    /// The state between the steps: without sub-groups, each element's counter and its rank there.
    struct counted {
        std::vector<Int> places, ranks;
    };
    /// Counts the digits of `each` elements per work-item. All work-items of the group must call it.
    counted count(int each, const digits&) const;
    /// The number of elements of the tile with smaller digits; valid from count() until the next one.
    Int start(const Int& digit) const;
    /// The ranks of the elements. The counters may be reused after the next barrier.
    std::vector<Int> ranks(int each, const digits&, const counted&) const;

private:
    void count_in_sub_groups(int each, const digits&) const;
    void scan_sub_groups() const;
    std::vector<Int> ranks_by_matching(int each, const digits&) const;
    counted count_in_items(int each, const digits&) const;
    trace::node records() const;
    Int row() const;

    const group& g_;
    int digits_;
    arrays counters_, shared_, starts_;
};

}  // namespace balm::block
