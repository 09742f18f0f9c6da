// Views against a model on the host: a shape, and the number of the element at each of its places.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/map/overlap.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "support/case_count.hpp"
#include "support/nvrtc_listener.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

/// What a view should show: which element of the vector at each place, in row-major order.
struct model {
    std::vector<std::size_t> extents;
    std::vector<std::size_t> elements;

    std::size_t at(const std::vector<std::size_t>& place) const {
        std::size_t flat = 0;
        for (std::size_t d = 0; d < extents.size(); ++d) flat = flat * extents[d] + place[d];
        return elements[flat];
    }
};

/// A model of these extents, whose elements a function of the place gives.
template <class F>
model made(const std::vector<std::size_t>& extents, F&& element) {
    model m{extents, {}};
    std::size_t count = 1;
    for (std::size_t e : extents) count *= e;
    for (std::size_t flat = 0; flat < count; ++flat) {
        std::vector<std::size_t> place(extents.size());
        std::size_t rest = flat;
        for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d]) place[d] = rest % extents[d];
        m.elements.push_back(element(place));
    }
    return m;
}

/// Other extents of as many elements.
std::vector<std::size_t> other_extents(std::mt19937_64& random, std::size_t count) {
    std::vector<std::size_t> extents;
    while (extents.size() < 4 && (count > 1 || extents.empty())) {
        std::size_t factor = 1 + below(random, 7);
        while (count % factor != 0) --factor;
        extents.push_back(factor);
        count /= factor;
    }
    extents.push_back(count);
    std::shuffle(extents.begin(), extents.end(), random);
    return extents;
}

template <class T, std::size_t... D>
view<T> sliced_by(const view<T>& v, const std::vector<array::slice_part>& parts, std::index_sequence<D...>) {
    return v(parts[D]...);
}
template <class T>
view<T> sliced_by(const view<T>& v, const std::vector<array::slice_part>& parts) {
    switch (parts.size()) {
        case 1: return sliced_by(v, parts, std::make_index_sequence<1>());
        case 2: return sliced_by(v, parts, std::make_index_sequence<2>());
        case 3: return sliced_by(v, parts, std::make_index_sequence<3>());
        case 4: return sliced_by(v, parts, std::make_index_sequence<4>());
        case 5: return sliced_by(v, parts, std::make_index_sequence<5>());
        default: ADD_FAILURE(); return v;
    }
}

/// A view and its model after one random change of both; `says` tells which.
struct viewed {
    std::optional<view<double>> of;  // to put another one in its place: views assign elements
    model expected;
    std::string says;
};

void slice_randomly(std::mt19937_64& random, viewed& v) {
    std::vector<array::slice_part> parts;
    std::vector<std::vector<std::size_t>> taken;  // of each dimension
    std::vector<bool> is_kept;
    for (std::size_t size : v.expected.extents) {
        std::vector<std::size_t>& positions = taken.emplace_back();
        is_kept.push_back(true);
        switch (below(random, 4)) {
            case 0:
                parts.push_back(array::part_of(all));
                for (std::size_t k = 0; k < size; ++k) positions.push_back(k);
                break;
            case 1:
                parts.push_back(reversed);
                for (std::size_t k = size; k-- > 0;) positions.push_back(k);
                break;
            case 2:
                positions.push_back(below(random, size));
                parts.push_back(array::part_of(positions[0]));
                is_kept.back() = false;
                break;
            default: {
                const auto first = static_cast<std::int64_t>(below(random, size));
                const std::int64_t stride =
                    static_cast<std::int64_t>(1 + below(random, 3)) * (random() % 2 ? 1 : -1);
                const std::int64_t end = stride > 0 ? static_cast<std::int64_t>(size) : -1;
                parts.push_back(slice(first, end, stride));
                for (std::int64_t k = first; stride > 0 ? k < end : k > end; k += stride)
                    positions.push_back(static_cast<std::size_t>(k));
            }
        }
    }
    std::vector<std::size_t> extents;
    for (std::size_t d = 0; d < taken.size(); ++d)
        if (is_kept[d]) extents.push_back(taken[d].size());
    if (extents.empty()) extents.push_back(1);
    const model before = v.expected;
    v.expected = made(extents, [&](const std::vector<std::size_t>& place) {
        std::vector<std::size_t> old;
        std::size_t next = 0;
        for (std::size_t d = 0; d < taken.size(); ++d)
            old.push_back(taken[d][is_kept[d] ? place[next++] : 0]);
        return before.at(old);
    });
    v.of.emplace(sliced_by(*v.of, parts));
    v.says += " slice";
}

