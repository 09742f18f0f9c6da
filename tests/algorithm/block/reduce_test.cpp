// Reductions at all levels.

#include "algorithm/block/reduce.hpp"

#include <array>

#include "algorithm/block/operations.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using block::arrays;
using block::group_shape;
using block::values;

/// The documented order, with one operation for each level of the tree.
template <class T, class F>
T tree(std::vector<T> all, F&& combined) {
    for (std::size_t width = std::bit_ceil(all.size()) / 2; width > 0; width /= 2)
        for (std::size_t k = 0; k < width && k + width < all.size(); ++k)
            all[k] = combined(all[k], all[k + width]);
    return all[0];
}

template <class T>
auto group_sum(const group_shape& shape) {
    return balm::kernel<1>("group_sum(in, out)", [=](In<T> in, Out<T> out) {
        const block::group g(shape);
        const Var<T> own = in[global_id(0)];
        const arrays shared = g.shared("shared", {own.node().type}, shape.most);
        const values sum = block::reduce(g, sums<T>(), {node_of(own)}, shared);
        IF (g.item() == 0) {
            out[group_id(0)] = Var<T>(sum[0]);
        }
    });
}
template <class T>
void sums_of_groups() {
    SCOPED_TRACE(sizeof(T));
    block_case<T, T>(1, [](std::span<const T> in) {
        return std::vector<T>{
            tree(std::vector<T>(in.begin(), in.end()), [](T a, T b) { return static_cast<T>(a + b); })};
    }).run([](const group_shape& shape) { return group_sum<T>(shape); }, 1024);
}

TEST(block_reduce, sums_groups_of_every_size) {
    sums_of_groups<std::uint8_t>();
    sums_of_groups<std::int16_t>();
    sums_of_groups<std::uint32_t>();
    sums_of_groups<double>();
}

// Differences are not associative: any other tree gives another result.
const block::operation& differences() {
    static const block::operation& made = *new block::operation{
        [](const values& a, const values& b) { return values{trace::apply(builtin::sub, a[0], b[0])}; },
        [] { return values{node_of(Int(0))}; }};
    return made;
}
int difference(int a, int b) { return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b)); }
int difference_of(std::span<const int> all) {
    return tree(std::vector<int>(all.begin(), all.end()), difference);
}

/// What of a group's values the work-item writes, which is nothing where the condition is false.
using reduced_in = std::function<std::pair<Int, Bool>(const block::group&, const Int& own)>;
auto written_by_each(const group_shape& shape, const reduced_in& reduced) {
    return balm::kernel<1>("difference(in, out)", [=](In<int> in, Out<int> out) {
        const block::group g(shape);
        const auto [found, is_valid] = reduced(g, in[global_id(0)]);
        out[global_id(0)] = select(is_valid, found, 0);
    });
}
arrays shared_by(const block::group& g) { return g.shared("shared", {scalar::i32}, g.most()); }

TEST(block_reduce, has_the_documented_order) {
    const auto make = [](const group_shape& shape) {
        return written_by_each(shape, [](const block::group& g, const Int& own) {
            const arrays shared = shared_by(g);
            return std::pair(Int(block::reduce(g, differences(), {node_of(own)}, shared)[0]), g.item() == 0);
        });
    };
    const auto expected = [](std::span<const int> in) {
        std::vector<int> wanted(in.size());
        wanted[0] = difference_of(in);
        return wanted;
    };
    block_case<int, int>(1, expected).run(make, 1024);
    block_case<int, int>(1, expected).of_powers_of_two().run(make, 1024);
}

TEST(block_reduce, of_sub_groups_has_the_documented_order) {
    const auto make = [](const group_shape& shape) {
        return written_by_each(shape, [](const block::group& g, const Int& own) {
            const arrays shared = shared_by(g);
            return std::pair(Int(block::sub_group_reduce(g, differences(), {node_of(own)}, shared)[0]),
                             g.lane() == 0);
        });
    };
    const auto expected = [](std::span<const int> in) {
        std::vector<int> wanted(in.size());
        for (std::size_t first = 0; first < in.size(); first += 32)
            wanted[first] = difference_of(in.subspan(first, std::min<std::size_t>(32, in.size() - first)));
        return wanted;
    };
    block_case<int, int>(1, expected).run(make, 1024);
    block_case<int, int>(1, expected).of_powers_of_two().run(make, 1024);
}

