// Reductions at all levels.

#include "algorithm/block/reduce.hpp"

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

}  // namespace

TEST(block_reduce, sums_groups_of_every_size) {
    sums_of_groups<std::uint8_t>();
    sums_of_groups<std::int16_t>();
    sums_of_groups<std::uint32_t>();
    sums_of_groups<double>();
}

// Differences are not associative: any other tree gives another result.
TEST(block_reduce, has_the_documented_order) {
    const block::operation differences{
        [](const values& a, const values& b) { return values{trace::apply(builtin::sub, a[0], b[0])}; }, {}};
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("difference(in, out)", [=](In<int> in, Out<int> out) {
            const block::group g(shape);
            const Int own = in[global_id(0)];
            const arrays shared = g.shared("shared", {scalar::i32}, shape.most);
            const values found = block::reduce(g, differences, {node_of(own)}, shared);
            IF (g.item() == 0) {
                out[group_id(0)] = Int(found[0]);
            }
        });
    };
    block_case<int, int>(1, [](std::span<const int> in) {
        return std::vector<int>{tree(std::vector<int>(in.begin(), in.end()), [](int a, int b) {
            return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
        })};
    }).run(make, 1024);
}

TEST(block_reduce, of_sub_groups_has_the_documented_order) {
    const block::operation differences{
        [](const values& a, const values& b) { return values{trace::apply(builtin::sub, a[0], b[0])}; }, {}};
    const auto make = [&](const group_shape& shape) {
        return balm::kernel<1>("difference(in, out)", [=](In<int> in, Out<int> out) {
            const block::group g(shape);
            const Int own = in[global_id(0)];
            const arrays shared = g.shared("shared", {scalar::i32}, shape.most);
            const values found = block::sub_group_reduce(g, differences, {node_of(own)}, shared);
            out[global_id(0)] = select(g.lane() == 0, Int(found[0]), 0);
        });
    };
    block_case<int, int>(1, [](std::span<const int> in) {
        std::vector<int> wanted(in.size());
        for (std::size_t first = 0; first < in.size(); first += 32) {
            const auto lanes = in.subspan(first, std::min<std::size_t>(32, in.size() - first));
            wanted[first] = tree(std::vector<int>(lanes.begin(), lanes.end()), [](int a, int b) {
                return static_cast<int>(static_cast<unsigned>(a) - static_cast<unsigned>(b));
            });
        }
        return wanted;
    }).run(make, 1024);
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

}  // namespace balm::test
