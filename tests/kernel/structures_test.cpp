// Structures: laid out on the device as on the host, passed by value, in buffers, in local memory, returned.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

struct moving_point {
    float4 pos, vel;
    bool operator==(const moving_point&) const = default;
};
BALM_STRUCT(moving_point, pos, vel)

struct inner {
    std::uint8_t tag;
    double weight;
    half small;
    std::int16_t counts[3];
};
BALM_STRUCT(inner, tag, weight, small, counts)

struct alignas(16) outer {
    bool is_on;
    inner parts[2];
    float matrix[2][3];
    float3 direction;
    std::int64_t last;
};
BALM_STRUCT(outer, is_on, parts, matrix, direction, last)

#pragma pack(push, 1)
struct packed {
    std::uint8_t a;
    std::int32_t b;
    std::uint16_t c;
    double d;
};
#pragma pack(pop)
BALM_STRUCT(packed, a, b, c, d)

struct with_gap {
    std::int32_t first;
    std::int32_t unnamed;
    std::int32_t last;
    std::int32_t tail;
};
BALM_STRUCT(with_gap, first, last)

struct one_byte {
    std::int8_t value;
};
BALM_STRUCT(one_byte, value)

/// Elements of twelve bytes that begin anywhere in 16, and anywhere in 8.
struct link {
    std::int32_t to;
    float weights[2];
    bool operator==(const link&) const = default;
};
BALM_STRUCT(link, to, weights)
struct of_sixteen {
    std::int32_t kind[5];
    uint4 colours;
    link own;
    link links[5];
    std::int32_t rest[2];
    bool operator==(const of_sixteen&) const = default;
};
BALM_STRUCT(of_sixteen, kind, colours, own, links, rest)
struct of_eight {
    double mass;
    link own;
    link links[5];
    bool operator==(const of_eight&) const = default;
};
BALM_STRUCT(of_eight, mass, own, links)

// ---- layout -------------------------------------------------------------------------------------------

/// Where the device finds each member: its address less the structure's.
template <class S, class Probe>
std::vector<std::uint64_t> offsets_on(const device& on, std::size_t members, Probe&& probe) {
    const auto kernel =
        balm::kernel<1>("offsets", [&](Mixed<S> s, Out<std::uint64_t> out) { probe(s, out); });
    auto s = on.mixed_buffer<S>(2);
    auto out = on.out_buffer<std::uint64_t>(members + 1);
    on.execute(kernel(s, out), {1});
    const auto got = out.read();
    return {got.begin(), got.end()};
}

TEST(A5_structs, lie_on_the_device_as_on_the_host) {
    on_all_devices([&](const device& on) {
        const auto got = offsets_on<outer>(on, 5, [](Mixed<outer>& s, Out<std::uint64_t>& out) {
            ULong start = address_of(s[0]).address();
            Ptr<outer> p = address_of(s[0]);
            out[0] = address_of(p->matrix[1][2]).address() - start;
            out[1] = address_of(p->direction).address() - start;
            out[2] = address_of(p->last).address() - start;
            out[3] = address_of(p->parts[1]).address() - start;
            out[4] = address_of(p->parts[1].counts[2]).address() - start;
            out[5] = address_of(s[1]).address() - start;
        });
        EXPECT_EQ(got,
                  (std::vector<std::uint64_t>{
                      offsetof(outer, matrix) + 5 * sizeof(float), offsetof(outer, direction),
                      offsetof(outer, last), offsetof(outer, parts) + sizeof(inner),
                      offsetof(outer, parts) + sizeof(inner) + offsetof(inner, counts) + 4, sizeof(outer)}));
    });
}

