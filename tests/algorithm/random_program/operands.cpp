// What steps take: expressions and views, among them results of other algorithms.

#include "algorithm/random_program/program.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace balm::test::random_algorithms {

template <class T>
operand<T> program<T>::values(int depth) {
    switch (below(depth < 2 ? 14 : 4)) {
        case 0: say(" x"); return {expr<T>(x_.on_device), x_.on_host};
        case 1: say(" y"); return {expr<T>(y_.on_device), y_.on_host};
        case 2: {
            const std::size_t from = below(margin + 1);
            say(" base(" + std::to_string(from) + "…)");
            return {expr<T>(part_of_base(from)), host_part(from)};
        }
        case 3: {
            say(" reversed base");
            const auto first = static_cast<std::int64_t>(margin + n_) - 1;
            std::vector<T> made = host_part(margin);
            std::reverse(made.begin(), made.end());
            return {expr<T>(view(base_.on_device,
                                 {n_ + margin})(slice(first, static_cast<std::int64_t>(margin) - 1, -1))),
                    made};
        }
        case 4: {
            say(" scan of");
            operand<T> of = values(depth + 1);
            std::vector<T> made = scanned_on_host<T>(of.on_host, true, std::numeric_limits<T>::lowest(),
                                                     [](T a, T b) { return std::max(a, b); });
            return {expr<T>(inclusive_scan(max_of(std::move(of.values)))), std::move(made)};
        }
        case 5: {
            say(" sorted");
            const sort_order way = order();
            operand<T> of = values(depth + 1);
            // -0 equals +0 here: small numbers have one only.
            return {expr<T>(sorted(std::move(of.values), way)), sorted_on_host(of.on_host, way)};
        }
        case 6: {
            say(" argsort of keys in");
            const auto by = order_of(
                n_, [this](std::size_t a, std::size_t b) { return keys_.on_host[a] < keys_.on_host[b]; });
            return {expr<T>(x_.on_device[argsort(keys_.on_device)]), permuted(x_.on_host, by)};
        }
        case 7: return merged(depth);
        case 8: return first_ones(depth);
        case 9: return product(depth);
        case 10:
        case 11: {
            say(" functions of");
            operand<T> of = values(depth + 1);
            return {through_functions(of.values), std::move(of.on_host)};
        }
        default: {
            say(" select(keys > 3,");
            operand<T> a = values(depth + 1), b = values(depth + 1);
            say(")");
            std::vector<T> made(n_);
            for (std::size_t k = 0; k < n_; ++k) made[k] = keys_.on_host[k] > 3 ? a.on_host[k] : b.on_host[k];
            return {expr<T>(select(keys_.on_device > 3, std::move(a.values), std::move(b.values))),
                    std::move(made)};
        }
    }
}
operand<std::int32_t> program_state::keys() {
    switch (below(3)) {
        case 0: {
            say(" keys / 2");
            std::vector<std::int32_t> made = keys_.on_host;
            for (std::int32_t& each : made) each /= 2;
            return {expr<std::int32_t>(keys_.on_device / 2), made};
        }
        case 1:
            say(" sorted(keys)");
            return {expr<std::int32_t>(sorted(keys_.on_device)), sorted_on_host(keys_.on_host, ascending)};
        default: say(" keys"); return {expr<std::int32_t>(keys_.on_device), keys_.on_host};
    }
}
/// Two sorted arrays of as many elements together, merged.
template <class T>
operand<T> program<T>::merged(int depth) {
    say(" merged sorted");
    const sort_order way = order();
    const operand<T> a = values(depth + 1), b = values(depth + 1);
    const std::size_t from_a = below(n_ + 1), from_b = n_ - from_a;
    say("(" + std::to_string(from_a) + " of the first)");
    const auto part = [](const std::vector<T>& of, std::size_t count) {
        return std::vector<T>(of.end() - static_cast<std::ptrdiff_t>(count), of.end());
    };
    const std::vector<T> first = part(sorted_on_host(a.on_host, way), from_a),
                         second = part(sorted_on_host(b.on_host, way), from_b);
    const vector<T> sorted_a(sorted(a.values, way)), sorted_b(sorted(b.values, way));
    const auto device_part = [this](const vector<T>& of, std::size_t count) {
        const auto end = static_cast<std::int64_t>(n_);
        return of(slice(end - static_cast<std::int64_t>(count), end));
    };
    std::vector<T> wanted;
    std::merge(first.begin(), first.end(), second.begin(), second.end(), std::back_inserter(wanted),
               by<T>(way));
    return {expr<T>(on_all(merge(device_part(sorted_a, from_a), device_part(sorted_b, from_b), way))),
            std::move(wanted)};
}
/// All elements as the first ones of their order.
template <class T>
operand<T> program<T>::first_ones(int depth) {
    say(" top_k of all");
    const sort_order way = order();
    operand<T> of = values(depth + 1);
    return {expr<T>(on_all(top_k(of.values, n_, way).values)), sorted_on_host(of.on_host, way)};
}

#define BALM_INSTANTIATE(T)                      \
    template operand<T> program<T>::values(int); \
    template operand<T> program<T>::merged(int); \
    template operand<T> program<T>::first_ones(int);
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
