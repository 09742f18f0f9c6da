#include "algorithm/block/radix_rank.hpp"

#include "algorithm/block/scan.hpp"
#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// With sub-groups, counters are records[sub-group][digit] of two words: a bit for each lane that has the
/// digit, and a count.
constexpr int lanes_word = 0, count_word = 1, words_of_record = 2;

/// Whether the lanes of a sub-group find those with the same digit.
bool matches(const group& g) { return g.has_sub_groups() && !g.is_single(); }

trace::node word_of(const Int& record, int word) { return node_of(record * words_of_record + word); }
trace::type pair_of_words() { return trace::type(scalar::i32, words_of_record); }

Int loaded(const arrays& counters, const Int& at) { return Int(counters.load(at)[0]); }

}  // namespace

radix_rank::radix_rank(const group& g, int bits)
    : radix_rank(g, bits,
                 g.shared("counters", {pair_of_words()}, room(g, bits) / words_of_record).as({scalar::i32})) {
}
radix_rank::radix_rank(const group& g, int bits, const arrays& counters)
    : g_(g),
      digits_(1 << bits),
      counters_(counters),
      shared_(g.shared("totals", {scalar::i32}, scan_room(g))),
      starts_(g.shared("starts", {scalar::i32}, std::size_t{1} << bits)) {}

std::size_t radix_rank::room(const group& g, int bits) {
    const std::size_t rows =
        matches(g) ? words_of_record * static_cast<std::size_t>(g.most_sub_groups()) : g.most();
    return rows << bits;
}
arrangement radix_rank::arranged(const group& g) {
    return matches(g) ? arrangement::sub_group_striped : arrangement::blocked;
}

Int radix_rank::start(const Int& digit) const { return loaded(starts_, digit); }

radix_rank::counted radix_rank::count(int each, const digits& digit) const {
    counted made;
    if (matches(g_))
        count_in_sub_groups(each, digit);
    else
        made = count_in_items(each, digit);
    g_.barrier();
    return made;
}
std::vector<Int> radix_rank::ranks(int each, const digits& digit, const counted& known) const {
    if (matches(g_)) return ranks_by_matching(each, digit);
    std::vector<Int> made;
    for (std::size_t k = 0; k < known.ranks.size(); ++k)
        made.push_back(known.ranks[k] + loaded(counters_, known.places[k]));
    return made;
}

trace::node radix_rank::records() const {
    const trace::node words = counters_.memory();
    return trace::reinterpret(words, trace::pointer_to(pair_of_words(), words.type.where));
}
/// The first record of the sub-group.
Int radix_rank::row() const { return named("row", g_.sub_group() * digits_); }

void radix_rank::count_in_sub_groups(int each, const digits& digit) const {
    const trace::node words = counters_.memory();
    const Int first = row();
    const trace::node zero = node_of(0), zeros = trace::compose(pair_of_words(), &zero, 1);
    for (Int d : named("digit", range(g_.lane(), Int(digits_), g_.last() + 1)))
        trace::store(records(), node_of(first + d), zeros, {});
    sub_group_barrier();
    const trace::node one = node_of(1);
    for (int k = 0; k < each; ++k)
        trace::atomic(trace::atomic_op::add, words, word_of(first + digit(k), count_word), &one, 1, {});
    local_barrier();
    scan_sub_groups();
}

/// Scans the counts digit by digit, and for each digit by sub-group: where a sub-group's elements of a digit
/// begin.
void radix_rank::scan_sub_groups() const {
    const trace::node words = counters_.memory();
    const Int each = named("each", (digits_ + g_.items() - 1) / g_.items());
    const Int begin = named("begin", min(g_.item() * each, digits_)),
              end = named("end", min(begin + each, digits_));
    const auto count_at = [&](const Int& s, const Int& d) { return word_of(s * digits_ + d, count_word); };
    Int own = named("own", 0);
    for (Int d : named("digit", range(begin, end)))
        for (Int s : named("s", range(g_.sub_groups()))) own += Int(trace::load(words, count_at(s, d), {}));
    Int ahead = named("ahead", Int(scan_exclusive(g_, sums(scalar::i32), {node_of(own)}, shared_)[0]));
    for (Int d : named("digit", range(begin, end))) {
        starts_.store(d, {node_of(ahead)});
        for (Int s : named("s", range(g_.sub_groups()))) {
            const Int count(trace::load(words, count_at(s, d), {}));
            trace::store(words, count_at(s, d), node_of(ahead), {});
            ahead += count;
        }
    }
}

std::vector<Int> radix_rank::ranks_by_matching(int each, const digits& digit) const {
    const trace::node words = counters_.memory();
    const Int first = row();
    const trace::node own_lane = node_of(named("own_lane", Int(1) << g_.lane()));
    const arrays own("ranks", {scalar::i32}, static_cast<std::size_t>(each), space::private_);
    for (int k = 0; k < each; ++k) {
        const Int record = first + digit(k);
        trace::atomic(trace::atomic_op::bit_or, words, word_of(record, lanes_word), &own_lane, 1, {});
        sub_group_barrier();
        const trace::node seen = trace::load(records(), node_of(record), {});
        const UInt same(trace::convert(trace::swizzle(seen, lanes_word, 1), scalar::u32));
        const Int next(trace::swizzle(seen, count_word, 1));
        sub_group_barrier();
        IF ((same >> g_.lane()) == 1u) {  // the last of these lanes
            const trace::node left[] = {node_of(0), node_of(next + cast<int>(popcount(same)))};
            trace::store(records(), node_of(record), trace::compose(pair_of_words(), left, 2), {});
        }
        sub_group_barrier();
        own.store(k, {node_of(next + cast<int>(popcount(same & lane_mask_lt())))});
    }
    std::vector<Int> made;
    made.reserve(static_cast<std::size_t>(each));
    for (int k = 0; k < each; ++k) made.push_back(loaded(own, k));
    return made;
}

/// Counters are counters[digit][work-item].
radix_rank::counted radix_rank::count_in_items(int each, const digits& digit) const {
    for (Int d : named("digit", range(digits_))) counters_.store(d * g_.items() + g_.item(), {node_of(0)});
    counted made;
    for (int k = 0; k < each; ++k) {
        made.places.push_back(digit(k) * g_.items() + g_.item());
        made.ranks.push_back(loaded(counters_, made.places.back()));
        counters_.store(made.places.back(), {node_of(made.ranks.back() + 1)});
    }
    g_.barrier();
    scan_array(g_, sums(scalar::i32), counters_, digits_ * g_.items(), shared_);
    g_.barrier();
    g_.share_out(digits_,
                 [&](const Int& d) { starts_.store(d, {node_of(loaded(counters_, d * g_.items()))}); });
    return made;
}

}  // namespace balm::block
