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
    const operand<T> of = values();
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
void program<T>::sort_rows() {
    constexpr std::size_t lengths[] = {1, 2, 3, 7, 64, 255, 1025, 5000, 70000};
    const std::size_t length = lengths[below(std::size(lengths))], rows = n_ / length;
    say("rows of " + std::to_string(length));
    if (rows == 0) return;
    const sort_order way = order();
    const auto count = static_cast<std::ptrdiff_t>(rows * length);
    std::vector<T> wanted(special_.on_host.begin(), special_.on_host.begin() + count);
    vector<T> own(ctx_, wanted);
    for (auto row = wanted.begin(); row != wanted.end(); row += static_cast<std::ptrdiff_t>(length))
        std::stable_sort(row, row + static_cast<std::ptrdiff_t>(length),
                         [way](T a, T b) { return sorts_ahead(a, b, way); });
    auto rows_of_own = view(own, {rows, length});
    if (toss())
        own = sorted(rows_of_own, along(1), way);
    else
        own = vector<T>(sorted(rows_of_own, along(1), way));
    same(own, wanted, "special");
}

#define BALM_INSTANTIATE(T)                         \
    template void program<T>::sort_special();       \
    template void program<T>::sort_with_values();   \
    template void program<T>::sort_several_keys();  \
    template void program<T>::sort_by_comparison(); \
    template void program<T>::sort_positions();     \
    template void program<T>::sort_rows();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