void transpose_randomly(std::mt19937_64& random, viewed& v) {
    std::vector<int> order(v.expected.extents.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    const model before = v.expected;
    std::vector<std::size_t> extents;
    for (int d : order) extents.push_back(before.extents[static_cast<std::size_t>(d)]);
    v.expected = made(extents, [&](const std::vector<std::size_t>& place) {
        std::vector<std::size_t> old(place.size());
        for (std::size_t d = 0; d < place.size(); ++d) old[static_cast<std::size_t>(order[d])] = place[d];
        return before.at(old);
    });
    v.of.emplace(array::transposed(v.of->what(), order));
    v.says += " transpose";
}

void reshape_randomly(std::mt19937_64& random, viewed& v) {
    v.expected.extents = other_extents(random, v.expected.elements.size());
    v.of.emplace(v.of->reshape(shape(v.expected.extents)).what());
    v.says += " reshape";
}

void permute_randomly(std::mt19937_64& random, viewed& v) {
    const auto n = static_cast<std::int64_t>(v.expected.elements.size());
    std::int64_t factor = 1 + static_cast<std::int64_t>(below(random, 20));
    while (std::gcd(factor, n) != 1) ++factor;
    const auto shift = static_cast<std::int64_t>(below(random, 100));
    const model before = v.expected;
    v.expected.extents = {static_cast<std::size_t>(n)};
    for (std::int64_t k = 0; k < n; ++k)
        v.expected.elements[static_cast<std::size_t>(k)] =
            before.elements[static_cast<std::size_t>((k * factor + shift) % n)];
    v.of.emplace((*v.of)[(factor * balm::element_index(0, static_cast<std::size_t>(n)) + shift) % n].what());
    v.says += " permute";
}

/// A view by one to four changes.
viewed random_view(std::mt19937_64& random, vector<double>& x) {
    const std::vector<std::size_t> extents = other_extents(random, x.size());
    std::size_t next = 0;
    viewed v{view<double>(x, shape(extents)), made(extents, [&](const auto&) { return next++; }), "view"};
    for (std::size_t changes = 1 + below(random, 4); changes > 0; --changes) switch (below(random, 4)) {
            case 0: slice_randomly(random, v); break;
            case 1: transpose_randomly(random, v); break;
            case 2: reshape_randomly(random, v); break;
            default: permute_randomly(random, v);
        }
    return v;
}

TEST(V8_views, show_what_the_model_shows) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t n = 1 + below(random, 4000);
            const auto values = random_values<double>(random, n);
            vector<double> x(ctx, std::span<const double>(values));
            const viewed v = random_view(random, x);
            SCOPED_TRACE(v.says + " of " + std::to_string(n));
            EXPECT_EQ(v.of->extents(), shape(v.expected.extents));
            const auto got = v.of->to_host();
            EXPECT_EQ(got.shape(), shape(v.expected.extents));
            expect_each(got, [&](std::size_t i) { return values[v.expected.elements[i]]; });
            // Read inside an expression, beside a vector and an index.
            const vector<double> y = 2 * *v.of + cast<double>(balm::element_index());
            expect_each(y.to_host(), [&](std::size_t i) {
                return 2 * values[v.expected.elements[i]] + static_cast<double>(i);
            });
            EXPECT_EQ(balm::max(*v.of), [&] {
                double most = values[v.expected.elements[0]];
                for (std::size_t at : v.expected.elements) most = std::max(most, values[at]);
                return most;
            }());
        }
    });
}

TEST(V8_views, assign_what_the_model_assigns) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t n = 1 + below(random, 4000);
            auto values = random_values<double>(random, n);
            vector<double> x(ctx, std::span<const double>(values));
            viewed v = random_view(random, x);
            SCOPED_TRACE(v.says + " of " + std::to_string(n));
            const auto given = random_values<double>(random, v.expected.elements.size());
            const vector<double> y(ctx, std::span<const double>(given));
            *v.of = y + 1.0;
            for (std::size_t i = 0; i < given.size(); ++i) values[v.expected.elements[i]] = given[i] + 1.0;
            expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
            *v.of *= 3.0;
            for (std::size_t at : v.expected.elements) values[at] *= 3.0;
            expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
            *v.of = -1.0;
            for (std::size_t at : v.expected.elements) values[at] = -1.0;
            expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
        }
    });
}

TEST(V8_strided_views, show_what_offset_and_strides_say) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < 12; ++turn) {
            const std::size_t n = 1 + below(random, 3000);
            const auto values = random_values<double>(random, n);
            vector<double> x(ctx, std::span<const double>(values));
            std::vector<std::size_t> extents(1 + below(random, 3));
            std::vector<std::int64_t> apart(extents.size());
            std::int64_t low = 0, high = 0;  // of the positions, counted from the offset
            for (std::size_t d = 0; d < extents.size(); ++d) {
                extents[d] = 1 + below(random, 9);
                apart[d] = static_cast<std::int64_t>(below(random, 21)) - 10;
                const std::int64_t reach = static_cast<std::int64_t>(extents[d] - 1) * apart[d];
                (reach < 0 ? low : high) += reach;
            }
            const auto room = static_cast<std::int64_t>(n) - (high - low);
            if (room <= 0) continue;
            const auto offset =
                static_cast<std::int64_t>(below(random, static_cast<std::size_t>(room))) - low;
            const model expected = made(extents, [&](const std::vector<std::size_t>& place) {
                std::int64_t at = offset;
                for (std::size_t d = 0; d < place.size(); ++d)
                    at += static_cast<std::int64_t>(place[d]) * apart[d];
                return static_cast<std::size_t>(at);
            });
            const auto v = view(x, shape(extents), strides(apart), offset);
            EXPECT_EQ(v.extents(), shape(extents));
            expect_each(v.to_host(), [&](std::size_t i) { return values[expected.elements[i]]; });
            const auto doubled = view(2 * x, shape(extents), strides(apart), offset);
            EXPECT_EQ((doubled + 1.0).extents(), shape(extents));
            expect_each((doubled + 1.0)[element_index(0, v.size())].to_host(),
                        [&](std::size_t i) { return 2 * values[expected.elements[i]] + 1.0; });
        }
    });
}

