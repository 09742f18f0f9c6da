// Scans at all levels.

#include "algorithm/block/scan.hpp"

#include "algorithm/block/arrangement.hpp"
#include "algorithm/block/operations.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrays;
using block::elements;
using block::group_shape;
using block::values;

enum class extent { inclusive, exclusive };

/// Scans of values of one type. The total goes behind each group's results.
template <class T>
auto group_scan(const group_shape& shape, const block::operation& does, std::size_t each, extent how) {
    return balm::kernel<1>("group_scan(in, out)", [=](In<T> in, Out<T> out) {
        const block::group g(shape);
        const auto count = static_cast<std::int64_t>(each);
        const Index begin = named("begin", (group_id(0) * local_size(0) + local_id(0)) * count);
        elements own;
        for (std::int64_t k = 0; k < count; ++k) own.push_back({node_of(Var<T>(in[begin + k]))});
        const arrays shared = g.shared("shared", block::types_of(own[0]), block::scan_room(g));
        values total;
        const elements scanned = how == extent::inclusive
                                     ? block::scan_inclusive(g, does, own, shared, &total)
                                     : block::scan_exclusive(g, does, own, shared, &total);
        const Index target = named("target", begin + group_id(0));
        for (std::size_t k = 0; k < each; ++k)
            out[target + static_cast<std::int64_t>(k)] = Var<T>(scanned[k][0]);
        IF (g.item() == g.items() - 1) {
            out[target + count] = Var<T>(total[0]);
        }
    });
}
template <class T, class F>
std::vector<T> scanned_on_host(std::span<const T> in, T identity, extent how, F&& combined) {
    std::vector<T> made;
    T sum = identity;
    for (const T& each : in) {
        if (how == extent::exclusive) made.push_back(sum);
        sum = combined(sum, each);
        if (how == extent::inclusive) made.push_back(sum);
    }
    made.push_back(sum);
    return made;
}
template <class T, class F>
void scans_groups(const block::operation& does, T identity, F&& combined, std::vector<std::size_t> counts,
                  std::size_t most) {
    for (const std::size_t each : counts)
        for (const extent how : {extent::inclusive, extent::exclusive}) {
            SCOPED_TRACE(how == extent::inclusive ? "inclusive" : "exclusive");
            block_case<T, T>(each, [&](std::span<const T> in) {
                return scanned_on_host<T>(in, identity, how, combined);
            }).run([&](const group_shape& shape) { return group_scan<T>(shape, does, each, how); }, most);
        }
}
/// What is ahead of each element of a tile in sub-group-striped arrangement.
template <class T>
auto striped_scan(const group_shape& shape, const block::operation& does, std::size_t each) {
    return balm::kernel<1>("striped_scan(in, out)", [=](In<T> in, Out<T> out) {
        const block::group g(shape);
        const auto count = static_cast<int>(each);
        const Index begin = named("begin", group_id(0) * local_size(0) * count);
        const block::positions at(g, block::arrangement::sub_group_striped, count);
        elements own;
        for (int k = 0; k < count; ++k) own.push_back({node_of(Var<T>(in[begin + at[k]]))});
        const arrays shared =
            g.shared("shared", block::side_by_side(block::types_of(own[0]), each), block::scan_room(g));
        values total;
        const block::striped_scan scanned = block::scan_exclusive_striped(g, does, own, shared, &total);
        const Index target = named("target", begin + group_id(0));
        for (int k = 0; k < count; ++k)
            out[target + at[k]] =
                Var<T>(does.combined(scanned.ahead, scanned.before[static_cast<std::size_t>(k)])[0]);
        IF (g.item() == g.items() - 1) {
            out[target + g.items() * count] = Var<T>(total[0]);
        }
    });
}
template <class T, class F>
void scans_stripes(const block::operation& does, T identity, F&& combined) {
    for (const std::size_t each : {std::size_t{1}, std::size_t{3}, std::size_t{4}})
        block_case<T, T>(each, [&](std::span<const T> in) {
            return scanned_on_host<T>(in, identity, extent::exclusive, combined);
        }).run([&](const group_shape& shape) { return striped_scan<T>(shape, does, each); }, 128);
}
template <class T>
void sums_up(std::vector<std::size_t> counts) {
    scans_groups<T>(
        sums<T>(), T(0), [](T a, T b) { return static_cast<T>(a + b); }, std::move(counts), 256);
}

}  // namespace