TEST(A5_structs, packed_and_with_unnamed_members_lie_as_on_the_host) {
    const auto kernel = balm::kernel<1>("layouts", [](In<packed> p, Mixed<with_gap> g, Out<double> out) {
        Index i = global_id(0);
        out[4 * i] = p[i].a;
        out[4 * i + 1] = p[i].b;
        out[4 * i + 2] = p[i].c;
        out[4 * i + 3] = p[i].d;
        g[i].last = g[i].first + 1;
    });
    host_array<packed> p(3);
    host_array<with_gap> g(3);
    for (int i = 0; i < 3; ++i) {
        const auto k = static_cast<std::size_t>(i);
        p[k] = {static_cast<std::uint8_t>(200 + i), -70000 * i, static_cast<std::uint16_t>(60000 + i),
                0.25 * i};
        g[k] = {i * 10, 77, 0, 88};
    }
    on_all_devices([&](const device& on) {
        auto gaps = on.mixed_buffer<with_gap>(3);
        gaps.write(std::span<const with_gap>(g));
        auto out = on.out_buffer<double>(12);
        on.execute(kernel(in(on, p), gaps, out), {3});
        const auto got = out.read();
        const auto after = gaps.read();
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_EQ(got[4 * i], +p[i].a);
            EXPECT_EQ(got[4 * i + 1], +p[i].b);
            EXPECT_EQ(got[4 * i + 2], +p[i].c);
            EXPECT_EQ(got[4 * i + 3], +p[i].d);
            EXPECT_EQ(after[i].last, g[i].first + 1);
            EXPECT_EQ(after[i].unnamed, 77);
            EXPECT_EQ(after[i].tail, 88);
        }
    });
}

// ---- use ----------------------------------------------------------------------------------------------

TEST(A5_structs, are_read_written_and_copied_whole_and_by_member) {
    const auto kernel =
        balm::kernel<1>("move", [](Mixed<moving_point> particles, Float dt, Out<moving_point> copies) {
            Index i = global_id(0);
            Var<moving_point> p = particles[i];
            Var<moving_point> before = p;
            p.pos += dt * p.vel;
            p.vel.xy = p.vel.yx;
            particles[i] = p;
            particles[i].pos.w = 7.f;
            before.vel = 0.f;
            copies[i] = before;
        });
    constexpr std::size_t n = 50;
    auto random = seeded_random();
    host_array<moving_point> start(n);
    std::uniform_int_distribution<int> any(-100, 100);
    for (moving_point& p : start)
        for (int k = 0; k < 4; ++k) {
            p.pos[k] = static_cast<float>(any(random));
            p.vel[k] = static_cast<float>(any(random));
        }
    on_all_devices([&](const device& on) {
        auto particles = on.mixed_buffer<moving_point>(n);
        particles.write(std::span<const moving_point>(start));
        auto copies = on.out_buffer<moving_point>(n);
        on.execute(kernel(particles, 0.5f, copies), {n});
        const auto moved = particles.read();
        const auto kept = copies.read();
        for (std::size_t i = 0; i < n; ++i) {
            moving_point wanted = start[i];
            for (int k = 0; k < 4; ++k) wanted.pos[k] += 0.5f * wanted.vel[k];
            wanted.pos.w = 7;
            std::swap(wanted.vel.x, wanted.vel.y);
            ASSERT_EQ(moved[i], wanted) << i;
            ASSERT_EQ(kept[i], (moving_point{start[i].pos, {}})) << i;
        }
    });
}