TEST(V8_strided_views, are_assigned_and_viewed_again) {
    on_all_contexts([](const context& ctx) {
        vector<int> m(ctx, 12, 0);
        view(m, {3}, {5}) = 1;                          // the diagonal of 3 x 4
        view(m, {2, 2}, {-4, 2}, 5) += 2;               // rows 1 and 0, columns 1 and 3
        view(m, {4}, {-1}, 11)(balm::slice(0, 2)) = 7;  // the last two
        EXPECT_EQ(m.to_host(), std::vector<int>({1, 2, 0, 2, 0, 3, 0, 2, 0, 0, 7, 7}));
        EXPECT_EQ(view(m, {2, 2}, {-4, 2}, 5).transpose().to_host(), std::vector<int>({3, 2, 2, 2}));
        const vector<int> constant(ctx, {0, 1, 2, 3, 4, 5, 6, 7});
        const auto windows = view(constant, {3, 4}, {2, 1});
        static_assert(std::same_as<decltype(windows), const view<const int>>);
        EXPECT_EQ(vector<int>(balm::sum(windows, balm::along(1))).to_host(), std::vector<int>({6, 14, 22}));
        EXPECT_EQ(view(constant, {2, 3}, {0, 1}, 5).to_host(), std::vector<int>({5, 6, 7, 5, 6, 7}));
        // Of views: positions count their elements.
        auto columns = view(m, {3, 4}).transpose();
        EXPECT_EQ(view(columns, {12}).to_host(), std::vector<int>({1, 0, 0, 2, 3, 0, 0, 0, 7, 2, 2, 7}));
        view(columns, {2}, {10}, 1) = 9;  // a composed index: rows 1 and 2 of columns 0 and 3
        EXPECT_EQ(m.to_host(), std::vector<int>({1, 2, 0, 2, 9, 3, 0, 2, 0, 0, 7, 9}));
        auto evens = view(m, {12})(balm::slice(0, 12, 2));
        view(evens, {2, 2}, {3, -1}, 2) = -1;  // every second element: 4, 2, 10, 8
        EXPECT_EQ(m.to_host(), std::vector<int>({1, 2, -1, 2, -1, 3, 0, 2, -1, 0, -1, 9}));
        EXPECT_EQ(view(element_index(), {2, 2}, {100, 1}, 7).to_host(),
                  std::vector<std::int64_t>({7, 8, 107, 108}));
    });
}

TEST(V8_strided_views, that_meet_themselves_are_assigned_from_elements_as_they_were) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto values = random_values<int>(random, 1003, 0, 1000);
        vector<int> x(ctx, values);
        view(x, {1000, 4}, {1, 1}) += 1;  // each of most elements is in four windows
        expect_each(x.to_host(), [&](std::size_t i) { return values[i] + 1; });
    });
}

TEST(V8_strided_views, beyond_the_elements_are_refused) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, 12, 0);
        const auto refused = [&](const shape& extents, const strides& apart, std::int64_t offset) {
            return message_of<usage_error>([&] { static_cast<void>(view(x, extents, apart, offset)); });
        };
        EXPECT_THAT(refused({3, 4}, {4, 1}, 1),
                    HasSubstr("a view of 3 x 4 with these strides from 1 on covers the elements 1 to 12, "
                              "which is out of range: elements are numbered from 0 to 11"));
        EXPECT_THAT(refused({3}, {-1}, 1), HasSubstr("covers the elements -1 to 1"));
        EXPECT_THAT(refused({1}, {0}, 12), HasSubstr("covers the elements 12 to 12"));
        EXPECT_THAT(refused({2, 3}, {1}, 0), HasSubstr("a view of 2 x 3 got 1 strides"));
        EXPECT_THAT(refused({3, 3}, {std::numeric_limits<std::int64_t>::max(), 1}, 0),
                    HasSubstr("beyond 64 bits"));
        EXPECT_THAT(refused({3}, {std::numeric_limits<std::int64_t>::min()}, 0), HasSubstr("beyond 64 bits"));
        EXPECT_EQ(view(x, {0, 3}, {100, 100}, 77).size(), 0u);
        EXPECT_THROW(strides(std::span<const std::int64_t>()), usage_error);
    });
}

