#pragma once
// Stable ranks of a tile's elements by one digit of their keys: where each element goes so that digits ascend
// and equal digits keep their order.
//
// With sub-groups: match within the sub-group, a counter for each of its digits (Merrill & Garland's matching
// in CUB, Adinets & Merrill, Onesweep, 2022). Elsewhere, and for groups of one work-item: a counter for each
// digit of a work-item (Satish, Harris & Garland, 2009).

#include <span>
#include <vector>

#include "algorithm/block/arrangement.hpp"

namespace balm::block {

/// Local memory of a ranking: declared ahead of IF, WHILE and loops.
class radix_rank {
public:
    /// Digits are of so many bits.
    radix_rank(const group&, int bits);
    /// With counters in memory that serves other purposes before and after, of `room` elements of i32.
    radix_rank(const group&, int bits, const arrays& counters);

    /// Elements of i32 in its counters: 32-bit words of local memory.
    static std::size_t room(const group&, int bits);
    /// The arrangement in which ranks are stable.
    static arrangement arranged(const group&);

    /// The ranks of elements that have these digits, 0 to 2^bits - 1. All work-items of the group must
    /// arrive.
    std::vector<Int> operator()(std::span<const Int> digits) const;
    /// After a ranking: how many elements of the tile have smaller digits.
    Int start(const Int& digit) const;

private:
    std::vector<Int> by_matching(std::span<const Int> digits) const;
    std::vector<Int> by_counting(std::span<const Int> digits) const;
    void scan_sub_groups() const;

    const group& g_;
    int bits_, digits_;
    arrays counters_, shared_;
};

}  // namespace balm::block
