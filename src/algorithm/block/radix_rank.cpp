#include "algorithm/block/radix_rank.hpp"

#include "algorithm/block/scan.hpp"
#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

const operation& sum() {
    static const operation& adds = *new operation{
        [](const values& a, const values& b) { return values{trace::apply(builtin::add, a[0], b[0])}; },
        [] { return values{node_of(0)}; }};
    return adds;
}

/// Bits of a rank among the elements of a sub-group; of the rest of an i32 its digit takes the lowest.
constexpr int rank_bits = 16;

Int loaded(const arrays& counters, const Int& at) { return Int(counters.load(at)[0]); }

}  // namespace

radix_rank::radix_rank(const group& g, int bits)
    : radix_rank(g, bits, g.shared("counters", {scalar::i32}, room(g, bits))) {}
radix_rank::radix_rank(const group& g, int bits, const arrays& counters)
    : g_(g),
      bits_(bits),
      digits_(1 << bits),
      counters_(counters),
      shared_(g.shared("totals", {scalar::i32}, scan_room(g))) {}

std::size_t radix_rank::room(const group& g, int bits) {
    return (g.has_sub_groups() ? static_cast<std::size_t>(g.most_sub_groups()) : g.most()) << bits;
}
arrangement radix_rank::arranged(const group& g) {
    return g.has_sub_groups() ? arrangement::sub_group_striped : arrangement::blocked;
}

std::vector<Int> radix_rank::operator()(std::span<const Int> digits) const {
    return g_.has_sub_groups() ? by_matching(digits) : by_counting(digits);
}
Int radix_rank::start(const Int& digit) const {
    return loaded(counters_, g_.has_sub_groups() ? Int(digit) : digit * g_.items());
}

/// Counters are counters[sub-group][digit]. A rank among the sub-group's elements and its digit are held in
/// one register.
std::vector<Int> radix_rank::by_matching(std::span<const Int> digits) const {
    const Int row = named("row", g_.sub_group() * digits_);
    for (Int d : named("digit", range(g_.lane(), Int(digits_), g_.last() + 1)))
        counters_.store(row + d, {node_of(0)});
    sub_group_barrier();
    std::vector<Int> ranks;
    for (const Int& digit : digits) {
        const UInt same = match(g_, digit, bits_, shared_);
        const Int leader = 31 - cast<int>(clz(same));
        Int rank = named("rank", 0);
        IF (g_.lane() == leader) {
            const Int before = loaded(counters_, row + digit);
            counters_.store(row + digit, {node_of(before + cast<int>(popcount(same)))});
            rank = before;
        }
        sub_group_barrier();
        // Computed here, so that neither the lanes nor the digit stay in registers.
        rank = digit << rank_bits | (Int(shuffle(g_, {node_of(rank)}, leader, shared_)[0]) +
                                     cast<int>(popcount(same & lane_mask_lt())));
        ranks.push_back(rank);
    }
    local_barrier();
    scan_sub_groups();
    local_barrier();
    for (Int& each : ranks) {
        const Int packed = each;
        each = (packed & ((1 << rank_bits) - 1)) + loaded(counters_, row + (packed >> rank_bits));
    }
    return ranks;
}

/// Digit by digit, and of each the sub-groups in turn.
void radix_rank::scan_sub_groups() const {
    const Int each = named("each", (digits_ + g_.items() - 1) / g_.items());
    const Int begin = named("begin", min(g_.item() * each, digits_)),
              end = named("end", min(begin + each, digits_));
    const auto each_counter = [&](const auto& body) {
        for (Int digit : named("digit", range(begin, end)))
            for (Int s : named("s", range(g_.sub_groups()))) body(s * digits_ + digit);
    };
    Int own = named("own", 0);
    each_counter([&](const Int& at) { own += loaded(counters_, at); });
    Int ahead = named("ahead", Int(scan_exclusive(g_, sum(), {node_of(own)}, shared_)[0]));
    each_counter([&](const Int& at) {
        const Int count = loaded(counters_, at);
        counters_.store(at, {node_of(ahead)});
        ahead += count;
    });
}

/// Counters are counters[digit][work-item].
std::vector<Int> radix_rank::by_counting(std::span<const Int> digits) const {
    for (Int d : named("digit", range(digits_))) counters_.store(d * g_.items() + g_.item(), {node_of(0)});
    std::vector<Int> places, ranks;
    for (const Int& digit : digits) {
        places.push_back(digit * g_.items() + g_.item());
        ranks.push_back(loaded(counters_, places.back()));
        counters_.store(places.back(), {node_of(ranks.back() + 1)});
    }
    g_.barrier();
    scan_array(g_, sum(), counters_, digits_ * g_.items(), shared_);
    g_.barrier();
    for (std::size_t k = 0; k < ranks.size(); ++k) ranks[k] += loaded(counters_, places[k]);
    return ranks;
}

}  // namespace balm::block