TEST(V8_views, of_as_many_elements_in_other_extents_meet_in_a_row) {
    on_all_contexts([](const context& ctx) {
        const vector<int> x(ctx, {0, 1, 2, 3, 4, 5});
        vector<int> y(ctx, 6);
        const auto a = view(x, {2, 3}), b = view(x, {3, 2});
        EXPECT_THAT(message_of<usage_error>([&] { y = a + b; }),
                    HasSubstr("combines 2 x 3 elements with 3 x 2: the same number, but different extents"));
        y = a + b.transpose().reshape(a.extents());
        EXPECT_EQ(y.to_host(), std::vector<int>({0, 3, 6, 4, 7, 10}));
        y = a.transpose() * 10 + view(b + 1, {6});  // a row stands beside any
        EXPECT_EQ(y.to_host(), std::vector<int>({1, 32, 13, 44, 25, 56}));
        EXPECT_EQ((a.transpose() + view(b, {b.size()})).extents(), shape(3, 2));
        auto target = view(y, {3, 2});
        EXPECT_THROW(target = a, usage_error);
        target = view(a + 0, target.extents());
        EXPECT_EQ(y.to_host(), std::vector<int>({0, 1, 2, 3, 4, 5}));
    });
}

TEST(V8_views, of_one_vector_are_assigned_from_each_other_as_they_were) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        for (int turn = 0; turn < 8; ++turn) {
            const std::size_t n = 2 + below(random, 3000);
            auto values = random_values<double>(random, n);
            vector<double> x(ctx, std::span<const double>(values));
            viewed to = random_view(random, x), from = random_view(random, x);
            SCOPED_TRACE(to.says + " from " + from.says + " of " + std::to_string(n));
            const std::size_t count = std::min(to.expected.elements.size(), from.expected.elements.size());
            const auto first = balm::slice(0, static_cast<std::int64_t>(count));
            view<double> target = to.of->reshape(shape(to.of->size()))(first);
            target = from.of->reshape(shape(from.of->size()))(first) + target;
            const auto before = values;
            for (std::size_t i = 0; i < count; ++i)
                values[to.expected.elements[i]] =
                    before[from.expected.elements[i]] + before[to.expected.elements[i]];
            expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
        }
    });
}

TEST(V8_views, of_matrices) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t rows = 33, columns = 70;
        const auto values = random_values<double>(random, rows * columns);
        vector<double> x(ctx, std::span<const double>(values));
        const auto M = view(x, {rows, columns});
        const auto of = [&](std::size_t r, std::size_t c) { return values[r * columns + c]; };

        const vector<double> column = M(balm::all, 42);
        expect_each(column.to_host(), [&](std::size_t r) { return of(r, 42); });
        vector<double> row(ctx, columns);
        row = M(7, balm::reversed) + 1.0;
        expect_each(row.to_host(), [&](std::size_t c) { return of(7, columns - 1 - c) + 1.0; });
        EXPECT_EQ(M(3, 4).to_host()[0], of(3, 4));
        const auto inner = M(balm::slice(1, 32, 2), balm::slice(69, 0, -3)).to_host();
        ASSERT_EQ(inner.shape(), shape(16, 23));
        for (std::size_t r = 0; r < 16; ++r)
            for (std::size_t c = 0; c < 23; ++c) EXPECT_EQ(inner(r, c), of(1 + 2 * r, 69 - 3 * c));

        // A row for every row, a column for every column: an outer product, and a matrix less its means.
        vector<double> y(ctx, rows * columns);
        y = view(column, {rows, std::size_t{1}}).broadcast({rows, columns}) *
            view(row, {columns}).broadcast({rows, columns});
        expect_each(y.to_host(), [&](std::size_t i) {
            return of(i / columns, 42) * (of(7, columns - 1 - i % columns) + 1.0);
        });

        view(y, {columns, rows}) = M.transpose();
        expect_each(y.to_host(), [&](std::size_t i) { return of(i % rows, i / rows); });

        // Of an expression, and of that at positions.
        const vector<double> sums = view(x + x * x, {rows, columns})(balm::all, 5);
        expect_each(sums.to_host(), [&](std::size_t r) { return std::fma(of(r, 5), of(r, 5), of(r, 5)); });
        const auto last = static_cast<std::int64_t>(rows * columns - 1);
        const vector<double> turned = (x + 1.0)[last - balm::element_index(0, rows * columns)];
        expect_each(turned.to_host(), [&](std::size_t i) { return values[rows * columns - 1 - i] + 1.0; });
    });
}

TEST(V8_views, of_a_square_matrix_are_assigned_from_its_transpose) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 65;
        const auto values = random_values<float>(random, n * n);
        vector<float> x(ctx, std::span<const float>(values));
        auto M = view(x, {n, n});
        M = M.transpose();
        expect_each(x.to_host(), [&](std::size_t i) { return values[i % n * n + i / n]; });
        M(balm::all, 0) = M(0, balm::all);
        M(10, balm::all) = M(11, balm::all);
        expect_each(x.to_host(), [&](std::size_t i) {
            std::size_t row = i / n, column = i % n;
            if (row == 10) row = 11;
            if (column == 0) std::swap(row, column);
            return values[column * n + row];
        });
    });
}

