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

/// Copies each group's tile; of one that is cut short the first half, and the default behind it.
template <class T>
void copies_runs(block::runs how, bool in_vectors, bool is_cut) {
    SCOPED_TRACE(how.length);
    const auto each = static_cast<std::size_t>(how.elements());
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("copy(in, out)", [=](In<T> in, Mixed<T> out) {
            const block::group g(shape);
            const Int tile = g.items() * how.elements();
            const Index begin = named("begin", group_id(0) * tile), end = begin + tile;
            const auto at = [&](const Index& i) { return values{node_of(Var<T>(in[i]))}; };
            const auto at_run = [&](const Index& number, int k) { return at(number * how.length + k); };
            const auto give = [&](const Index& i, const values& one) { out[i] = Var<T>(one[0]); };
            const auto give_run = [&](const Index& number, const elements& run) {
                if (in_vectors) return block::store_vector(out.node(), number, run);
                for (int k = 0; k < how.length; ++k)
                    give(number * how.length + k, run[static_cast<std::size_t>(k)]);
            };
            const Index last = is_cut ? begin + (tile + 1) / 2 : Index(end);
            const elements part = block::load(g, how, begin, last, at_run, at, {node_of(Var<T>(T{77}))});
            block::store(g, how, part, begin, end, give_run, give);
        });
    };
    block_case<T, T>(each, [&](std::span<const T> in) {
        std::vector<T> wanted(in.begin(), in.end());
        if (!is_cut) return wanted;
        const auto half = static_cast<std::ptrdiff_t>((in.size() + 1) / 2);
        std::fill(wanted.begin() + half, wanted.end(), T{77});
        return wanted;
    }).run(make, 33);
}

}  // namespace

TEST(block_tile, moves_runs_of_neighbours) {
    for (const bool in_vectors : {false, true})
        for (const bool is_cut : {false, true}) {
            copies_runs<std::uint8_t>({1, 16}, in_vectors, is_cut);
            copies_runs<std::int16_t>({2, 8}, in_vectors, is_cut);
            copies_runs<float>({4, 4}, in_vectors, is_cut);
            copies_runs<double>({3, 2}, in_vectors, is_cut);
            copies_runs<double>({3, 1}, in_vectors, is_cut);
        }
}

}  // namespace balm::test
