#include "algorithm/merge/sorted_keys.hpp"

#include "ir/ir.hpp"

namespace balm::array {

using block::Bool;
using block::values;

void sorted_keys::take(const ordering& by) {
    is_descending = by.order == sort_order::descending;
    has_comparison = by.is_ahead != nullptr;
    if (has_comparison) comparison = by.is_ahead->identity;
}

std::vector<std::shared_ptr<vector_state>> as_kernels_take(vector_list list, std::size_t keys,
                                                           const ordering& by) {
    std::vector<std::shared_ptr<vector_state>> made;
    for (std::size_t k = 0; k < list.size(); ++k)
        made.push_back(k < keys && by.is_ahead == nullptr ? bits_of(*list[k]) : list[k]);
    return made;
}

block::types key_comparison::types() const {
    block::types list;
    for (std::size_t k = 0; k < keys_.types.size(); ++k)
        list.push_back(keys_.has_comparison ? keys_.types[k] : trace::type(order_of(k).bits_type()));
    return list;
}

values key_comparison::numbers_of(const values& own) const {
    if (keys_.has_comparison) return {own[0]};
    values made;
    for (std::size_t k = 0; k < keys_.types.size(); ++k) made.push_back(ordered_number(own[k], order_of(k)));
    return made;
}
values key_comparison::keys_of(const values& numbers) const {
    if (keys_.has_comparison) return {numbers[0]};
    values made;
    for (std::size_t k = 0; k < keys_.types.size(); ++k)
        made.push_back(key_of_number(numbers[k], order_of(k)));
    return made;
}

Bool key_comparison::are_ahead(const values& a, const values& b) const {
    if (keys_.has_comparison) {
        const trace::node operands[] = {a[0], b[0]};
        return Bool(trace::call(is_ahead_, operands, 2, {}));
    }
    const auto rank = [&](const values& of, std::size_t k) { return rank_of_number(of[k], order_of(k)); };
    // A number below the rank of another one is its own rank.
    const auto is_less = [&](std::size_t k) { return Bool(trace::apply(builtin::less, a[k], rank(b, k))); };
    std::size_t k = keys_.types.size() - 1;
    Bool ahead = is_less(k);
    while (k-- > 0)
        ahead = is_less(k) || (Bool(trace::apply(builtin::equal, rank(a, k), rank(b, k))) && ahead);
    return ahead;
}

block::element_order key_comparison::of_numbers() const {
    return [this](const values& a, const values& b) { return are_ahead(a, b); };
}
block::element_order key_comparison::in_memory() const {
    return [this](const values& a, const values& b) { return are_ahead(numbers_of(a), numbers_of(b)); };
}

}  // namespace balm::array