TEST(A5_structs, nest_hold_arrays_and_begin_as_zeros) {
    const auto kernel = balm::kernel<1>("nested", [](In<outer> given, Mixed<outer> out) {
        Index i = global_id(0);
        Var<outer> o = given[i];
        o.is_on = !o.is_on;
        o.parts[1].weight += 0.5;
        o.parts[0].counts[i % 3] = 99;
        o.parts[1].small = cast<float>(i) + 0.25f;
        for (Int r : range(2))
            for (Int c : range(3)) o.matrix[r][c] = cast<float>(r * 10 + c);
        o.direction.z = o.direction.x;
        out[2 * i] = o;
        Var<outer> z;
        z.last = given[i].last;
        out[2 * i + 1] = z;
        out[2 * i + 1].parts[0] = o.parts[1];
    });
    constexpr std::size_t n = 6;
    host_array<outer> given(n);
    std::memset(static_cast<void*>(given.data()), 0, n * sizeof(outer));
    for (std::size_t i = 0; i < n; ++i) {
        given[i].is_on = i % 2;
        given[i].parts[1].weight = static_cast<double>(i);
        given[i].parts[1].tag = 17;
        given[i].direction = {{static_cast<float>(i) + 1, 2, 3}};
        given[i].last = static_cast<std::int64_t>(i) << 40;
    }
    on_all_devices([&](const device& on) {
        auto out = on.mixed_buffer<outer>(2 * n);
        host_array<outer> zeros(2 * n);  // padding too, of which kernels write nothing
        std::memset(static_cast<void*>(zeros.data()), 0, zeros.size() * sizeof(outer));
        out.write(std::span<const outer>(zeros));
        on.execute(kernel(in(on, given), out), {n});
        const auto got = out.read();
        for (std::size_t i = 0; i < n; ++i) {
            const outer &o = got[2 * i], &z = got[2 * i + 1];
            EXPECT_EQ(o.is_on, i % 2 == 0);
            EXPECT_EQ(o.parts[1].weight, static_cast<double>(i) + 0.5);
            EXPECT_EQ(o.parts[1].tag, 17);
            EXPECT_EQ(o.parts[0].counts[i % 3], 99);
            EXPECT_EQ(o.parts[0].counts[(i + 1) % 3], 0);
            EXPECT_EQ(static_cast<float>(o.parts[1].small), static_cast<float>(i) + 0.25f);
            for (int r = 0; r < 2; ++r)
                for (int c = 0; c < 3; ++c) EXPECT_EQ(o.matrix[r][c], static_cast<float>(r * 10 + c));
            EXPECT_EQ(o.direction.z, o.direction.x);
            EXPECT_EQ(z.last, given[i].last);
            EXPECT_EQ(z.matrix[1][2], 0);
            EXPECT_EQ(z.parts[0].weight, o.parts[1].weight);
        }
    });
}

/// Writes members of links at positions that only the device knows, in private, global and local memory, and
/// copies the whole.
template <class S>
auto links_kernel() {
    using one_link = std::remove_extent_t<decltype(S::links)>;
    const auto write_eight = balm::function("write_eight(p)", [](PrivatePtr<std::int32_t> p) { *p = 8; });
    const auto write_at =
        balm::function("write_at(p, k)", [](PrivatePtr<one_link> p, Int k) { p[k].to = 5; });
    const auto written = balm::function("written(p, s)", [](PrivatePtr<std::int32_t> p, PrivatePtr<S> s) {
        *p = 4;
        return Var<S>(*s);
    });
    return balm::kernel<1>("links", [=](In<S> given, Local<S> shared, Mixed<S> changed, Mixed<S> copies) {
        Index i = global_id(0), lid = local_id(0);
        Int k = cast<int>(i % 5);
        Var<S> s;
        s.links[k].to = 7;
        copies[6 * i] = s;
        s = given[i];
        s.links[k].weights[i % 2] = 0.5f;
        PrivatePtr<std::int32_t> to = address_of(s.links[(k + 1) % 5].to);
        *to = 6;
        write_eight(address_of(s.links[(k + 2) % 5].to));
        copies[6 * i + 1] = s;
        changed[i] = given[i];
        changed[i].links[k].to += 9;
        copies[6 * i + 2] = changed[i];
        shared[lid] = given[i];
        shared[lid].links[k].to = 3;
        copies[6 * i + 3] = shared[lid];
        Var<S> t = given[i];
        PrivatePtr<std::int32_t> either = address_of(t.links[k].to);
        IF (i > 7) {
            either = address_of(t.links[(k + 1) % 5].to);
        }
        *either = 2;
        write_at(address_of(t.links[0]), (k + 2) % 5);
        copies[6 * i + 4] = t;
        copies[6 * i + 5] = written(address_of(t.links[(k + 3) % 5].to), address_of(t));
    });
}

