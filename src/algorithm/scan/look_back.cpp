#include "algorithm/scan/look_back.hpp"

#include "algorithm/block/sub_group.hpp"
#include "algorithm/reduce/slots.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using block::Index;
using dsl::atomic_add;
using dsl::atomic_load;
using dsl::atomic_store;
using dsl::atomic_store_release;
using dsl::bit_cast;
using dsl::cast;
using dsl::device_fence;
using dsl::Float;
using dsl::Int;
using dsl::named;
using dsl::Ptr;
using dsl::ULong;

/// Tiles of a run, and runs of a block: as many as a sub-group has lanes.
constexpr int run_bits = 5, block_bits = 10;
constexpr std::int64_t last_of_run = (1 << run_bits) - 1, last_of_block = (1 << block_bits) - 1;
static_assert(block::lanes == last_of_run + 1);

/// The bit of a word that says that it was announced.
constexpr int announced_bit = 63;

int bits_of(const trace::type& type) { return 8 * static_cast<int>(trace::size_of(type)); }

ULong low_bits(const ULong& word, int count) { return word & ((std::uint64_t{1} << count) - 1); }

ULong in_low_bits(const trace::node& value) {
    if (value.type.element == scalar::f32) return cast<std::uint64_t>(bit_cast<unsigned>(Float(value)));
    return low_bits(ULong(trace::convert(value, scalar::u64)), bits_of(value.type));
}
trace::node from_low_bits(const ULong& word, const trace::type& type) {
    const ULong low = low_bits(word, bits_of(type));
    if (type.element == scalar::f32) return block::node_of(bit_cast<float>(cast<unsigned>(low)));
    return trace::convert(block::node_of(low), type.element);
}

ULong packed(const block::values& list) {
    ULong word = std::uint64_t{1} << announced_bit;
    int bit = 0;
    for (const trace::node& each : list) {
        word |= in_low_bits(each) << bit;
        bit += bits_of(each.type);
    }
    return ULong(word);
}
block::values unpacked(const ULong& word, const block::types& list) {
    block::values made;
    int bit = 0;
    for (const trace::type& each : list) {
        made.push_back(from_low_bits(word >> bit, each));
        bit += bits_of(each);
    }
    return made;
}

}  // namespace

announcements::announcements(std::size_t tiles)
    : runs(tiles), blocks(runs + (tiles >> run_bits)), count(blocks + (tiles >> block_bits)) {}

bool fit_in_a_word(const block::types& list) {
    int bits = 0;
    for (const trace::type& each : list) {
        if (!each.is_scalar() || each.element == scalar::f16) return false;
        bits += bits_of(each);
    }
    return bits <= announced_bit;
}

look_back::look_back(const block::group& g, const block::operation& does, const block::types& types,
                     const parameter_list& given)
    : g_(g),
      does_(does),
      given_(given),
      in_words_(fit_in_a_word(types)),
      types_(types),
      tile_(g.shared("tile", {scalar::i64}, 1)),
      ahead_(g.shared("ahead", types, 1)),
      exchange_(g.shared("exchange", types, g.has_sub_groups() ? 1 : block::scan_room(g))) {}

Index look_back::next_tile() const {
    IF (g_.item() == 0) {
        const ULong started = atomic_add(words()[0], 1);
        tile_.store(Int(0), {block::node_of(cast<std::int64_t>(started))});
    }
    g_.barrier();
    return named("tile", Index(tile_.load(Int(0))[0]));
}

block::values look_back::ahead_of(const Index& tile, const block::values& total,
                                  const block::values& init) const {
    if (g_.has_sub_groups()) {
        IF (g_.sub_group() == 0) {
            find_ahead_of(tile, total, init);
        }
    } else {
        find_ahead_of(tile, total, init);
    }
    g_.barrier();
    return ahead_.load(Int(0));
}

void look_back::find_ahead_of(const Index& tile, const block::values& total,
                              const block::values& init) const {
    const Index run = named("run", tile >> run_bits), block = named("block", tile >> block_bits);
    const Index in_run = named("in_run", tile & last_of_run);
    IF (g_.item() == 0) {
        announce(tile, total);
    }
    const block::values of_tiles = combined_since(tile - in_run, in_run);
    IF (g_.item() == 0 && in_run == last_of_run) {
        announce(given("first_run") + run, does_.combined(of_tiles, total));
    }
    const Index first_run = block << (block_bits - run_bits);
    const block::values of_runs = combined_since(given("first_run") + first_run, run - first_run);
    IF (g_.item() == 0) {
        const block::values prefix = block::variables("prefix", init);
        IF (block > 0) {
            block::write(prefix, awaited(given("first_block") + (block - 1)));
        }
        const block::values ahead = does_.combined(does_.combined(block::read(prefix), of_runs), of_tiles);
        ahead_.store(Int(0), ahead);
        IF ((tile & last_of_block) == last_of_block) {
            announce(given("first_block") + block, does_.combined(ahead, total));
        }
    }
}

block::values look_back::combined_since(const Index& first, const Index& count) const {
    const block::values own = block::variables("own", does_.identity());
    const Int lane = g_.lane();
    IF (lane < cast<int>(count)) {
        block::write(own, awaited(first + lane));
    }
    const block::values scanned = block::sub_group_scan_inclusive(g_, does_, block::read(own), exchange_);
    if (!g_.has_sub_groups()) g_.barrier();
    block::values made = block::shuffle(g_, scanned, g_.last(), exchange_);
    if (!g_.has_sub_groups()) g_.barrier();
    return made;
}

void look_back::announce(const Index& number, const block::values& list) const {
    if (in_words_) {
        atomic_store(words()[number + 1], packed(list));
    } else {
        slots(given_["values"], types_, 0).store(number, list);
        atomic_store_release(words()[number + 1], std::uint64_t{1});
    }
}

block::values look_back::awaited(const Index& number) const {
    ULong word = named("word", atomic_load(words()[number + 1]));
    WHILE (word == 0u) word = atomic_load(words()[number + 1]);
    if (in_words_) return unpacked(word, types_);
    device_fence();
    return slots(given_["values"], types_, 0).load(number);
}

Ptr<std::uint64_t> look_back::words() const { return Ptr<std::uint64_t>(given_["words"]); }
Index look_back::given(parameter_name name) const { return Index(given_[name]); }

}  // namespace balm::array
