#pragma once
// What a random program of algorithms has whatever its elements are: what it draws, the arrays of numbers
// that are keys, and how results are compared with those of the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/random_program/draw.hpp"
#include "balm/balm.hpp"

namespace balm::test::random_algorithms {

/// A vector, and what it has to be.
template <class T>
struct twin {
    twin(const context& ctx, std::vector<T> values)
        : on_device(ctx, values.begin(), values.end()), on_host(std::move(values)) {}
    vector<T> on_device;
    std::vector<T> on_host;
};
/// An expression, and its elements.
template <class T>
struct operand {
    expr<T> values;
    std::vector<T> on_host;
};

/// The same numbers, each through functions of the library, which add 0 to it.
template <class T>
expr<T> through_functions(const expr<T>& of) {
    const auto plus_nothing = [](auto x) { return x + trunc(tanh(x) / 2); };
    if constexpr (std::is_integral_v<T>)
        return cast<T>(plus_nothing(cast<double>(of)));
    else
        return plus_nothing(of);
}

/// Positions in a sorted array, which ascend: those of two other sorted arrays' elements.
struct two_parts {
    two_parts(const context& ctx, std::vector<std::size_t> first, std::vector<std::size_t> second)
        : first_places(std::move(first)),
          second_places(std::move(second)),
          at_first(ctx, std::vector<std::int64_t>(first_places.begin(), first_places.end())),
          at_second(ctx, std::vector<std::int64_t>(second_places.begin(), second_places.end())) {}
    std::size_t size() const { return first_places.size() + second_places.size(); }

    std::vector<std::size_t> first_places, second_places;
    vector<std::int64_t> at_first, at_second;
};

class program_state {
public:
    /// Arrays have at most so many elements.
    program_state(const context& ctx, generator& random, std::size_t most)
        : ctx_(ctx),
          first_(std::vector<device>{ctx.device(0)}),
          random_(random),
          n_(std::min(drawn_size(random, false), most)),
          keys_(ctx, numbers_in_runs(random, n_)),
          wide_(ctx, small_values<std::int64_t>(random, n_)),
          words_(std::to_string(n_) + " elements") {}

    /// What was drawn.
    const std::string& words() const { return words_; }

protected:
    bool toss() { return is_drawn(random_); }
    std::size_t below(std::size_t end) { return test::below(random_, end); }
    sort_order order() {
        const sort_order made = any_order(random_);
        if (made == descending) say(" descending");
        return made;
    }
    void say(const std::string& more) { words_ += more; }

    // ---- results

    /// Bit for bit, but for NaNs and the signs of zeros that are results of arithmetic.
    template <class V>
    void same(const vector<V>& got, const std::vector<V>& wanted, const char* name,
              bool is_computed = false) {
        const host_array<V> host = got.to_host();
        if (host.size() != wanted.size()) {
            ADD_FAILURE() << name << " has " << host.size() << " elements, not " << wanted.size();
            return;
        }
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            const V own = host.begin()[k], other = wanted[k];
            if (std::memcmp(&own, &other, sizeof(V)) == 0) continue;
            if (is_computed && is_nan(own) && is_nan(other)) continue;
            if constexpr (std::is_arithmetic_v<V>)
                if (is_computed && own == other) continue;
            ADD_FAILURE() << name << "[" << k << "] of " << wanted.size() << " is "
                          << testing::PrintToString(own) << ", not " << testing::PrintToString(other);
            return;
        }
    }
    template <class V>
    void same(const twin<V>& each, const char* name) {
        same(each.on_device, each.on_host, name);
    }
    /// A vector of one device on all of the program's.
    template <class V>
    vector<V> on_all(const vector<V>& one) const {
        if (ctx_.size() == 1) return one;
        const host_array<V> host = one.to_host();
        return vector<V>(ctx_, host.begin(), host.end());
    }

    // ---- targets

    /// Of results that are `usual` at most.
    std::size_t room(std::size_t usual) {
        const std::size_t rooms[] = {usual, usual + 3, usual / 2, 1, 0};
        const std::size_t made = rooms[below(std::size(rooms))];
        say(" into " + std::to_string(made));
        return made;
    }
    std::size_t room() { return room(n_); }
    template <class V>
    static V untouched() {
        return static_cast<V>(77);
    }
    /// A target whose elements are known.
    template <class V>
    vector<V> target(std::size_t size) {
        const std::vector<V> all(size, untouched<V>());
        return vector<V>(first_, all.begin(), all.end());
    }
    template <class V>
    void begins(const vector<V>& got, const std::vector<V>& wanted, const char* name) {
        std::vector<V> all(got.size(), untouched<V>());
        std::copy_n(wanted.begin(), std::min(wanted.size(), all.size()), all.begin());
        same(got, all, name);
    }
    void is_count(const vector<std::int64_t>& count, std::size_t wanted) {
        same(count, {static_cast<std::int64_t>(wanted)}, "count");
    }

    // ---- the same for all elements

    operand<std::int32_t> keys();
    two_parts drawn_parts();
    /// How many elements, of so many.
    std::size_t drawn_count(std::size_t most);

    // other_keys.cpp: keys of a type that is drawn
    void merge_other_keys();
    void find_first_of_other_keys();
    void sort_other_keys_in_segments();

    // other_elements.cpp: complex numbers, short vectors and structures
    void combine_other_elements();
    void unique_structures();
    void count_with_other_weights();

    // reductions.cpp: elements of a type that is drawn
    void reduce_any_elements();

    const context& ctx_;
    const context first_;
    generator& random_;
    const std::size_t n_;
    twin<std::int32_t> keys_;
    twin<std::int64_t> wide_;

private:
    std::string words_;
};

}  // namespace balm::test::random_algorithms
