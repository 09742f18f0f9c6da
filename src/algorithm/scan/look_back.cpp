#include "algorithm/scan/look_back.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithm/block/sub_group.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"
#include "balm/vector.hpp"

namespace balm::array {

namespace {

using block::Index;
using dsl::atomic_load;
using dsl::atomic_store;
using dsl::bit_cast;
using dsl::Bool;
using dsl::cast;
using dsl::Double;
using dsl::Float;
using dsl::Int;
using dsl::named;
using dsl::Ptr;
using dsl::ULong;

/// A run has as many tiles, and a block as many runs, as a sub-group has lanes.
constexpr int run_bits = 5, block_bits = 10;
constexpr std::int64_t last_of_run = (1 << run_bits) - 1;
static_assert(block::lanes == last_of_run + 1);

/// The bit of a word that says that it is announced; the bits below it are those of values.
constexpr int announced_bit = 63;

/// The bits of a lane in a word. Lanes of 64 bits are divided into halves, so that each word by itself says
/// that it is announced: no fence orders words.
struct packed_bits {
    std::size_t lane;  ///< among the lanes of all values
    int from, bits;    ///< of the lane
    std::size_t word;
    int bit;  ///< of the word
};
/// The types of the lanes of all values.
std::vector<scalar> lanes_of(const block::types& types) {
    std::vector<scalar> made;
    for (const trace::type& each : types) made.insert(made.end(), each.lanes, each.element);
    return made;
}
/// The first lane takes `first_bits` bits, or all those of its type if that is 0.
std::vector<packed_bits> layout_of(const block::types& types, int first_bits) {
    std::vector<packed_bits> made;
    std::size_t word = 0;
    int used = 0;
    const std::vector<scalar> lanes = lanes_of(types);
    for (std::size_t v = 0; v < lanes.size(); ++v) {
        int bits = lanes[v] == scalar::boolean ? 1 : 8 * static_cast<int>(size_of(lanes[v]));
        if (v == 0 && first_bits > 0) bits = first_bits;
        for (int from = 0; from < bits; from += 32) {
            const int count = std::min(bits - from, 32);
            if (used + count > announced_bit) {
                ++word;
                used = 0;
            }
            made.push_back({v, from, count, word, used});
            used += count;
        }
    }
    return made;
}
std::size_t words_of(const block::types& types, int first_bits) {
    return layout_of(types, first_bits).back().word + 1;
}

/// The bits of a value, as the low bits of an integer.
ULong bits_of(const trace::node& value) {
    switch (value.type.element) {
        case scalar::f32: return cast<std::uint64_t>(bit_cast<unsigned>(Float(value)));
        case scalar::f64: return bit_cast<std::uint64_t>(Double(value));
        default: return ULong(trace::convert(value, scalar::u64));
    }
}
trace::node value_of(const ULong& bits, scalar type) {
    switch (type) {
        case scalar::f32: return block::node_of(bit_cast<float>(cast<unsigned>(bits)));
        case scalar::f64: return block::node_of(bit_cast<double>(bits));
        case scalar::boolean: return block::node_of(bits != 0u);
        default: return trace::convert(block::node_of(bits), type);
    }
}
ULong low_bits(const ULong& word, int count) { return word & ((std::uint64_t{1} << count) - 1); }

block::values packed(const block::values& list, int first_bits) {
    const block::types types = block::types_of(list);
    block::values lanes;
    for (const trace::node& each : list)
        for (std::uint64_t k = 0; k < each.type.lanes; ++k)
            lanes.push_back(each.type.lanes == 1 ? each : trace::swizzle(each, k, 1));
    block::values words(words_of(types, first_bits),
                        block::node_of(ULong(std::uint64_t{1} << announced_bit)));
    for (const packed_bits& each : layout_of(types, first_bits)) {
        const ULong part = low_bits(bits_of(lanes[each.lane]) >> each.from, each.bits);
        words[each.word] = block::node_of(ULong(words[each.word]) | part << each.bit);
    }
    return words;
}
block::values unpacked(const block::values& words, const block::types& types, int first_bits) {
    const std::vector<scalar> lanes = lanes_of(types);
    block::values bits(lanes.size(), block::node_of(ULong(std::uint64_t{0})));
    for (const packed_bits& each : layout_of(types, first_bits)) {
        const ULong part = low_bits(ULong(words[each.word]) >> each.bit, each.bits);
        bits[each.lane] = block::node_of(ULong(bits[each.lane]) | part << each.from);
    }
    for (std::size_t v = 0; v < lanes.size(); ++v) bits[v] = value_of(ULong(bits[v]), lanes[v]);
    block::values made;
    const trace::node* next = bits.data();
    for (const trace::type& each : types) {
        made.push_back(each.lanes == 1 ? *next : trace::compose(each, next, each.lanes));
        next += each.lanes;
    }
    return made;
}

}  // namespace

bool can_be_announced(const block::types& types) {
    constexpr std::size_t most_words = 8;
    return std::none_of(types.begin(), types.end(), [](auto& each) { return each.aggregate != 0; }) &&
           words_of(types, 0) <= most_words;
}

announcements::announcements(std::size_t tiles, const block::types& types, int first_bits)
    : runs(tiles),
      blocks(runs + (tiles >> run_bits)),
      words(words_of(types, first_bits) * (blocks + (tiles >> block_bits))) {}

announcement_memory::announcement_memory(std::shared_ptr<runtime::device_state> on, std::size_t tiles,
                                         const block::types& types, int first_bits)
    : at_(tiles, types, first_bits), words_(std::move(on), scalar::u64, at_.words) {
    constexpr std::uint64_t nothing = 0;
    fill(words_, &nothing);
}

look_back::look_back(const block::group& g, const block::operation& does, const block::types& types,
                     const parameter_list& given, int first_bits)
    : g_(g),
      does_(does),
      given_(given),
      first_bits_(first_bits),
      types_(types),
      ahead_(g.shared("ahead", types, 1)),
      exchange_(g.shared("exchange", types, g.has_sub_groups() ? 1 : block::scan_room(g))) {}

Index look_back::own_tile() { return named("tile", Index(dsl::group_id(0))); }

void look_back::announce_total(const Index& tile, const block::values& total) const {
    IF (g_.item() == 0) {
        announce(tile, total);
    }
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
    const Int in_run = named("in_run", cast<int>(tile & last_of_run)),
              runs = named("runs", cast<int>(run & last_of_run));
    const Bool is_first = named("is_first", g_.item() == 0);
    // All three are loaded before the first wait.
    const Bool has_tile = named("has_tile", g_.lane() < in_run), has_run = named("has_run", g_.lane() < runs),
               has_prefix = named("has_prefix", is_first && block > 0);
    const Index tile_number = named("tile_number", tile - in_run + g_.lane()),
                run_number = named("run_number", given("first_run") + run - runs + g_.lane()),
                prefix_number = named("prefix_number", given("first_block") + block - 1);
    const block::values tile_words = asked(tile_number, has_tile), run_words = asked(run_number, has_run),
                        prefix_words = asked(prefix_number, has_prefix);
    const block::values of_tiles = combined(awaited(tile_words, tile_number, has_tile, does_.identity()));
    IF (is_first && in_run == last_of_run) {
        announce(given("first_run") + run, does_.combined(of_tiles, total));
    }
    const block::values of_runs = combined(awaited(run_words, run_number, has_run, does_.identity()));
    const block::values prefix = awaited(prefix_words, prefix_number, has_prefix, init);
    IF (is_first) {
        const block::values ahead = does_.combined(does_.combined(prefix, of_runs), of_tiles);
        ahead_.store(Int(0), ahead);
        IF (in_run == last_of_run && runs == last_of_run) {
            announce(given("first_block") + block, does_.combined(ahead, total));
        }
    }
}

block::values look_back::combined(const block::values& own) const {
    const block::values scanned = block::sub_group_scan_inclusive(g_, does_, own, exchange_);
    if (!g_.has_sub_groups()) g_.barrier();
    block::values made = block::shuffle(g_, scanned, g_.last(), exchange_);
    if (!g_.has_sub_groups()) g_.barrier();
    return made;
}

void look_back::announce(const Index& number, const block::values& list) const {
    const block::values words = packed(list, first_bits_);
    for (std::size_t w = 0; w < words.size(); ++w)
        atomic_store(memory(number)[static_cast<std::int64_t>(w)], ULong(words[w]));
}

block::values look_back::asked(const Index& number, const Bool& is_asked) const {
    block::values words = block::variables(
        "word", block::values(words_of(types_, first_bits_), block::node_of(ULong(std::uint64_t{0}))));
    IF (is_asked) {
        block::write(words, read(number));
    }
    return words;
}

block::values look_back::awaited(const block::values& words, const Index& number, const Bool& is_asked,
                                 const block::values& otherwise) const {
    const block::values made = block::variables("own", otherwise);
    IF (is_asked) {
        const auto all = [&] {
            trace::node bits = trace::read(words[0]);
            for (std::size_t w = 1; w < words.size(); ++w)
                bits = block::node_of(ULong(bits) & ULong(trace::read(words[w])));
            return ULong(bits);
        };
        WHILE ((all() >> announced_bit) == 0u) block::write(words, read(number));
        block::write(made, unpacked(block::read(words), types_, first_bits_));
    }
    return block::read(made);
}

block::values look_back::read(const Index& number) const {
    block::values made;
    for (std::size_t w = 0; w < words_of(types_, first_bits_); ++w)
        made.push_back(block::node_of(atomic_load(memory(number)[static_cast<std::int64_t>(w)])));
    return made;
}

Ptr<std::uint64_t> look_back::memory(const Index& number) const {
    return Ptr<std::uint64_t>(given_["words"]) +
           number * static_cast<std::int64_t>(words_of(types_, first_bits_));
}
Index look_back::given(parameter_name name) const { return Index(given_[name]); }

}  // namespace balm::array