TEST(V8_views, of_eight_dimensions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::vector<std::size_t> extents{2, 3, 2, 4, 2, 3, 2, 5};
        const std::size_t n = 2 * 3 * 2 * 4 * 2 * 3 * 2 * 5;
        const auto values = random_values<std::int32_t>(random, n);
        vector<std::int32_t> x(ctx, std::span<const std::int32_t>(values)), y(ctx, n);
        const std::vector<int> order{3, 7, 0, 5, 1, 6, 4, 2};
        const view<std::int32_t> turned(array::transposed(view(x, shape(extents)).what(), order));
        std::vector<std::size_t> others;
        for (int d : order) others.push_back(extents[static_cast<std::size_t>(d)]);
        y = turned;
        const model expected = made(others, [&](const std::vector<std::size_t>& place) {
            std::vector<std::size_t> old(8);
            for (std::size_t d = 0; d < 8; ++d) old[static_cast<std::size_t>(order[d])] = place[d];
            std::size_t flat = 0;
            for (std::size_t d = 0; d < 8; ++d) flat = flat * extents[d] + old[d];
            return flat;
        });
        expect_each(y.to_host(), [&](std::size_t i) { return values[expected.elements[i]]; });
        view(y, shape(others)) = turned + 1;
        expect_each(y.to_host(), [&](std::size_t i) { return values[expected.elements[i]] + 1; });
    });
}

TEST(V8_views, share_kernels_between_slices_of_a_kind) {
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 100;
        vector<double> x(ctx, n * n, 1.0), y(ctx, n);
        const auto M = view(x, {n, n});
        y = M(balm::all, 3) * 2;
        int compiled = 0;
        kernels::observe_compilations([&](const ir::function&, const ir::launch_facts&) { ++compiled; });
        for (int c = 4; c < 20; ++c) y = M(balm::all, c) * 2;
        y = M(balm::reversed, 5) * 2;
        y = x(balm::slice(7, 7 + 3 * 100, 3)) * 2;
        EXPECT_EQ(compiled, 0);
        compile_kernels_with_nvrtc_again();
    });
}

TEST(V3_scatter, writes_at_positions) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 5000, count = 1234;
        std::vector<std::uint32_t> all_positions(n);
        std::iota(all_positions.begin(), all_positions.end(), 0u);
        std::shuffle(all_positions.begin(), all_positions.end(), random);
        all_positions.resize(count);
        auto values = random_values<float>(random, n);
        const auto given = random_values<float>(random, count);
        vector<float> x(ctx, std::span<const float>(values));
        const vector<float> y(ctx, std::span<const float>(given));
        const vector<std::uint32_t> where(ctx, std::span<const std::uint32_t>(all_positions));
        x[where] = y;
        for (std::size_t i = 0; i < count; ++i) values[all_positions[i]] = given[i];
        expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
        x[where] += x[where];
        for (std::size_t i = 0; i < count; ++i) values[all_positions[i]] *= 2;
        expect_each(x.to_host(), [&](std::size_t i) { return values[i]; });
        const vector<float> gathered = x[where];
        expect_each(gathered.to_host(), [&](std::size_t i) { return values[all_positions[i]]; });
    });
}

TEST(V3_scatter, by_positions_that_are_overwritten_uses_them_as_they_were) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 3000;
        std::vector<std::int64_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random);
        vector<std::int64_t> x(ctx, std::span<const std::int64_t>(order));
        x[x] = balm::element_index();  // the inverse permutation
        const auto got = x.to_host();
        for (std::size_t i = 0; i < n; ++i)
            ASSERT_EQ(got[static_cast<std::size_t>(order[i])], static_cast<std::int64_t>(i));
    });
}

/// Whether an element holds one of the values that compete for it, or its old value if there are none.
template <class T>
void expect_one_of(const std::vector<T>& before, const std::vector<T>& got,
                   const std::vector<std::int32_t>& positions, const std::vector<T>& values) {
    for (std::size_t at = 0; at < got.size(); ++at) {
        bool is_assigned = false, is_found = false;
        for (std::size_t k = 0; k < positions.size(); ++k)
            if (static_cast<std::size_t>(positions[k]) == at) {
                is_assigned = true;
                is_found = is_found || values[k] == got[at];
            }
        EXPECT_TRUE(is_assigned ? is_found : got[at] == before[at]) << "element " << at << " is " << got[at];
    }
}

