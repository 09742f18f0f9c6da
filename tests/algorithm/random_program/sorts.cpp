// Sorts of vectors, of keys with values, of rows.

#include "algorithm/random_program/program.hpp"

#include <cstring>
#include <iterator>

namespace balm::test::random_algorithms {

template <class T>
void program<T>::sort_special() {
    say("sort special");
    const sort_order way = order();
    const std::vector<T> wanted = sorted_on_host(special_.on_host, way);
    switch (below(3)) {
        case 0: sort(special_.on_device, way); break;
        case 1:
            say(" = sorted");
            special_.on_device = sorted(special_.on_device, way);
            break;
        default:
            say(" another");
            same(vector<T>(sorted(special_.on_device, way)), wanted, "special");
            return;
    }
    special_.on_host = wanted;
}
template <class T>
void program<T>::sort_with_values() {
    say("sort by key");
    const sort_order way = order();
    const std::size_t chosen = below(4);
    const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
        return chosen == 3 ? sorts_ahead(keys_.on_host[a], keys_.on_host[b], way)
                           : sorts_ahead(special_.on_host[a], special_.on_host[b], way);
    });
    if (chosen == 0) {
        say(" special, x");
        sort_by_key(special_.on_device, x_.on_device, way);
        x_.on_host = permuted(x_.on_host, by);
        special_.on_host = permuted(special_.on_host, by);
    } else if (chosen == 1) {
        say(" special, x, wide, keys");
        sort_by_key(special_.on_device, x_.on_device, tie(wide_.on_device, keys_.on_device), way);
        x_.on_host = permuted(x_.on_host, by);
        wide_.on_host = permuted(wide_.on_host, by);
        keys_.on_host = permuted(keys_.on_host, by);
        special_.on_host = permuted(special_.on_host, by);
    } else if (chosen == 2) {
        say(" special, records");
        std::vector<record> records(n_);
        for (std::size_t k = 0; k < n_; ++k) {
            std::memset(static_cast<void*>(&records[k]), 0, sizeof(record));
            records[k].a = static_cast<float>(k % 9);
            records[k].number = static_cast<std::int32_t>(k);
            records[k].b = static_cast<double>(k) / 2;
        }
        vector<record> moved(ctx_, records);
        sort_by_key(special_.on_device, moved, way);
        special_.on_host = permuted(special_.on_host, by);
        same(moved, permuted(records, by), "records");
    } else {
        say(" keys + 0, special");
        sort_by_key(keys_.on_device + 0, special_.on_device, way);
        special_.on_host = permuted(special_.on_host, by);
    }
}
template <class T>
void program<T>::sort_several_keys() {
    say("sort by keys, special; x");
    const sort_order way = order();
    const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
        if (keys_.on_host[a] != keys_.on_host[b]) return sorts_ahead(keys_.on_host[a], keys_.on_host[b], way);
        return sorts_ahead(special_.on_host[a], special_.on_host[b], way);
    });
    sort_by_key(tie(keys_.on_device, special_.on_device), x_.on_device, way);
    keys_.on_host = permuted(keys_.on_host, by);
    special_.on_host = permuted(special_.on_host, by);
    x_.on_host = permuted(x_.on_host, by);
}
template <class T>
void program<T>::sort_by_comparison() {
    say("sort keys by comparison");
    const auto by = order_of(n_, [&](std::size_t a, std::size_t b) {
        return is_lower_on_host(keys_.on_host[a], keys_.on_host[b]);
    });
    switch (below(3)) {
        case 0: sort(keys_.on_device, is_lower()); break;
        case 1:
            say(", y");
            sort_by_key(keys_.on_device, y_.on_device, is_lower());
            y_.on_host = permuted(y_.on_host, by);
            break;
        default:
            say(", y, wide");
            sort_by_key(keys_.on_device, y_.on_device, wide_.on_device, is_lower());
            y_.on_host = permuted(y_.on_host, by);
            wide_.on_host = permuted(wide_.on_host, by);
    }
    keys_.on_host = permuted(keys_.on_host, by);
}
template <class T>
void program<T>::sort_positions() {
    say("argsort");
    const sort_order way = order();
    const operand<T> of = any_values();
    const auto by = order_of(
        n_, [&](std::size_t a, std::size_t b) { return sorts_ahead(of.on_host[a], of.on_host[b], way); });
    if (toss())
        same(vector<std::int64_t>(argsort<std::int64_t>(of.values, way)),
             std::vector<std::int64_t>(by.begin(), by.end()), "positions");
    else
        same(vector<std::uint32_t>(argsort(of.values, way)), std::vector<std::uint32_t>(by.begin(), by.end()),
             "positions");
}
template <class T>
void program<T>::sort_along() {
    constexpr std::size_t lengths[] = {1, 2, 3, 7, 64, 255, 1025, 5000, 70000}, inners[] = {1, 1, 2, 5, 40};
    const std::size_t rows = lengths[below(std::size(lengths))], inner = inners[below(std::size(inners))],
                      outer = n_ / (rows * inner), count = outer * rows * inner;
    say("along the second dimension of " + std::to_string(outer) + " x " + std::to_string(rows) + " x " +
        std::to_string(inner));
    if (count == 0) return;
    const sort_order way = order();
    std::vector<T> all(special_.on_host.begin(),
                       special_.on_host.begin() + static_cast<std::ptrdiff_t>(count));
    vector<T> own(ctx_, all);
    std::vector<std::size_t> places(count);  // of each element in sorted order, among all
    std::vector<std::int64_t> positions(count);
    for (std::size_t first = 0; first < count; ++first) {
        if (first / inner % rows != 0) continue;
        const auto at = [&](std::size_t k) { return all[first + k * inner]; };
        const std::vector<std::size_t> sorted_ones =
            order_of(rows, [&](std::size_t a, std::size_t b) { return sorts_ahead(at(a), at(b), way); });
        for (std::size_t k = 0; k < rows; ++k) {
            places[first + k * inner] = first + sorted_ones[k] * inner;
            positions[first + k * inner] = static_cast<std::int64_t>(sorted_ones[k]);
        }
    }
    auto box = view(own, {outer, rows, inner});
    switch (below(3)) {
        case 0: {
            say(" positions");
            const vector<std::uint32_t> got = argsort(box, along(1), way);
            return same(got, std::vector<std::uint32_t>(positions.begin(), positions.end()), "positions");
        }
        case 1: {
            const std::size_t chosen = drawn_count(rows);
            std::vector<std::int64_t> first_positions;
            std::vector<T> first_ones;
            for (std::size_t k = 0; k < count; ++k) {
                if (k / inner % rows >= chosen) continue;
                first_positions.push_back(positions[k]);
                first_ones.push_back(all[places[k]]);
            }
            const auto got = top_k(box, chosen, along(1), way);
            same(vector<std::int64_t>(got.positions), first_positions, "positions");
            return same(vector<T>(got.values), first_ones, "first elements");
        }
        default:
            if (toss())
                own = sorted(box, along(1), way);
            else
                own = vector<T>(sorted(box, along(1), way));
            same(own, permuted(all, places), "special");
    }
}

#define BALM_INSTANTIATE(T)                         \
    template void program<T>::sort_special();       \
    template void program<T>::sort_with_values();   \
    template void program<T>::sort_several_keys();  \
    template void program<T>::sort_by_comparison(); \
    template void program<T>::sort_positions();     \
    template void program<T>::sort_along();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
