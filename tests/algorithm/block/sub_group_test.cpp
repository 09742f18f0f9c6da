// Shuffles, ballot and match, with sub-groups and without.

#include "algorithm/block/sub_group.hpp"

#include "algorithm/block/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrays;
using block::group_shape;
using block::values;

/// The lanes of work-item i's sub-group, and its number among them.
struct host_lanes {
    std::size_t first, count, lane;
    host_lanes(std::size_t i, std::size_t items)
        : first(i / 32 * 32), count(std::min<std::size_t>(32, items - first)), lane(i - first) {}
    /// The work-item of this lane, or i where it is absent.
    std::size_t item(std::int64_t other) const {
        const bool is_there = other >= 0 && other < static_cast<std::int64_t>(count);
        return first + (is_there ? static_cast<std::size_t>(other) : lane);
    }
};

/// Three shuffles of each element: from lane 3 ahead, from 5 behind, and from the lane that its number says.
template <class T>
void shuffles() {
    SCOPED_TRACE(sizeof(T));
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("shuffles(in, out)", [=](In<T> in, Out<T> out) {
            const block::group g(shape);
            const values own{node_of(Var<T>(in[global_id(0)]))};
            const arrays shared = g.shared("shared", block::types_of(own), shape.most);
            const Index at = named("at", group_id(0) * (3 * g.items()) + g.item() * 3);
            out[at] = Var<T>(block::shuffle_up(g, own, 3, shared)[0]);
            g.barrier();
            out[at + 1] = Var<T>(block::shuffle_down(g, own, 5, shared)[0]);
            g.barrier();
            out[at + 2] = Var<T>(block::shuffle(g, own, g.lane() * 7 & 31, shared)[0]);
        });
    };
    block_case<T, T>(1, [&](std::span<const T> in) {
        std::vector<T> wanted;
        for (std::size_t i = 0; i < in.size(); ++i) {
            const host_lanes me(i, in.size());
            const auto lane = static_cast<std::int64_t>(me.lane);
            wanted.push_back(in[me.item(lane - 3)]);
            wanted.push_back(in[me.item(lane + 5)]);
            wanted.push_back(in[me.item(lane * 7 % 32)]);
        }
        return wanted;
    }).run(make, 128);
}

}  // namespace

TEST(block_sub_group, shuffles_elements_of_every_size) {
    shuffles<std::uint8_t>();
    shuffles<std::int16_t>();
    shuffles<float>();
    shuffles<double>();
    shuffles<triple>();
    shuffles<matrix>();
    shuffles<float4>();
    shuffles<ragged>();
}

TEST(block_sub_group, ballots) {
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("ballots(in, out)", [=](In<int> in, Out<std::uint32_t> out) {
            const block::group g(shape);
            const arrays shared = g.shared("shared", {scalar::boolean}, shape.most);
            out[global_id(0)] = block::ballot(g, in[global_id(0)] % 3 == 0, shared);
        });
    };
    block_case<int, std::uint32_t>(1, [&](std::span<const int> in) {
        std::vector<std::uint32_t> wanted(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            const host_lanes me(i, in.size());
            for (std::size_t k = 0; k < me.count; ++k)
                wanted[i] |= static_cast<std::uint32_t>(in[me.first + k] % 3 == 0) << k;
        }
        return wanted;
    }).run(make, 256);
}

TEST(block_sub_group, matches_labels) {
    for (const int bits : {1, 3, 8}) {
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("matches(in, out)", [=](In<int> in, Out<std::uint32_t> out) {
                const block::group g(shape);
                const arrays shared = g.shared("shared", {scalar::i32}, shape.most);
                const Int label = in[global_id(0)] & ((1 << bits) - 1);
                out[global_id(0)] = block::match(g, label, bits, shared);
            });
        };
        block_case<int, std::uint32_t>(1, [&](std::span<const int> in) {
            std::vector<std::uint32_t> wanted(in.size());
            const int mask = (1 << bits) - 1;
            for (std::size_t i = 0; i < in.size(); ++i) {
                const host_lanes me(i, in.size());
                for (std::size_t k = 0; k < me.count; ++k)
                    wanted[i] |= static_cast<std::uint32_t>((in[me.first + k] & mask) == (in[i] & mask)) << k;
            }
            return wanted;
        }).run(make, 256);
    }
}

}  // namespace balm::test