TEST(V3_scatter, at_equal_positions_reads_the_elements_as_they_were) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1000, few = 5;
        std::vector<std::int32_t> p(n), q(n);
        for (std::size_t k = 0; k < n; ++k) {
            p[k] = static_cast<std::int32_t>(random() % few);
            q[k] = static_cast<std::int32_t>(random() % few);
        }
        const std::vector<int> before{3, 1, 4, 1, 5, 9};
        const auto old = random_values<int>(random, n, -9, 9);
        const vector<std::int32_t> P(ctx, p), Q(ctx, q);
        const auto check = [&](auto&& assign, auto&& value) {
            vector<int> x(ctx, before), y(ctx, std::span<const int>(old));
            assign(x, y);
            std::vector<int> values(n);
            for (std::size_t k = 0; k < n; ++k) values[k] = value(k);
            const auto got = x.to_host();
            expect_one_of(before, {got.begin(), got.end()}, p, values);
        };
        const auto at = [&](const std::vector<std::int32_t>& places, std::size_t k) {
            return before[static_cast<std::size_t>(places[k])];
        };
        check([&](auto& x, auto&) { x[P] += 1; }, [&](std::size_t k) { return at(p, k) + 1; });
        check([&](auto& x, auto&) { x[P] = 2 * x[P] + 1; }, [&](std::size_t k) { return 2 * at(p, k) + 1; });
        check([&](auto& x, auto&) { x[P] += x[Q]; }, [&](std::size_t k) { return at(p, k) + at(q, k); });
        check([&](auto& x, auto& y) { x[P] -= y; }, [&](std::size_t k) { return at(p, k) - old[k]; });
        check(
            [&](auto& x, auto& y) {
                balm::tie(x[P], y) = std::tuple(x[P] * 10 + y, x[P] + y);
                const auto sums = y.to_host();
                for (std::size_t k = 0; k < n; ++k) EXPECT_EQ(sums[k], at(p, k) + old[k]);
            },
            [&](std::size_t k) { return at(p, k) * 10 + old[k]; });
        // Positions that the host does not know.
        check([&](auto& x, auto&) { x[balm::element_index(0, n) % 5] += 1; },
              [&](std::size_t k) { return before[k % 5] + 1; });
    });
}

TEST(V3_scatter, of_lanes_at_equal_positions_reads_them_as_they_were) {
    on_all_contexts([&](const context& ctx) {
        const std::size_t n = 1000;
        const vector<std::int32_t> P(ctx, std::vector<std::int32_t>(n, 1));
        vector<balm::int2> x(ctx, std::vector<balm::int2>{{1, 2}, {3, 4}, {5, 6}});
        balm::lane<1>(x[P]) += 1;
        const auto got = x.to_host();
        EXPECT_EQ(got[0], (balm::int2{1, 2}));
        EXPECT_EQ(got[1], (balm::int2{3, 5}));
        EXPECT_EQ(got[2], (balm::int2{5, 6}));
    });
}

TEST(V8_views, of_windows_that_overlap_read_them_as_they_were) {
    on_all_contexts([&](const context& ctx) {
        vector<int> x(ctx, 1000);
        x = 1;
        auto windows = view(x, {998, 3}, {1, 1});
        windows += 1;
        expect_each(x.to_host(), [](std::size_t) { return 2; });
        auto same = view(x, {500, 2}, {0, 1});
        same *= 3;
        expect_each(x.to_host(), [](std::size_t k) { return k < 2 ? 6 : 2; });
    });
}

TEST(V3_scatter, needs_a_temporary_only_where_positions_may_repeat) {
    on_all_devices([&](const device& on) {
        const context ctx(std::vector<device>{on});
        const std::size_t n = 100;
        vector<int> x(ctx, 200);
        const vector<std::int32_t> p(ctx, n);
        /// Of x[where] = x[from] + 1.
        const auto needs = [&](auto&& where, auto&& from) {
            array::tape positions(expr<std::int64_t>(balm::cast<std::int64_t>(where)).tape()),
                values((x[from] + 1).tape());
            const array::target into{x.state().get(), &positions};
            values.append(positions);
            return array::needs_temporary(values, {&into, 1}, shape(n));
        };
        const auto i = balm::element_index(0, n);
        const std::int64_t last = 99;
        EXPECT_FALSE(needs(last - i, last - i));
        EXPECT_FALSE(needs(2 * i + 1, 2 * i + 1));
        EXPECT_FALSE(needs(2 * i, 2 * i + 1));
        EXPECT_FALSE(needs(i, i + 100));
        EXPECT_FALSE(needs(i * -2 + 198, i * -2 + 198));
        EXPECT_FALSE(needs(balm::cast<std::int32_t>(i) * 2, balm::cast<std::int32_t>(i) * 2));
        EXPECT_TRUE(needs(i, i + 1));
        EXPECT_TRUE(needs(i / 2, i / 2));
        EXPECT_TRUE(needs(0 * i, 0 * i));
        EXPECT_TRUE(needs(i * i, i * i));
        EXPECT_TRUE(needs(p, p));
        EXPECT_TRUE(needs(balm::cast<std::uint8_t>(4 * i), balm::cast<std::uint8_t>(4 * i)));  // wraps
    });
}