template <class S>
void expect_links_of() {
    constexpr std::size_t n = 20;
    host_array<S> given(n), zeros(6 * n);
    std::memset(static_cast<void*>(given.data()), 0, n * sizeof(S));
    std::memset(static_cast<void*>(zeros.data()), 0, 6 * n * sizeof(S));
    for (std::size_t i = 0; i < n; ++i)
        for (int k = 0; k < 5; ++k)
            given[i].links[k] = {static_cast<int>(i) * 10 + k,
                                 {static_cast<float>(i), static_cast<float>(k)}};
    on_all_devices([&](const device& on) {
        auto changed = on.mixed_buffer<S>(n);
        auto copies = on.mixed_buffer<S>(6 * n);
        copies.write(std::span<const S>(zeros));
        on.execute(links_kernel<S>()(in(on, given), balm::local<S>(5), changed, copies), {n}, {5});
        const auto got = copies.read(), left = changed.read();
        for (std::size_t i = 0; i < n; ++i) {
            std::vector<S> wanted(6, given[i]);
            wanted[0] = zeros[0];
            wanted[0].links[i % 5].to = 7;
            wanted[1].links[i % 5].weights[i % 2] = 0.5f;
            wanted[1].links[(i + 1) % 5].to = 6;
            wanted[1].links[(i + 2) % 5].to = 8;
            wanted[2].links[i % 5].to += 9;
            wanted[3].links[i % 5].to = 3;
            wanted[4].links[(i > 7 ? i + 1 : i) % 5].to = 2;
            wanted[4].links[(i + 2) % 5].to = 5;
            wanted[5] = wanted[4];
            wanted[5].links[(i + 3) % 5].to = 4;
            for (std::size_t c = 0; c < 6; ++c) EXPECT_EQ(got[6 * i + c], wanted[c]) << i << ", copy " << c;
            EXPECT_EQ(left[i], wanted[2]) << i;
        }
    });
}

TEST(A5_structs, are_copied_with_what_was_written_at_a_position_of_an_array_of_structures) {
    expect_links_of<of_sixteen>();
    expect_links_of<of_eight>();
}

TEST(A5_structs, are_passed_by_value_returned_and_shared_in_local_memory) {
    const auto mirrored = balm::function("mirrored(p)", [](Var<moving_point> p) {
        p.pos = -p.pos;
        return p;
    });
    const auto kernel = balm::kernel<1>("shared", [&](Var<moving_point> by, Var<one_byte> small,
                                                      Local<moving_point> shared, Out<moving_point> out) {
        Index i = global_id(0), lid = local_id(0);
        shared[lid] = by;
        shared[lid].pos.x = cast<float>(i) + cast<float>(Int(small.value));
        local_barrier();
        out[i] = mirrored(shared[local_size(0) - 1 - lid]);
    });
    const moving_point by{{{1, 2, 3, 4}}, {{5, 6, 7, 8}}};
    on_all_devices([&](const device& on) {
        auto out = on.out_buffer<moving_point>(32);
        on.execute(kernel(by, one_byte{-3}, balm::local<moving_point>(8), out), {32}, {8});
        const auto got = out.read();
        for (std::size_t i = 0; i < 32; ++i) {
            moving_point wanted = by;
            wanted.pos.x = static_cast<float>(i / 8 * 8 + 7 - i % 8) - 3;
            for (int k = 0; k < 4; ++k) wanted.pos[k] = -wanted.pos[k];
            EXPECT_EQ(got[i], wanted) << i;
        }
    });
}

