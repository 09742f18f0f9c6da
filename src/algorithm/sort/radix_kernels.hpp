#pragma once
// The kernels of radix sorts, least significant digit first. Elements are moved between the vector and a
// spare one, digit by digit; digits that all keys share move nothing, and a last kernel brings elements back
// that have ended in the spare one. Keys, and values of 1, 2, 4 or 8 bytes, are moved as bits.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/sort/sort_key.hpp"
#include "array/parameters.hpp"
#include "base/table_hash.hpp"

namespace balm::array {

enum class radix_stage : std::uint8_t {
    whole,            ///< rows, each of which one work-item or group sorts
    count,            ///< of a pass: how many elements of each digit each chunk has
    scan,             ///< of a pass: the counts, scanned in place
    scatter,          ///< of a pass: the chunks' elements
    histograms,       ///< of all passes: how many elements have each digit
    scan_histograms,  ///< of all passes: how many have smaller digits
    sweep,            ///< of a pass: the elements of tiles that find out how many are ahead of them
    settle            ///< elements in the spare vector are brought back
};

/// What kernels keep in "state", words of 64 bits that begin as zeros.
struct radix_state {
    static constexpr std::size_t place = 0;  ///< 0: the elements are in the vector, 1: in the spare one
    /// What a pass does: takes elements from the vector (0), the spare one (1), or nothing (2).
    static constexpr std::size_t step(std::size_t pass) { return 1 + pass; }
    /// How many tiles of a pass have started.
    static constexpr std::size_t started(std::size_t pass) { return 1 + most_passes + pass; }
    static constexpr std::size_t most_passes = 16;
    /// With tiles that look back: how many elements have each digit, or a smaller one, pass by pass.
    static constexpr std::size_t histograms = 1 + 2 * most_passes;
    static constexpr int nothing = 2;
};

struct radix_plan {
    radix_stage stage = radix_stage::whole;
    key_order order;
    std::size_t value_bytes = 0;  ///< 0: keys alone
    int digit_bits = 8;
    std::size_t group = 1;  ///< work-items, at most
    bool is_exact = true;   ///< groups have as many
    bool has_sub_groups = false;
    int each = 1;          ///< elements of a work-item's share of a tile
    bool is_wide = false;  ///< tiles announce and compute places of 64 bits

    bool on_item() const { return is_exact && group == 1; }
    int digits() const { return 1 << digit_bits; }
    int passes() const { return order.bits() / digit_bits; }
    bool moves_elements() const {
        return stage == radix_stage::whole || stage == radix_stage::scatter || stage == radix_stage::sweep ||
               stage == radix_stage::settle;
    }

    friend bool operator==(const radix_plan&, const radix_plan&) = default;
    void add_to(runtime::table_hash& hash) const {
        order.add_to(hash);
        hash.add(stage, value_bytes, digit_bits, group, is_exact, has_sub_groups, each, is_wide);
    }
};

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_radix_sort(trace::recording&, const parameter_list& given,
                                                     const radix_plan&);

}  // namespace balm::array
