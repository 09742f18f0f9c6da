#pragma once
// Random programs of algorithms: a few arrays, and steps that read and change them. The result of a step is
// an operand of later ones. Each step has a twin on the host; afterwards all arrays are compared.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/random_program/host_algorithms.hpp"
#include "algorithm/random_program/program_state.hpp"

namespace balm::test::random_algorithms {

using namespace balm::dsl;

struct record {
    float a;
    std::int32_t number;
    double b;
};
BALM_STRUCT(record, a, number, b)

/// Numbers that agree but for the last two bits are equal.
inline bool is_lower_on_host(std::int32_t a, std::int32_t b) { return (a >> 2) < (b >> 2); }
inline const auto& is_lower() {
    static const auto made = function("is_lower", [](Int a, Int b) { return Bool((a >> 2) < (b >> 2)); });
    return made;
}

/// A program on elements of one type. Members are defined in the file of their step.
template <class T>
class program : public program_state {
public:
    using sum_type = decltype(sum(std::declval<vector<T>>()));

    program(const context& ctx, generator& random, std::size_t most)
        : program_state(ctx, random, most),
          x_(ctx, small_values<T>(random, n_)),
          y_(ctx, small_values<T>(random, n_)),
          base_(ctx, small_values<T>(random, n_ + margin)),
          special_(ctx, keys_of<T>(any_kind(random), random, n_)) {
        say(" of " + std::to_string(sizeof(T)) + " bytes");
    }
    void run();

private:
    static constexpr std::size_t margin = 17;
    /// Whether sparse matrices have such entries.
    static constexpr bool is_matrix_entry = sizeof(T) >= 4;

    void step();

    // scans.cpp
    void scan();
    void scan_by_key();
    void scan_in_place();
    void scan_along();
    void scan_two_in_pieces();

    // sorts.cpp
    void sort_special();
    void sort_with_values();
    void sort_several_keys();
    void sort_by_comparison();
    void sort_positions();
    void sort_along();

    // compactions.cpp
    void select_some();
    void part();
    void unique_ones();
    void reduce_runs();

    // counts_and_moves.cpp
    void count_bins();
    void count_even_bins();
    void search();
    void move_some();

    // sorted_arrays.cpp
    void merge_two();
    void merge_with_values();
    void merge_several_keys();
    void merge_by_comparison();
    void combine_sets();

    // first_elements.cpp
    void find_first();
    void find_rank();
    void find_first_by_comparison();

    // segments.cpp
    void sort_in_segments();
    void reduce_in_segments();

    // products.cpp
    void multiply();
    void multiply_rectangular();
    void multiply_reals();

    // ---- operands

    /// Small numbers.
    operand<T> values(int depth = 0);
    /// Small numbers, or those that orders are about: extremes, NaNs of any bits.
    operand<T> any_values() {
        if (toss()) return values();
        say(" special");
        return {expr<T>(special_.on_device), special_.on_host};
    }
    operand<T> merged(int depth);
    operand<T> first_ones(int depth);
    operand<T> product(int depth);

    auto part_of_base(std::size_t from) {
        return view(base_.on_device, {n_ + margin})(
            slice(static_cast<std::int64_t>(from), static_cast<std::int64_t>(from + n_)));
    }
    std::vector<T> host_part(std::size_t from) const {
        const auto begin = base_.on_host.begin() + static_cast<std::ptrdiff_t>(from);
        return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(n_));
    }
    /// The condition value > `least`.
    T least() { return static_cast<T>(static_cast<int>(below(10)) - (std::is_signed_v<T> ? 5 : 0)); }
    auto latest_of(const expr<T>& of) {
        static const auto function_of_two =
            function("latest", [](Var<T> a, Var<T> b) { return Var<T>(dsl::select(b != T(0), b, a)); });
        return fold_of(of, T(0), function_of_two);
    }
    static sum_type plus(sum_type a, sum_type b) { return static_cast<sum_type>(a + b); }

    /// An expression alone, and as part of another one, which also is where other steps go on from.
    template <class R>
    void yields(const expr<R>& got, const std::vector<R>& wanted) {
        same(vector<R>(got), wanted, "result", true);
        if (toss() || wanted.size() != n_) return;
        say(", y = result % 7");
        y_.on_device = cast<T>(cast<std::int64_t>(got) % std::int64_t{7});
        for (std::size_t k = 0; k < n_; ++k)
            y_.on_host[k] = static_cast<T>(static_cast<std::int64_t>(wanted[k]) % 7);
    }

    twin<T> x_, y_, base_, special_;
};

/// Calls M with each type of elements that programs have.
#define BALM_FOR_PROGRAM_ELEMENTS(M) \
    M(float)                         \
    M(double)                        \
    M(std::uint8_t)                  \
    M(std::int16_t)                  \
    M(std::int32_t)                  \
    M(std::int64_t)                  \
    M(std::uint64_t)

}  // namespace balm::test::random_algorithms
