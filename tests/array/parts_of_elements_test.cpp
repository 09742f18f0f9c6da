// Lanes and members of the elements of vectors and views, assigned to: the rest of each element stays.

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernel/run.hpp"
#include "support/vectors.hpp"

namespace balm::test {

struct joint {
    std::int32_t links;
    balm::float2 angles;
};
BALM_STRUCT(joint, links, angles)

enum class side : std::int16_t { left, right };

struct limb {
    balm::float4 place;
    float mass;
    std::uint8_t kind;
    joint end;
    half weight;
    bool is_awake;
    side on;
    std::int32_t nerves[3];
};
BALM_STRUCT(limb, place, mass, kind, end, weight, is_awake, on, nerves)

namespace {

std::vector<balm::float4> random_vectors(std::mt19937_64& random, std::size_t n) {
    std::vector<balm::float4> list(n);
    for (balm::float4& v : list)
        for (int k = 0; k < 4; ++k) v[k] = static_cast<float>(static_cast<int>(random() % 200) - 100);
    return list;
}

/// Equal in all lanes.
void expect_vectors(const vector<balm::float4>& got, const std::vector<balm::float4>& expected) {
    const auto host = got.to_host();
    ASSERT_EQ(host.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        for (int k = 0; k < 4; ++k) ASSERT_EQ(host[i][k], expected[i][k]) << "lane " << k << " of " << i;
}

TEST(V4_parts_of_elements, are_lanes_that_are_assigned) {
    auto random = seeded_random();
    const auto v = random_vectors(random, odd_count), w = random_vectors(random, odd_count);
    on_all_contexts([&](const context& ctx) {
        vector<balm::float4> a(ctx, v);
        const vector<balm::float4> b(ctx, w);
        vector<std::int32_t> number(ctx, odd_count);
        number = element_index();
        auto expected = v;
        lane<0>(a) = 7;
        lane<1>(a) += 2 * lane<3>(b) - number;
        lane<2>(a) = lane<2>(b);
        lane<3>(a) = lane<0>(b);
        for (std::size_t i = 0; i < odd_count; ++i) {
            const float more = 2 * w[i][3] - static_cast<float>(i);
            expected[i] = {7, expected[i][1] + more, w[i][2], w[i][0]};
        }
        expect_vectors(a, expected);

        lanes<2, 0>(a) = lanes<0, 1>(a);  // both from what was there
        lane<3>(a) = lane<3>(a) * lane<1>(a);
        for (balm::float4& each : expected) each = {each[1], each[1], each[0], each[3] * each[1]};
        expect_vectors(a, expected);
        lanes<0, 1>(a) *= 0.5f;
        lanes<3, 1>(a) = balm::float2{3, 4};
        for (balm::float4& each : expected) each = {each[0] / 2, 4, each[2], 3};
        expect_vectors(a, expected);
    });
}

TEST(V4_parts_of_elements, are_assigned_in_views) {
    auto random = seeded_random();
    const auto v = random_vectors(random, odd_count);
    on_all_contexts([&](const context& ctx) {
        vector<balm::float4> a(ctx, v);
        auto expected = v;
        lane<1>(a(slice(0, odd_count, 2))) = -1;
        for (std::size_t i = 0; i < odd_count; i += 2) expected[i][1] = -1;
        expect_vectors(a, expected);

        auto turned = a[odd_count - 1 - element_index()];
        lane<2>(turned) = lane<0>(a) + 1;
        for (std::size_t i = 0; i < odd_count; ++i) expected[odd_count - 1 - i][2] = v[i][0] + 1;
        expect_vectors(a, expected);

        lane<0>(a) = lane<0>(turned);  // what was there before
        for (std::size_t i = 0; i < odd_count; ++i) expected[i][0] = v[odd_count - 1 - i][0];
        expect_vectors(a, expected);
    });
}

TEST(V4_parts_of_elements, are_members_that_are_assigned) {
    std::vector<limb> host(odd_count);
    auto random = seeded_random();
    const auto places = random_vectors(random, odd_count);
    for (std::size_t i = 0; i < odd_count; ++i)
        host[i] = {places[i],  0.5f,  3,          {static_cast<std::int32_t>(i), {1, 2}},
                   half(1.5f), false, side::left, {1, 2, 3}};
    on_all_contexts([&](const context& ctx) {
        vector<limb> limbs(ctx, host);
        vector<float> x(ctx, odd_count, 4.f);
        field<&limb::mass>(limbs) = x * 2;
        field<&limb::mass>(limbs) /= 16;
        field<&limb::kind>(limbs) = element_index() % 200;
        field<&limb::place>(limbs) += 1;
        field<&limb::weight>(limbs) = 0.25;
        field<&limb::is_awake>(limbs) = element_index() % 2 == 0;
        field<&limb::on>(limbs) = static_cast<std::int16_t>(side::right);
        lane<3>(field<&limb::place>(limbs)) = x;
        const auto got = limbs.to_host();
        for (std::size_t i = 0; i < odd_count; ++i) {
            const limb& each = got[i];
            EXPECT_EQ(each.mass, 0.5f);
            EXPECT_EQ(each.kind, i % 200);
            for (int k = 0; k < 3; ++k) EXPECT_EQ(each.place[k], places[i][k] + 1);
            EXPECT_EQ(each.place[3], 4);
            EXPECT_EQ(each.end.links, static_cast<int>(i));
            EXPECT_EQ(static_cast<float>(each.weight), 0.25f);
            EXPECT_EQ(each.is_awake, i % 2 == 0);
            EXPECT_EQ(each.on, side::right);
            EXPECT_THAT(each.nerves, testing::ElementsAre(1, 2, 3));
        }
        field<&limb::end>(limbs) = joint{5, {6, 7}};
        field<&joint::links>(field<&limb::end>(limbs)) -= element_index();
        field<&joint::links>(field<&limb::end>(limbs(slice(1, 2)))) = 9;
        const auto ends = limbs.to_host();
        for (std::size_t i = 0; i < odd_count; ++i) {
            EXPECT_EQ(ends[i].end.links, i == 1 ? 9 : 5 - static_cast<int>(i));
            EXPECT_EQ(ends[i].end.angles[1], 7);
            EXPECT_EQ(ends[i].kind, i % 200);
            EXPECT_EQ(ends[i].nerves[2], 3);
        }
    });
}

/// Assigns random lanes of vectors of V, one after the other, and compares with the host.
template <class V>
void assign_random_lanes(const context& ctx, std::mt19937_64& random) {
    using T = typename V::value_type;
    constexpr int lanes_of_v = static_cast<int>(V::size());
    const auto numbers = [&](std::size_t n) {
        std::vector<V> list(n);
        for (V& v : list)
            for (int k = 0; k < lanes_of_v; ++k) v[k] = static_cast<T>(random() % 50);
        return list;
    };
    std::vector<V> a = numbers(odd_count), b = numbers(odd_count);
    vector<V> x(ctx, a);
    const vector<V> y(ctx, b);
    const auto by = static_cast<T>(random() % 2);
    lane<lanes_of_v - 1>(x) = lane<0>(y);
    lane<0>(x) = lane<lanes_of_v - 1>(x);
    lanes<1, 0>(x) = lanes<0, 1>(x) + lanes<0, lanes_of_v - 1>(y);
    lane<1>(x(slice(1, odd_count, 3))) -= by;
    for (std::size_t i = 0; i < odd_count; ++i) {
        V& v = a[i];
        v[lanes_of_v - 1] = b[i][0];
        v[0] = v[lanes_of_v - 1];
        const T first = v[0], second = v[1];
        v[1] = static_cast<T>(first + b[i][0]);
        v[0] = static_cast<T>(second + b[i][lanes_of_v - 1]);
        if (i % 3 == 1) v[1] = static_cast<T>(v[1] - by);
    }
    const auto got = x.to_host();
    for (std::size_t i = 0; i < odd_count; ++i)
        for (int k = 0; k < lanes_of_v; ++k) ASSERT_EQ(got[i][k], a[i][k]) << "lane " << k << " of " << i;
}

TEST(V4_parts_of_elements, are_lanes_of_any_type) {
    auto random = seeded_random();
    const auto state = random;
    on_all_contexts([&](const context& ctx) {
        random = state;
        assign_random_lanes<balm::int2>(ctx, random);
        assign_random_lanes<balm::float3>(ctx, random);
        assign_random_lanes<balm::uchar4>(ctx, random);
        assign_random_lanes<balm::short8>(ctx, random);
        assign_random_lanes<balm::ulong2>(ctx, random);
        assign_random_lanes<balm::float16>(ctx, random);
    });
}

TEST(V4_parts_of_elements, are_expressions_otherwise) {
    on_all_contexts([](const context& ctx) {
        vector<balm::float4> a(ctx, 3, balm::float4{1, 2, 3, 4});
        const bool first = a.size() == 3;
        vector<float> y = first ? lane<1>(a) : lane<2>(a);
        y = first ? y + lane<3>(a) : lane<0>(a);
        EXPECT_THAT(y.to_host(), testing::Each(6.f));
        EXPECT_EQ(balm::sum(lane<2>(a)), 9);
        const auto kept = lane<0>(a);
        lane<0>(a) = 5;
        EXPECT_THAT(kept.to_host(), testing::Each(5.f));
        auto place = lane<1>(a), same = place;
        same = 8;
        place += 1;
        EXPECT_EQ(balm::sum(lane<1>(a)), 27);
        vector<float> other(ctx, 4, 0.f);
        EXPECT_THROW(lane<0>(a) = other, usage_error);
        vector<balm::float4> none;
        lane<0>(none) = 1;
        EXPECT_TRUE(none.empty());
        vector<float> one(ctx, 1, 0.f);
        EXPECT_THROW(lane<0>(a) = one, usage_error);
        EXPECT_THROW(lane<0>(a) = lane<1>(a(slice(0, 1))), usage_error);
        lane<0>(a) *= one;
        EXPECT_EQ(balm::sum(lane<0>(a)), 0);
        lane<0>(a) = balm::inclusive_scan(lane<2>(a));
        lane<1>(a) = lane<0>(a)[2 - element_index()];
        EXPECT_THAT(vector<float>(lane<1>(a)).to_host(), testing::ElementsAre(9, 6, 3));
        lane<2>(a) = balm::argument(2.5);
        lanes<3, 2>(a) = 2 * lanes<2, 1>(a);
        EXPECT_THAT(vector<float>(lane<2>(a)).to_host(), testing::ElementsAre(18, 12, 6));
        EXPECT_EQ(balm::sum(lane<3>(a)), 15);
    });
}

}  // namespace

}  // namespace balm::test
