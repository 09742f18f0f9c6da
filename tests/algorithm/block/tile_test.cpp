// Loads and stores of tiles, whole and not.

#include "algorithm/block/tile.hpp"

#include "algorithm/block/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrangement;
using block::elements;
using block::group_shape;
using block::values;

}  // namespace

// The last tile of a group's elements ends in the middle: two tiles, of which the second has holes.
TEST(block_tile, puts_the_default_behind_the_end) {
    for (const arrangement how : {arrangement::blocked, arrangement::striped, arrangement::sub_group_striped})
        for (const int each : {1, 4}) {
            const auto make = [&](const group_shape& shape) {
                return balm::kernel<1>("tiles(in, out)", [=](In<triple> in, Out<triple> out) {
                    const block::group g(shape);
                    const Int tile = g.items() * each;
                    const Index begin = named("begin", group_id(0) * tile);
                    const Index end = begin + (tile + 1) / 2;
                    Var<triple> nothing;
                    nothing.a = 77u;
                    const auto at = [&](const Index& i) { return values{node_of(Var<triple>(in[i]))}; };
                    const auto give = [&](const Index& i, const values& one) {
                        out[i + group_id(0) * tile] = Var<triple>(one[0]);
                    };
                    const elements part = block::load(g, how, each, begin, end, at, {node_of(nothing)});
                    block::store(g, how, part, begin, begin + tile, give);
                    // What is not stored, the host set to zero.
                    const elements whole = block::load(g, how, each, begin, at);
                    block::store(g, how, whole, begin, end,
                                 [&](const Index& i, const values& one) { give(i + tile, one); });
                    Var<triple> zero;
                    for (Int k : range(g.item(), tile, g.items())) {
                        IF (begin + k >= end) {
                            give(begin + tile + k, {node_of(zero)});
                        }
                    }
                });
            };
            block_case<triple, triple>(static_cast<std::size_t>(each), [&](std::span<const triple> in) {
                std::vector<triple> wanted(in.begin(), in.end());
                const auto end = static_cast<std::ptrdiff_t>((in.size() + 1) / 2);
                std::fill(wanted.begin() + end, wanted.end(), triple{77, 0, 0});
                wanted.insert(wanted.end(), in.begin(), in.begin() + end);
                wanted.resize(2 * in.size());
                return wanted;
            }).run(make, 128);
        }
}

namespace {

template <class T>
void copies_in_vectors(int each) {
    SCOPED_TRACE(each);
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("copy(in, out)", [=](In<T> in, Mixed<T> out) {
            const block::group g(shape);
            const Index begin = named("begin", group_id(0) * (g.items() * each));
            block::store_vectors(g, block::load_vectors(g, each, in.node(), begin), out.node(), begin);
        });
    };
    block_case<T, T>(static_cast<std::size_t>(each), [](std::span<const T> in) {
        return std::vector<T>(in.begin(), in.end());
    }).run(make, 33);
}

}  // namespace

TEST(block_tile, moves_short_vectors) {
    for (const int each : {1, 3, 4, 8, 16}) {
        copies_in_vectors<std::uint8_t>(each);
        copies_in_vectors<double>(each);
    }
    copies_in_vectors<std::int16_t>(8);
    copies_in_vectors<float>(4);
    EXPECT_EQ(block::vector_lanes(scalar::u8, 16), 16);
    EXPECT_EQ(block::vector_lanes(scalar::u8, 24), 8);
    EXPECT_EQ(block::vector_lanes(scalar::f64, 16), 2);
    EXPECT_EQ(block::vector_lanes(scalar::f32, 3), 1);
}

}  // namespace balm::test