// Work-items side by side, and work-items a distance apart.
TEST(block_reduce, of_subsets_has_the_documented_order) {
    for (const int width : {1, 4, 32}) {
        for (const bool is_rows : {true, false}) {
            SCOPED_TRACE(std::to_string(width) + (is_rows ? " side by side" : " apart"));
            const auto make = [=](const group_shape& shape) {
                return written_by_each(shape, [=](const block::group& g, const Int& own) {
                    const arrays shared = shared_by(g);
                    const Int column = g.item() % width, row = g.item() / width;
                    const block::subset of{is_rows ? Int(column) : Int(row),
                                           is_rows ? Int(width) : g.items() / width,
                                           Int(is_rows ? 1 : width)};
                    return std::pair(Int(block::reduce(g, differences(), {node_of(own)}, shared, of)[0]),
                                     of.rank == 0);
                });
            };
            block_case<int, int>(1,
                                 [=](std::span<const int> in) {
                                     const std::size_t w = static_cast<std::size_t>(width),
                                                       rows = in.size() / w;
                                     std::vector<int> wanted(in.size());
                                     for (std::size_t k = 0; k < (is_rows ? rows : w); ++k) {
                                         std::vector<int> own;
                                         for (std::size_t j = 0; j < (is_rows ? w : rows); ++j)
                                             own.push_back(is_rows ? in[k * w + j] : in[j * w + k]);
                                         wanted[is_rows ? k * w : k] = difference_of(own);
                                     }
                                     return wanted;
                                 })
                .of_powers_of_two()
                .run(make, 256, false);
        }
    }
}

// Of more and of fewer elements than there are work-items.
TEST(block_reduce, of_an_array_has_the_documented_order) {
    for (const int count : {1, 16, 256}) {
        SCOPED_TRACE(count);
        const auto make = [=](const group_shape& shape) {
            return balm::kernel<1>("difference(in, out)", [=](In<int> in, Out<int> out) {
                const block::group g(shape);
                const arrays array = g.shared("array", {scalar::i32}, 256);
                const Index first = group_id(0) * g.items();
                Int size = named("size", min(g.items() * 256, count));  // not known to the trace
                for (Int k : range(g.item(), size, g.items()))
                    array.store(k, {node_of(in[first + k % g.items()] * (k + 1))});
                block::reduce_array(g, differences(), array, size);
                IF (g.item() == 0) {
                    out[group_id(0)] = Int(array.load(0)[0]);
                }
            });
        };
        block_case<int, int>(1, [=](std::span<const int> in) {
            std::vector<int> all;
            for (unsigned k = 0; k < static_cast<unsigned>(count); ++k)
                all.push_back(static_cast<int>(static_cast<unsigned>(in[k % in.size()]) * (k + 1)));
            return std::vector<int>{difference_of(all)};
        }).run(make, 128, false);
    }
}

template <class Number>
void accumulates(int at_once, int run, int stride, bool is_sequential) {
    SCOPED_TRACE(std::to_string(at_once) + " at once in runs of " + std::to_string(run) + ", " +
                 std::to_string(stride) + " apart" + (is_sequential ? ", one after the other" : ""));
    constexpr int each = 103;  // positions with two elements each
    const auto make = [=](const group_shape&) {
        return balm::kernel<1>("difference(in, out)", [=](In<int> in, Out<int> out) {
            const values total = block::variables("total", {node_of(Int(7))});
            const Index first = global_id(0) * (2 * each);
            Number end = named("end", Number(first * 0 + each));
            block::accumulate(differences(), total, Number(1), end, Number(stride),
                              {at_once, run, is_sequential}, [&](std::span<const Number> positions) {
                                  block::elements all;
                                  for (const Number& i : positions)
                                      for (int e = 0; e < 2; ++e)
                                          all.push_back({node_of(Int(in[first + Index(i) * 2 + e]))});
                                  return all;
                              });
            out[global_id(0)] = Int(block::read(total)[0]);
        });
    };
    block_case<int, int>(2 * each, [=](std::span<const int> in) {
        std::vector<int> wanted;
        for (std::size_t first = 0; first < in.size(); first += 2 * each) {
            int i = 1, total = 7;
            const auto take = [&](int& into, int count) {
                std::vector<int> level;
                for (int k = 0; k < count; ++k, i += stride)
                    for (int e = 0; e < 2; ++e)
                        level.push_back(in[first + static_cast<std::size_t>(2 * i + e)]);
                if (is_sequential) {
                    for (const int element : level) into = difference(into, element);
                    return;
                }
                for (; level.size() > 1; level.resize(level.size() / 2))  // neighbours
                    for (std::size_t k = 0; k < level.size() / 2; ++k)
                        level[k] = difference(level[2 * k], level[2 * k + 1]);
                into = difference(into, level[0]);
            };
            const auto has_tree = [&] { return i + (at_once - 1) * stride < each; };
            while (has_tree()) {
                int of_run = 0;
                for (int k = 0; k < run && has_tree(); ++k) take(of_run, at_once);
                if (run > 0)
                    total = difference(total, of_run);
                else
                    take(total, at_once);
            }
            while (i < each) take(total, 1);
            wanted.push_back(total);
        }
        return wanted;
    }).run(make, 3);
}
TEST(block_reduce, of_elements_a_stride_apart_has_the_documented_order) {
    for (const auto& [at_once, run, stride] :
         {std::array{1, 0, 1}, {4, 0, 5}, {1, 3, 5}, {4, 3, 1}, {4, 3, 200}}) {
        accumulates<Int>(at_once, run, stride, false);
        accumulates<Index>(at_once, run, stride, false);
        accumulates<Index>(at_once, run, stride, true);
    }
}

