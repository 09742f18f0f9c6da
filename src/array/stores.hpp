#pragma once
// Where a kernel stores the values of a tape: what its plan depends on, and its parameters.

#include <algorithm>
#include <cstdint>

#include "array/layout.hpp"

namespace balm::array {

/// How a value is stored.
struct stored_value {
    trace::type type;
    std::uint32_t leaf = 0, written = 0;  ///< the vector's numbers among the leaves and the written vectors
    bool is_part = false, is_at_positions = false;
    friend bool operator==(const stored_value&, const stored_value&) = default;
};
struct stores_key {
    detail::inline_vector<stored_value, 4> values;
    friend bool operator==(const stores_key&, const stores_key&) = default;
};

inline stores_key key_of(const layout& leaves, target_list targets, const written_list& written) {
    stores_key key;
    for (const target& t : targets) {
        const auto into = std::find(written.begin(), written.end(), t.vector) - written.begin();
        key.values.push_back({t.vector->type(), leaves.number_of(*t.vector), static_cast<std::uint32_t>(into),
                              t.is_part, t.where != nullptr});
    }
    return key;
}

/// Lists a parameter for each written vector.
template <class List>
void declare_written(List& to, const char* word, const layout& leaves, const written_list& written) {
    for (std::size_t k = 0; k < written.size(); ++k) {
        const bool is_read = leaves.number_of(*written[k]) < leaves.vectors.size();
        to.vector({word, k}, *written[k], is_read ? trace::access::mixed : trace::access::out);
    }
}

}  // namespace balm::array