TEST(block_scan, adds_numbers_of_every_size) {
    sums_up<std::uint8_t>({3});
    sums_up<std::int16_t>({8});
    sums_up<std::uint32_t>({1, 16});
    sums_up<double>({4});
}

TEST(block_scan, of_stripes_keeps_their_order) {
    scans_stripes<std::uint16_t>(sums<std::uint16_t>(), 0, [](std::uint16_t a, std::uint16_t b) {
        return static_cast<std::uint16_t>(a + b);
    });
    scans_stripes<matrix>(products(), matrix{{1, 0, 0, 1}}, product);
}

TEST(block_scan, of_matrices_keeps_their_order) {
    scans_groups<matrix>(products(), matrix{{1, 0, 0, 1}}, product, {1, 3}, 128);
}

TEST(block_scan, of_the_largest_groups) {
    scans_groups<std::uint32_t>(sums<std::uint32_t>(), 0u, std::plus<std::uint32_t>(), {1}, 1024);
}

// Without a total there is less to do.
TEST(block_scan, without_a_total) {
    for (const extent how : {extent::inclusive, extent::exclusive}) {
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("group_scan(in, out)", [=](In<matrix> in, Out<matrix> out) {
                const block::group g(shape);
                const values own{node_of(Var<matrix>(in[global_id(0)]))};
                const arrays shared = g.shared("shared", block::types_of(own), block::scan_room(g));
                out[global_id(0)] =
                    Var<matrix>((how == extent::inclusive ? scan_inclusive(g, products(), own, shared)
                                                          : scan_exclusive(g, products(), own, shared))[0]);
            });
        };
        block_case<matrix, matrix>(1, [&](std::span<const matrix> in) {
            auto wanted = scanned_on_host<matrix>(in, {{1, 0, 0, 1}}, how, product);
            wanted.pop_back();
            return wanted;
        }).run(make, 256);
    }
}

// Two values at once, which do not commute.
TEST(block_scan, composes_affine_maps_as_two_values) {
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("compose(in, out)", [=](In<affine> in, Out<affine> out) {
            const block::group g(shape);
            const values own = parts_of(in[global_id(0)]);
            const arrays shared = g.shared("shared", block::types_of(own), block::scan_room(g));
            out[global_id(0)] = affine_of(scan_inclusive(g, compositions(), own, shared));
        });
    };
    block_case<affine, affine>(1, [&](std::span<const affine> in) {
        auto wanted = scanned_on_host<affine>(in, {1, 0}, extent::inclusive, composed);
        wanted.pop_back();
        return wanted;
    }).run(make, 1024);
}

TEST(block_scan, of_sub_groups) {
    for (const extent how : {extent::inclusive, extent::exclusive}) {
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("sub_group_scan(in, out)", [=](In<matrix> in, Out<matrix> out) {
                const block::group g(shape);
                const values own{node_of(Var<matrix>(in[global_id(0)]))};
                const arrays shared = g.shared("shared", block::types_of(own), block::scan_room(g));
                const values scanned = how == extent::inclusive
                                           ? sub_group_scan_inclusive(g, products(), own, shared)
                                           : sub_group_scan_exclusive(g, products(), own, shared);
                out[global_id(0)] = Var<matrix>(scanned[0]);
            });
        };
        block_case<matrix, matrix>(1, [&](std::span<const matrix> in) {
            std::vector<matrix> wanted;
            for (std::size_t first = 0; first < in.size(); first += 32) {
                const auto lanes = in.subspan(first, std::min<std::size_t>(32, in.size() - first));
                auto part = scanned_on_host<matrix>(lanes, {{1, 0, 0, 1}}, how, product);
                wanted.insert(wanted.end(), part.begin(), part.end() - 1);
            }
            return wanted;
        }).run(make, 256);
    }
}

