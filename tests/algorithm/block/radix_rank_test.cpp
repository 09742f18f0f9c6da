// Stable ranks of a tile by one digit, against std::stable_sort.

#include "algorithm/block/radix_rank.hpp"

#include <numeric>

#include "algorithm/block/exchange.hpp"
#include "algorithm/block/run.hpp"
#include "algorithm/block/tile.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrangement;
using block::elements;
using block::group_shape;
using block::values;

/// Sorts tiles of numbers by their lowest bits; behind each, where its digits begin.
void ranks(int bits, int each, std::size_t most, std::uint32_t drawn,
           std::initializer_list<bool> forms = {false, true}) {
    const auto make = [=](const group_shape& shape) {
        return balm::kernel<1>("ranks(in, out)", [=](In<std::uint32_t> in, Out<std::uint32_t> out) {
            const block::group g(shape);
            const block::radix_rank rank(g, bits);
            const block::types types{scalar::u32};
            const block::arrays room = g.shared("room", types, block::exchange_room(g, types, each));
            const Int tile = g.items() * each;
            const Index begin = named("begin", group_id(0) * tile);
            const auto at = [&](const Index& i) { return values{node_of(UInt(in[i] & drawn))}; };
            elements own = block::load(g, block::radix_rank::arranged(g), each, begin, at);
            const auto digit = [&](int k) {
                return cast<int>(UInt(own[static_cast<std::size_t>(k)][0]) & ((1u << bits) - 1u));
            };
            const block::radix_rank::counted counted = rank.count(each, digit);
            const std::vector<Int> ranks = rank.ranks(each, digit, counted);
            own = block::scatter(g, own, ranks, arrangement::striped, room);
            const Index target = named("target", begin + group_id(0) * (1 << bits));
            block::store(g, arrangement::striped, own, target, target + tile,
                         [&](const Index& i, const values& one) { out[i] = UInt(one[0]); });
            for (Int d : range(g.item(), Int(1 << bits), g.items()))
                out[target + tile + d] = cast<unsigned>(rank.start(d));
        });
    };
    const auto expected = [=](std::span<const std::uint32_t> in) {
        const auto digit = [=](std::uint32_t key) { return key & ((1u << bits) - 1u); };
        std::vector<std::uint32_t> wanted;
        for (const std::uint32_t key : in) wanted.push_back(key & drawn);
        std::stable_sort(wanted.begin(), wanted.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return digit(a) < digit(b); });
        const std::vector<std::uint32_t> sorted = wanted;
        for (std::uint32_t d = 0; d < 1u << bits; ++d)
            wanted.push_back(static_cast<std::uint32_t>(std::count_if(
                sorted.begin(), sorted.end(), [&](std::uint32_t key) { return digit(key) < d; })));
        return wanted;
    };
    block_case<std::uint32_t, std::uint32_t> tiles(static_cast<std::size_t>(each), expected);
    for (const bool shuffles : forms) tiles.run(make, most, shuffles);
}

}  // namespace

TEST(block_radix_rank, is_stable) {
    ranks(4, 1, 256, ~0u);
    ranks(4, 3, 128, ~0u);
    ranks(1, 8, 64, ~0u);
    ranks(2, 16, 32, ~0u);
    ranks(6, 4, 32, ~0u);
}

// As a sort of large arrays takes them: in local memory there is room for few work-items only.
TEST(block_radix_rank, takes_digits_of_eight_bits) {
    ranks(8, 4, 256, ~0u, {true});
    ranks(8, 4, 3, ~0u, {false});
}

// All digits equal, and two of them.
TEST(block_radix_rank, takes_digits_that_repeat) {
    ranks(4, 4, 128, ~15u);
    ranks(4, 4, 128, ~7u);
}

}  // namespace balm::test
