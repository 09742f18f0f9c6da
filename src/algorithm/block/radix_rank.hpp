#pragma once
// Stable ranks of a tile's elements by one digit of their keys: where each element goes so that digits ascend
// and equal digits keep their order. It takes two steps, so that a kernel can announce what the tile has of
// each digit ahead of the ranks.
//
// With sub-groups: each sub-group counts its digits; lanes of the same digit then find each other by a word
// in local memory, and take the next ranks of their digit (Adinets & Merrill, Onesweep, 2022). Elsewhere, and
// for groups of one work-item: a counter for each digit of a work-item (Satish, Harris & Garland, 2009).

#include <functional>
#include <vector>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// Local memory of a ranking: declared ahead of IF, WHILE and loops.
class radix_rank {
public:
    /// Digits are of so many bits.
    radix_rank(const group&, int bits);
    /// With counters in memory that serves other purposes before and after, of `room` elements of i32,
    /// aligned to 8 bytes.
    radix_rank(const group&, int bits, const arrays& counters);

    /// Elements of i32 in its counters: 32-bit words of local memory.
    static std::size_t room(const group&, int bits);
    /// The arrangement in which ranks are stable.
    static arrangement arranged(const group&);

    /// The digit of the work-item's element k, 0 to 2^bits - 1. Recorded wherever it is used, so that digits
    /// do not stay in registers.
    using digits = std::function<Int(int k)>;
    /// Between the steps: without sub-groups, the counter and the rank at it of each element.
    struct counted {
        std::vector<Int> places, ranks;
    };
    /// Counts the digits of so many elements of each work-item. All work-items of the group must arrive.
    counted count(int each, const digits&) const;
    /// How many elements of the tile have smaller digits; known from count() to the next one.
    Int start(const Int& digit) const;
    /// The ranks of the elements. The counters are free behind the next barrier.
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
