// Elements of tiles between arrangements, and to ranks.

#include "algorithm/block/exchange.hpp"

#include <numeric>

#include "algorithm/block/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrangement;
using block::arrays;
using block::elements;
using block::group_shape;
using block::values;

/// A work-item's elements in memory, one behind the other.
template <class T>
elements own_elements(const In<T>& in, int each) {
    const Index begin = named("begin", (group_id(0) * local_size(0) + local_id(0)) * each);
    elements own;
    for (int k = 0; k < each; ++k) own.push_back({node_of(Var<T>(in[begin + k]))});
    return own;
}
template <class T>
void give_elements(const Out<T>& out, const elements& own) {
    const auto each = static_cast<int>(own.size());
    const Index begin = named("target", (group_id(0) * local_size(0) + local_id(0)) * each);
    for (int k = 0; k < each; ++k) out[begin + k] = Var<T>(own[static_cast<std::size_t>(k)][0]);
}

/// The position in the tile of work-item i's element k.
std::size_t position(arrangement how, std::size_t items, std::size_t each, std::size_t i, std::size_t k) {
    const std::size_t first = i / 32 * 32, lanes = std::min<std::size_t>(32, items - first);
    switch (how) {
        case arrangement::blocked: return i * each + k;
        case arrangement::striped: return k * items + i;
        default: return first * each + k * lanes + i % 32;
    }
}
template <class T>
void exchanges(arrangement from, arrangement to, std::size_t each, std::size_t most) {
    SCOPED_TRACE(sizeof(T));
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("exchange(in, out)", [=](In<T> in, Out<T> out) {
            const block::group g(shape);
            const auto count = static_cast<int>(each);
            const block::types types{balm::detail::type_of_element<T>()};
            const arrays shared = g.shared("shared", types, block::exchange_room(g, types, count));
            give_elements(out, block::exchange(g, own_elements(in, count), from, to, shared));
        });
    };
    block_case<T, T>(each, [&](std::span<const T> in) {
        const std::size_t items = in.size() / each;
        std::vector<T> tile(in.size()), wanted;
        for (std::size_t i = 0; i < in.size(); ++i)
            tile[position(from, items, each, i / each, i % each)] = in[i];
        for (std::size_t i = 0; i < in.size(); ++i)
            wanted.push_back(tile[position(to, items, each, i / each, i % each)]);
        return wanted;
    }).run(make, most);
}

}  // namespace

TEST(block_exchange, of_all_arrangements) {
    constexpr arrangement all[] = {arrangement::blocked, arrangement::striped,
                                   arrangement::sub_group_striped};
    std::size_t each = 1;
    for (const arrangement from : all)
        for (const arrangement to : all) {
            exchanges<std::uint32_t>(from, to, each, 256);
            each = each == 1 ? 3 : each == 3 ? 4 : each == 4 ? 8 : 1;
        }
}

TEST(block_exchange, of_elements_of_every_size) {
    exchanges<std::uint8_t>(arrangement::striped, arrangement::blocked, 16, 128);
    exchanges<std::int16_t>(arrangement::blocked, arrangement::striped, 4, 128);
    exchanges<double>(arrangement::blocked, arrangement::sub_group_striped, 8, 128);
    exchanges<triple>(arrangement::striped, arrangement::blocked, 4, 128);
    exchanges<matrix>(arrangement::blocked, arrangement::striped, 8, 64);
    exchanges<ragged>(arrangement::sub_group_striped, arrangement::striped, 3, 100);
}

// Random ranks, and two values of different sizes at once.
TEST(block_exchange, scatters_to_ranks) {
    for (const std::size_t each : {1, 3, 8}) {
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("scatter(in, out)", [=](In<ragged> in, Out<ragged> out) {
                const block::group g(shape);
                const auto count = static_cast<int>(each);
                const block::types types{scalar::i32, scalar::i64};
                const arrays shared = g.shared("shared", types, block::exchange_room(g, types, count));
                // Reversed, and from there on an odd distance apart.
                const Int tile = g.items() * count;
                elements own;
                std::vector<Int> ranks;
                for (int k = 0; k < count; ++k) {
                    const Int at = g.item() * count + k;
                    Var<ragged> one = in[group_id(0) * tile + at];
                    own.push_back({node_of(cast<int>(UShort(one.key))), node_of(Long(one.value))});
                    ranks.push_back((tile - 1 - at + 5) % tile);
                }
                own = block::scatter(g, own, ranks, arrangement::blocked, shared);
                for (int k = 0; k < count; ++k) {
                    Var<ragged> one;
                    one.key = cast<std::uint16_t>(Int(own[static_cast<std::size_t>(k)][0]));
                    one.value = Long(own[static_cast<std::size_t>(k)][1]);
                    out[group_id(0) * tile + g.item() * count + k] = one;
                }
            });
        };
        block_case<ragged, ragged>(each, [&](std::span<const ragged> in) {
            std::vector<ragged> wanted(in.size());
            for (std::size_t k = 0; k < in.size(); ++k)
                wanted[(in.size() - 1 - k + 5) % in.size()] = {in[k].key, {}, in[k].value};
            return wanted;
        }).run(make, 128);
    }
}

// A room that two exchanges of different types share, one after the other.
TEST(block_exchange, shares_its_memory) {
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("shares(in, out)", [=](In<triple> in, Out<triple> out) {
            const block::group g(shape);
            const block::types bytes{scalar::u8}, wide{scalar::f64};
            const block::room room(std::max(block::room::bytes_of(bytes, block::exchange_room(g, bytes, 2)),
                                            block::room::bytes_of(wide, block::exchange_room(g, wide, 2))));
            const arrays of_bytes = room.of(bytes, block::exchange_room(g, bytes, 2));
            const arrays of_wide = room.of(wide, block::exchange_room(g, wide, 2));
            const elements own = own_elements(in, 2);
            elements first, second;
            for (const values& each : own) {
                Var<triple> one(each[0]);
                first.push_back({node_of(cast<std::uint8_t>(UInt(one.a) & 255u))});
                second.push_back({node_of(Double(Float(one.c)))});
            }
            first = block::exchange(g, first, arrangement::blocked, arrangement::striped, of_bytes);
            g.barrier();
            second = block::exchange(g, second, arrangement::striped, arrangement::blocked, of_wide);
            elements made;
            for (std::size_t k = 0; k < 2; ++k) {
                Var<triple> one;
                one.a = UInt(UChar(first[k][0]));
                one.c = cast<float>(Double(second[k][0]));
                made.push_back({node_of(one)});
            }
            give_elements(out, made);
        });
    };
    block_case<triple, triple>(2, [&](std::span<const triple> in) {
        const std::size_t items = in.size() / 2;
        std::vector<triple> wanted(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            wanted[i].a = in[i % 2 * items + i / 2].a & 255;  // striped from blocked
            wanted[i % 2 * items + i / 2].c = in[i].c;        // blocked from striped: tile order
        }
        return wanted;
    }).run(make, 128);
}

}  // namespace balm::test