TEST(V8_views, refuse_what_does_not_fit) {
    on_all_contexts([&](const context& ctx) {
        vector<double> x(ctx, 12, 1.0), y(ctx, 5, 1.0);
        auto M = view(x, {3, 4});
        EXPECT_THAT(message_of<usage_error>([&] {
                        static_cast<void>(view(x, {5, 3}));
                    }),
                    HasSubstr("12 elements cannot be viewed as 5 x 3"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M(0, 4); }),
                    HasSubstr("position 4 is out of range in dimension 1"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M(-1, 0); }),
                    HasSubstr("position -1 is out of range in dimension 0"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        M(balm::all, balm::slice(0, 6, 3)).size();
                        (void)M(balm::all, balm::slice(0, 8, 3));
                    }),
                    HasSubstr("positions 0 to 6 are out of range in dimension 1 of a view of 3 x 4"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M(balm::all, balm::slice(0, 3, 0)); }),
                    HasSubstr("stride of 0"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M(1); }), HasSubstr("1 parts of a slice"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M.transpose({0, 0}); }), HasSubstr("once"));
        EXPECT_THAT(message_of<usage_error>([&] { (void)M.reshape({7}); }), HasSubstr("reshaped to 7"));
        EXPECT_THAT(message_of<usage_error>([&] {
                        (void)M.broadcast({3, 5});
                    }),
                    HasSubstr("broadcast to 3 x 5"));
        EXPECT_THAT(message_of<usage_error>([&] { M = y; }),
                    HasSubstr("an expression of 5 elements is assigned to a view of 3 x 4"));
        EXPECT_THAT(message_of<usage_error>([&] { M = M.transpose(); }), HasSubstr("4 x 3"));
        EXPECT_THAT(message_of<usage_error>([&] { y = M + M.transpose(); }),
                    HasSubstr("combines 3 x 4 elements with 4 x 3"));
        // No positions are no elements.
        M(balm::slice(2, 2), balm::all) = 7.0;
        EXPECT_EQ(M(balm::slice(2, 2), balm::all).size(), 0u);
        expect_each(x.to_host(), [](std::size_t) { return 1.0; });
    });
}

// ---- views as values: the algorithms of the standard library order them ----

/// Vectors of different sizes, and views of them in any order. The model of a view is the number of its
/// vector.
template <class T>
class shelf {
public:
    shelf(const context& ctx, std::mt19937_64& random, std::size_t count) : random_(random) {
        std::vector<std::size_t> sizes(count);
        std::iota(sizes.begin(), sizes.end(), 1 + below(random, 40));
        std::shuffle(sizes.begin(), sizes.end(), random);
        for (std::size_t k = 0; k < count; ++k) {
            content_.push_back(random_values<int>(random, sizes[k], -1000, 1000));
            vectors_.emplace_back(ctx, content_[k]);
        }
        for (std::size_t k = 0; k < count; ++k) put(k);
    }

    /// One algorithm on the views and on their numbers.
    void step() {
        const auto at = [](auto& of, std::size_t k) {
            return of.begin() + static_cast<std::ptrdiff_t>(std::min(k, of.size()));
        };
        const auto a = static_cast<std::size_t>(below(random_, static_cast<unsigned>(views_.size()))),
                   b = static_cast<std::size_t>(below(random_, static_cast<unsigned>(views_.size())));
        const std::uint64_t draw = random_();
        const auto both = [&](auto&& change) {
            change(views_, [](const view<T>& of) { return of.size(); });
            change(numbers_, [&](std::size_t of) { return content_[of].size(); });
        };
        switch (below(random_, 11)) {
            case 0: both([&](auto& all, auto&&) { std::swap(all[a], all[b]); }); break;
            case 1:
                both([&](auto& all, auto&&) {
                    using std::swap;
                    swap(all[a], all[b]);
                });
                break;
            case 2: both([&](auto& all, auto&&) { std::rotate(all.begin(), at(all, a), all.end()); }); break;
            case 3:
                both([&](auto& all, auto&& size) {
                    std::sort(all.begin(), all.end(),
                              [&](const auto& x, const auto& y) { return size(x) < size(y); });
                });
                break;
            case 4:
                both([&](auto& all, auto&& size) {
                    std::stable_sort(all.begin(), all.end(),
                                     [&](const auto& x, const auto& y) { return size(x) % 4 < size(y) % 4; });
                });
                break;
            case 5:
                both([&](auto& all, auto&&) {
                    std::mt19937_64 same(draw);
                    std::shuffle(all.begin(), all.end(), same);
                });
                break;
            case 6:
                both([&](auto& all, auto&&) {
                    std::reverse(at(all, std::min(a, b)), at(all, std::max(a, b)));
                });
                break;
            case 7:
                both([&](auto& all, auto&& size) {
                    std::stable_partition(all.begin(), all.end(),
                                          [&](const auto& x) { return size(x) % 2 == 0; });
                });
                break;
            case 8:
                both([&](auto& all, auto&& size) {
                    const auto by_size = [&](const auto& x, const auto& y) { return size(x) < size(y); };
                    std::make_heap(all.begin(), all.end(), by_size);
                    std::pop_heap(all.begin(), all.end(), by_size);
                });
                break;
            case 9:
                both([&](auto& all, auto&&) {
                    auto one = all[b];
                    all.insert(at(all, a), one);
                    all.insert(at(all, b), 2, one);
                });
                break;
            default:  // the erasure that copies no elements
                if (views_.size() < 3) return;
                both([&](auto& all, auto&&) {
                    std::rotate(at(all, a), at(all, a) + 1, all.end());
                    all.pop_back();
                });
        }
    }