// Two values at once: the least number with the first of its positions.
TEST(block_reduce, finds_the_least_with_its_position) {
    const block::operation least_of{[](const values& a, const values& b) {
                                        const Int x(a[0]), i(a[1]), y(b[0]), j(b[1]);
                                        const Bool takes_b = y < x || (y == x && j < i);
                                        return values{trace::select(node_of(takes_b), b[0], a[0]),
                                                      trace::select(node_of(takes_b), b[1], a[1])};
                                    },
                                    {}};
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("least(in, out)", [=](In<std::int8_t> in, Out<int> out) {
            const block::group g(shape);
            const Char own = in[global_id(0)];
            const arrays shared = g.shared("shared", {scalar::i32, scalar::i32}, shape.most);
            const values found =
                block::reduce(g, least_of, {node_of(cast<int>(own)), node_of(g.item())}, shared);
            IF (g.item() == 0) {
                out[2 * group_id(0)] = Int(found[0]);
                out[2 * group_id(0) + 1] = Int(found[1]);
            }
        });
    };
    block_case<std::int8_t, int>(1, [](std::span<const std::int8_t> in) {
        const auto found = std::min_element(in.begin(), in.end());
        return std::vector<int>{*found, static_cast<int>(found - in.begin())};
    }).run(make, 1024);
}

// Elements of a work-item keep their order.
TEST(block_reduce, of_a_work_items_elements_keeps_their_order) {
    for (const std::size_t each : {1, 3, 4, 8, 16}) {
        const auto make = [&](const group_shape& shape) {
            return balm::kernel<1>("product(in, out)", [=](In<matrix> in, Out<matrix> out) {
                const block::group g(shape);
                block::elements own;
                for (std::size_t k = 0; k < each; ++k) {
                    const Var<matrix> one =
                        in[global_id(0) * static_cast<std::int64_t>(each) + std::int64_t(k)];
                    own.push_back({node_of(one)});
                }
                out[global_id(0)] = Var<matrix>(block::reduce(products(), own)[0]);
            });
        };
        block_case<matrix, matrix>(each, [&](std::span<const matrix> in) {
            std::vector<matrix> wanted;
            for (std::size_t i = 0; i < in.size(); i += each) {
                wanted.push_back(in[i]);
                for (std::size_t k = 1; k < each; ++k) wanted.back() = product(wanted.back(), in[i + k]);
            }
            return wanted;
        }).run(make, 32);
    }
}

TEST(block_reduce, of_a_range_is_sequential) {
    const auto make = [&](const group_shape&) {
        return balm::kernel<1>("product(in, out)", [=](In<matrix> in, Out<matrix> out) {
            const Index begin = global_id(0) * 5;
            const values total =
                block::reduce(products(), products().identity(), begin, begin + 5,
                              [&](const Index& i) -> values { return {node_of(Var<matrix>(in[i]))}; });
            out[global_id(0)] = Var<matrix>(total[0]);
        });
    };
    block_case<matrix, matrix>(5, [&](std::span<const matrix> in) {
        std::vector<matrix> wanted;
        for (std::size_t i = 0; i < in.size(); i += 5)
            wanted.push_back(
                product(product(product(product(in[i], in[i + 1]), in[i + 2]), in[i + 3]), in[i + 4]));
        return wanted;
    }).run(make, 3);
}

}  // namespace
}  // namespace balm::test
