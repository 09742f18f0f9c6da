#include "algorithm/block/flag_ranks.hpp"

#include "algorithm/block/scan.hpp"
#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/error.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// Bits of a run's count in a word: all of a sub-group's elements of the run may be flagged.
int bits_of_count(int length) { return lanes * length < 256 ? 8 : 16; }
int counts_in_word(int length) { return 32 / bits_of_count(length); }

UInt low_bits(const UInt& of, int from, int count) { return of >> from & ((1u << count) - 1u); }

}  // namespace

types flag_ranks::words(runs tile) {
    const int in_word = counts_in_word(tile.length);
    return types(static_cast<std::size_t>((tile.count + in_word - 1) / in_word), scalar::u32);
}

flag_ranks::flag_ranks(const group& g, runs tile, const UInt& flags, const arrays& shared)
    : tile_(tile), flags_(flags) {
    if (tile.elements() > most_elements) throw trace_error("a work-item has more flags than a word has bits");
    const int bits = bits_of_count(tile.length), in_word = counts_in_word(tile.length);
    const operation adds = sums(scalar::u32, words(tile).size());
    values own = adds.identity();
    for (int r = 0; r < tile.count; ++r) {
        trace::node& word = own[static_cast<std::size_t>(r / in_word)];
        const UInt count = popcount(low_bits(flags, r * tile.length, tile.length));
        word = node_of(UInt(word) | count << (r % in_word * bits));
    }
    const values inclusive = sub_group_scan_inclusive(g, adds, own, shared);
    if (!g.has_sub_groups()) g.barrier();
    const values totals = shuffle(g, inclusive, g.last(), shared);

    const auto count_in = [&](const UInt& word, int r) {
        return cast<int>(low_bits(word, r % in_word * bits, bits));
    };
    values before;
    trace::node ahead = node_of(0);
    for (int r = 0; r < tile.count; ++r) {
        const auto w = static_cast<std::size_t>(r / in_word);
        const UInt exclusive = UInt(inclusive[w]) - UInt(own[w]);
        before.push_back(node_of(Int(ahead) + count_in(exclusive, r)));
        ahead = node_of(Int(ahead) + count_in(UInt(totals[w]), r));
    }
    values total;
    const values of_sub_group = ahead_of_sub_group(g, sums(scalar::u32), {trace::convert(ahead, scalar::u32)},
                                                   shared.first(1), &total);
    const Int first = named("first_rank", cast<int>(UInt(of_sub_group[0])));
    for (const trace::node& each : before) before_.push_back(node_of(first + Int(each)));
    total_ = trace::convert(total[0], scalar::i32);
}

Bool flag_ranks::is_flagged(int element) const { return (flags_ & 1u << element) != 0u; }

Int flag_ranks::ahead_of(int element) const {
    const int in_run = element % tile_.length;
    const Int of_run(before_[static_cast<std::size_t>(element / tile_.length)]);
    if (in_run == 0) return of_run;
    return of_run + cast<int>(popcount(low_bits(flags_, element - in_run, in_run)));
}

}  // namespace balm::block