    void check() const {
        ASSERT_EQ(views_.size(), numbers_.size());
        for (std::size_t k = 0; k < views_.size(); ++k)
            ASSERT_EQ(views_[k].to_host(), std::span<const int>(content_[numbers_[k]])) << "view " << k;
        for (std::size_t k = 0; k < vectors_.size(); ++k)  // algorithms copy no elements
            ASSERT_EQ(vectors_[k].to_host(), std::span<const int>(content_[k])) << "vector " << k;
    }

private:
    void put(std::size_t k) {
        views_.push_back(view<T>(vectors_[k], {vectors_[k].size()}));
        numbers_.push_back(k);
    }

    std::mt19937_64& random_;
    std::vector<std::vector<int>> content_;
    std::vector<vector<int>> vectors_;
    std::vector<view<T>> views_;
    std::vector<std::size_t> numbers_;
};

TEST(V8_views, are_ordered_by_the_standard_librarys_algorithms_like_values) {
    auto random = seeded_random();
    on_all_contexts([&](const context& ctx) {
        const auto run = [&]<class T>(T) {
            shelf<std::conditional_t<std::is_same_v<T, int>, int, const int>> all(ctx, random,
                                                                                  2 + below(random, 30));
            for (std::size_t k = 0; k < case_count(40); ++k) {
                all.step();
                if (HasFatalFailure()) return;
            }
            all.check();
        };
        run(int());
        run(char());
    });
}

TEST(V8_views, of_structures_are_exchanged_with_the_vectors_beside_them) {
    struct field {
        vector<float> values;
        view<float> interior;
        field(const context& ctx, std::size_t n, float value)
            : values(ctx, n, value), interior(view(values, {n})(balm::slice(1, static_cast<int>(n) - 1))) {}
    };
    on_all_contexts([](const context& ctx) {
        field now(ctx, 1000, 1.f), next(ctx, 1000, 0.f);
        for (int step = 0; step < 5; ++step) {  // a double buffer
            next.interior = now.interior + 1.f;
            std::swap(now, next);
        }
        expect_each(now.values.to_host(), [](std::size_t i) { return i == 0 || i == 999 ? 0.f : 6.f; });
        expect_each(next.values.to_host(), [](std::size_t i) { return i == 0 || i == 999 ? 1.f : 5.f; });
        now.interior = 7.f;  // still views the vector beside it
        EXPECT_EQ(now.values[1], 7.f);
        EXPECT_EQ(next.values[1], 5.f);
    });
}

TEST(V8_views, assign_elements_unless_they_were_moved_from) {
    on_all_contexts([](const context& ctx) {
        vector<int> x(ctx, {1, 2, 3, 4}), y(ctx, {5, 6, 7, 8});
        auto M = view(x, {2, 2}), N = view(y, {2, 2});
        M(all, 0) = N(all, 1);  // temporaries
        EXPECT_EQ(x.to_host(), std::vector<int>({6, 2, 8, 4}));
        M = std::move(N);
        EXPECT_EQ(x.to_host(), std::vector<int>({5, 6, 7, 8}));
        N = 1;  // not moved from
        EXPECT_EQ(y.to_host(), std::vector<int>({1, 1, 1, 1}));
        EXPECT_EQ(x.to_host(), std::vector<int>({5, 6, 7, 8}));
        auto row = M(0, all);
        row = M(1, all);
        EXPECT_EQ(x.to_host(), std::vector<int>({7, 8, 7, 8}));

        auto taken = std::move(row);
        const auto reads = [&](auto&& read) {
            EXPECT_THAT(message_of<usage_error>(read), HasSubstr("moved from"));
        };
        reads([&] { (void)row.to_host(); });
        reads([&] { (void)row.size(); });
        reads([&] { (void)row(0); });
        reads([&] { (void)row.transpose(); });
        reads([&] { (void)row[vector<int>(ctx, {0})]; });
        reads([&] { row = 1; });
        reads([&] { row += 1; });
        reads([&] { y = row + 1; });
        reads([&] { taken = row; });
        reads([&] { (void)balm::sum(row); });
        reads([&] { tie(row) = std::tuple(M(0, all)); });
        auto hollow = row;
        reads([&] { (void)hollow.size(); });
        taken = 3;
        EXPECT_EQ(x.to_host(), std::vector<int>({3, 3, 7, 8}));
        row = N(1, all);  // views what it is assigned
        row = 4;
        EXPECT_EQ(y.to_host(), std::vector<int>({1, 1, 4, 4}));
        hollow = row;
        hollow = std::move(row);  // elements: row stays
        row = 5;
        EXPECT_EQ(y.to_host(), std::vector<int>({1, 1, 5, 5}));

        view<const int> fixed = M, other = N;
        EXPECT_THAT(message_of<usage_error>([&] { fixed = std::move(other); }), HasSubstr("read-only"));
        std::swap(fixed, other);
        EXPECT_EQ(fixed.to_host()(1, 0), 5);
        EXPECT_EQ(other.to_host()(0, 0), 3);
    });
}

}  // namespace

}  // namespace balm::test
