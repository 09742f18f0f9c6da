// First elements of an order, and elements of a rank.

#include <algorithm>
#include <iterator>

#include "algorithm/random_program/program.hpp"

namespace balm::test::random_algorithms {

std::size_t program_state::drawn_count(std::size_t most) {
    const std::size_t counts[] = {0, 1, 10, most / 2, most, below(most + 1)};
    const std::size_t made = std::min(counts[below(std::size(counts))], most);
    say(" " + std::to_string(made));
    return made;
}

template <class T>
void program<T>::find_first() {
    say("top_k");
    const sort_order way = order();
    const std::size_t count = drawn_count(n_);
    const operand<T> of = any_values();
    std::vector<std::size_t> wanted = order_on_host(of.on_host, way);
    wanted.resize(count);
    const auto [first, positions] = top_k(of.values, count, way);
    same(first, permuted(of.on_host, wanted), "first elements");
    same(positions, std::vector<std::int64_t>(wanted.begin(), wanted.end()), "positions");
    if (count != n_) return;
    say(", x at them");
    yields<T>(expr<T>(x_.on_device[on_all(positions)]), permuted(x_.on_host, wanted));
}

template <class T>
void program<T>::find_rank() {
    if (n_ == 0) return;
    say("nth_element");
    const sort_order way = order();
    const std::size_t rank = drawn_count(n_ - 1);
    const operand<T> of = any_values();
    const T got = nth_element(of.values, rank, way);
    same(vector<T>(first_, {got}), {sorted_on_host(of.on_host, way)[rank]}, "element of a rank");
}

template <class T>
void program<T>::find_first_by_comparison() {
    say("top_k by comparison of");
    const operand<std::int32_t> of = keys();
    const std::size_t count = drawn_count(n_);
    std::vector<std::size_t> wanted = order_of(
        n_, [&](std::size_t a, std::size_t b) { return is_lower_on_host(of.on_host[a], of.on_host[b]); });
    wanted.resize(count);
    const auto [first, positions] = top_k(of.values, count, is_lower());
    same(first, permuted(of.on_host, wanted), "first elements");
    same(positions, std::vector<std::int64_t>(wanted.begin(), wanted.end()), "positions");
}

#define BALM_INSTANTIATE(T)                 \
    template void program<T>::find_first(); \
    template void program<T>::find_rank();  \
    template void program<T>::find_first_by_comparison();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