enum class kind : unsigned char { plain, fancy = 200 };
enum tally : long long { none_yet, many = 1ll << 40 };
struct of_every_name {
    char c;
    signed char sc;
    unsigned char uc;
    long l;
    unsigned long ul;
    long long ll;
    unsigned long long ull;
    wchar_t w;
    char8_t c8;
    char16_t c16;
    char32_t c32;
    std::byte b;
    kind k;
    tally t;
    long long row[2][2];
    bool operator==(const of_every_name&) const = default;
};
BALM_STRUCT(of_every_name, c, sc, uc, l, ul, ll, ull, w, c8, c16, c32, b, k, t, row)

TEST(A5_structs, take_members_by_size_and_signedness_whatever_their_names) {
    const auto kernel = balm::kernel<1>("names", [](Var<of_every_name> by, Mixed<of_every_name> s) {
        Index i = global_id(0);
        Var<of_every_name> p = s[i];
        p.c = p.c - by.c;
        p.sc = -p.sc;
        p.uc += 200;
        p.l = p.l * by.l;
        s[i] = p;
        s[i].ul += 1u;
        Ptr<of_every_name> q = address_of(s[i]);
        q->ll = q->ll - 1;
        q->ull = q->ull + 1u;
        s[i].w += 1;
        s[i].c8 += 1;
        s[i].c16 += 1;
        s[i].c32 += 1;
        s[i].b = s[i].b ^ std::uint8_t{0xf0};
        s[i].k = static_cast<std::uint8_t>(kind::fancy);
        s[i].t = s[i].t + by.t;
        s[i].row[1][0] += s[i].row[0][1];
    });
    constexpr of_every_name before{-7,          5,        100,
                                   -(1l << 40), ~0ul - 1, -(1ll << 62),
                                   1ull << 63,  L'a',     u8'a',
                                   u'a',        U'a',     std::byte{0x3c},
                                   kind::plain, many,     {{1, -(1ll << 50)}, {3, 4}}};
    of_every_name after = before;
    after.c = static_cast<char>(before.c - 3);
    after.sc = -5;
    after.uc = 44;
    after.l *= 2;
    after.ul += 1;
    after.ll -= 1;
    after.ull += 1;
    after.w = L'b';
    after.c8 = u8'b';
    after.c16 = u'b';
    after.c32 = U'b';
    after.b = std::byte{0xcc};
    after.k = kind::fancy;
    after.t = static_cast<tally>(2ll << 40);
    after.row[1][0] += after.row[0][1];
    of_every_name by{};
    by.c = 3;
    by.l = 2;
    by.t = many;
    on_all_devices([&](const device& on) {
        auto s = on.mixed_buffer<of_every_name>(2);
        s.write(std::vector<of_every_name>(2, before));
        on.execute(kernel(by, s), {2});
        const auto got = s.read();
        EXPECT_EQ(got[0], after);
        EXPECT_EQ(got[1], after);
    });
    on_all_contexts([&](const context& ctx) {
        balm::vector<of_every_name> s(ctx, 3, before);
        balm::vector<std::int64_t> sums(ctx, 3);
        sums = balm::field<&of_every_name::ll>(s) + balm::field<&of_every_name::c>(s) +
               balm::field<&of_every_name::t>(s);
        EXPECT_EQ(sums.to_host()[2], before.ll + before.c + before.t);
    });
}

struct crossed {
    std::int32_t a, b;
};
BALM_STRUCT(crossed, b, a)

TEST(A5_structs, whose_members_are_named_in_another_order_are_refused) {
    const std::string said = message_of<trace_error>(
        [] { balm::kernel<1>("crossed", [](In<crossed> c, Out<std::int32_t> out) { out[0] = c[0].a; }); });
    EXPECT_THAT(said, testing::HasSubstr("crossed::a"));
    EXPECT_THAT(said, testing::HasSubstr("order"));
}

}  // namespace
}  // namespace balm::test
