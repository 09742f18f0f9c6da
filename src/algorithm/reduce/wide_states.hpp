#pragma once
// On CPUs a work-item reduces in lanes: two short vectors of states, which hide the latency of additions.

#include "algorithm/reduce/reduce_operations.hpp"

namespace balm::array {

class wide_states {
public:
    static constexpr int vectors = 2;

    wide_states(std::string_view word, const operations& narrow, int lanes)
        : narrow_(narrow), wide_(narrow.with_lanes(lanes)), lanes_(lanes) {
        for (values& each : states_) each = block::variables(word, wide_.identity());
    }
    int count() const { return vectors * lanes_; }
    values operator[](int v) const { return block::read(states_[v]); }
    void set(int v, const values& now) const { block::write(states_[v], now); }

    /// Combines the states with later ones, or with at(operations, first lane) of later elements.
    void take(const wide_states& later) const {
        for (int v = 0; v < vectors; ++v) take(v, later[v]);
    }
    template <class At>
    void take_elements(At&& at) const {
        for (int v = 0; v < vectors; ++v) take(v, at(wide_, v * lanes_));
    }
    /// The combined state of all lanes.
    values reduced() const { return narrow_.of_lanes(lanes_, wide_.combined((*this)[0], (*this)[1], false)); }

private:
    void take(int v, const values& later) const { set(v, wide_.combined((*this)[v], later, true)); }

    const operations& narrow_;
    operations wide_;
    int lanes_;
    values states_[vectors];
};

}  // namespace balm::array
