#pragma once
// The kernels of radix sorts, least significant digit first. Each pass moves elements between the vector and
// a spare one by one digit; a digit that all keys share moves nothing. A last kernel brings back elements
// that end in the spare vector. Keys, and values of 1, 2, 4 or 8 bytes, are moved as bits.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "algorithm/sort/sort_key.hpp"
#include "array/parameters.hpp"

namespace balm::array {

enum class radix_stage : std::uint8_t {
    whole,            ///< rows, each sorted by one work-item or group
    count,            ///< of a pass: the number of elements with each digit, per chunk
    scan,             ///< of a pass: the counts, scanned in place
    scatter,          ///< of a pass: moves the chunks' elements
    histograms,       ///< of all passes: the number of elements with each digit
    scan_histograms,  ///< of all passes: the number of elements with smaller digits
    sweep,            ///< of a pass: moves the elements of tiles that look back
    settle            ///< brings back elements that are in the spare vector
};

/// The contents of "state": 64-bit words, initially zero.
struct radix_state {
    static constexpr std::size_t place = 0;  ///< 0: the elements are in the vector, 1: in the spare one
    /// What a pass does: takes elements from the vector (0) or the spare one (1), or does nothing (2).
    static constexpr std::size_t step(std::size_t pass) { return 1 + pass; }
    static constexpr std::size_t most_passes = 16;
    /// With tiles that look back: whether the keys may have NaNs, since some have the greatest first digit.
    static constexpr std::size_t nans = 1 + most_passes;
    /// Likewise: the number of elements with each digit, once scanned with smaller ones, pass by pass.
    static constexpr std::size_t histograms = nans + 1;
    static constexpr int nothing = 2;
};

struct radix_plan {
    radix_stage stage = radix_stage::whole;
    key_order order;
    std::size_t value_bytes = 0;  ///< 0: keys only
    int digit_bits = 8;
    std::size_t group = 1;  ///< work-items, at most
    bool is_exact = true;   ///< groups have exactly that many
    bool has_sub_groups = false;
    int each = 1;          ///< elements of a work-item's share of a tile
    bool is_wide = false;  ///< tiles announce and compute 64-bit positions

    bool on_item() const { return is_exact && group == 1; }
    int digits() const { return 1 << digit_bits; }
    int passes() const { return order.bits() / digit_bits; }
    bool moves_elements() const {
        return stage == radix_stage::whole || stage == radix_stage::scatter || stage == radix_stage::sweep ||
               stage == radix_stage::settle;
    }

    friend bool operator==(const radix_plan&, const radix_plan&) = default;
};

/// Records the body of a kernel whose parameters are declared.
std::shared_ptr<const ir::function> trace_radix_sort(trace::recording&, const parameter_list& given,
                                                     const radix_plan&);

}  // namespace balm::array