// Segments begin where a number is divisible by 4; the first of them at the first element at the latest.
TEST(block_scan, of_segments_begins_anew_with_each) {
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("segments(in, out)", [=](In<affine> in, Out<affine> out) {
            const block::group g(shape);
            elements own;
            for (int k = 0; k < 3; ++k) {
                Var<affine> one = in[global_id(0) * 3 + k];
                const Bool begins = (UInt(one.scale) & 3u) == 0u;
                own.push_back(block::joined({node_of(begins)}, parts_of(one)));
            }
            const arrays shared = g.shared("shared", block::types_of(own[0]), block::scan_room(g));
            const elements scanned = scan_inclusive(g, block::segmented(compositions()), own, shared);
            for (std::size_t k = 0; k < 3; ++k)
                out[global_id(0) * 3 + static_cast<std::int64_t>(k)] =
                    affine_of({scanned[k][1], scanned[k][2]});
        });
    };
    block_case<affine, affine>(3, [&](std::span<const affine> in) {
        std::vector<affine> wanted;
        for (const affine& each : in)
            wanted.push_back(wanted.empty() || each.scale % 4 == 0 ? each : composed(wanted.back(), each));
        return wanted;
    }).run(make, 256);
}

// A work-item alone, with what came ahead.
TEST(block_scan, of_a_range_takes_a_carry) {
    const auto make = [&](const group_shape&) {
        return balm::kernel<1>("range(in, out)", [=](In<matrix> in, Out<matrix> out) {
            const Index begin = global_id(0) * 5;
            const auto at = [&](const Index& i) { return values{node_of(Var<matrix>(in[i]))}; };
            const values total = block::scan(products(), at(begin), begin + 1, begin + 5, at,
                                             [&](const Index& i, const values& exclusive, const values&) {
                                                 out[i - 1] = Var<matrix>(exclusive[0]);
                                             });
            out[begin + 4] = Var<matrix>(total[0]);
        });
    };
    block_case<matrix, matrix>(5, [&](std::span<const matrix> in) {
        std::vector<matrix> wanted;
        for (std::size_t i = 0; i < in.size(); ++i)
            wanted.push_back(i % 5 == 0 ? in[i] : product(wanted.back(), in[i]));
        return wanted;
    }).run(make, 3);
}

// More elements than work-items, fewer, and as many.
TEST(block_scan, of_an_array_in_local_memory) {
    for (const int count : {1, 300}) {
        SCOPED_TRACE(count);
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("array(in, out)", [=](In<matrix> in, Out<matrix> out) {
                const block::group g(shape);
                const block::types types{balm::detail::type_of_element<matrix>()};
                const arrays array = g.shared("array", types, 300);
                const arrays shared = g.shared("shared", types, block::scan_room(g));
                const Index begin = group_id(0) * local_size(0), target = group_id(0) * (count + 1);
                for (Int k : range(g.item(), Int(count), g.items()))
                    array.store(k, {node_of(Var<matrix>(in[begin + k % g.items()]))});
                g.barrier();
                values total;
                block::scan_array(g, products(), array, Int(count), shared, &total);
                g.barrier();
                for (Int k : range(g.item(), Int(count), g.items()))
                    out[target + k] = Var<matrix>(array.load(k)[0]);
                IF (g.item() == g.items() - 1) {
                    out[target + count] = Var<matrix>(total[0]);
                }
            });
        };
        block_case<matrix, matrix>(1, [&](std::span<const matrix> in) {
            std::vector<matrix> all;
            for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
                all.push_back(in[k % in.size()]);
            return scanned_on_host<matrix>(all, {{1, 0, 0, 1}}, extent::exclusive, product);
        }).run(make, 128);
    }
}

}  // namespace balm::test
