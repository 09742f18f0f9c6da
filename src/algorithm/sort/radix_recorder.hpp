#pragma once
// What all kernels of radix sorts share: where keys, values, counts and the state of the passes are, and
// which of them a work-item or group owns. The recorders of items, tiles and scans derive from it.

#include <cstdint>

#include "algorithm/block/scan.hpp"
#include "algorithm/block/tile.hpp"
#include "algorithm/sort/radix_kernels.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array::radix_sorting {

using block::arrangement;
using block::elements;
using block::values;
using dsl::atomic_add;
using dsl::atomic_inc;
using dsl::Bool;
using dsl::cast;
using dsl::global_barrier;
using dsl::global_id;
using dsl::global_size;
using dsl::group_count;
using dsl::group_id;
using dsl::Index;
using dsl::Int;
using dsl::LocalPtr;
using dsl::min;
using dsl::named;
using dsl::Ptr;
using dsl::range;
using dsl::select;
using dsl::UInt;
using dsl::ULong;
using trace::node;

inline block::operation sum_of_counts() { return block::sums(scalar::i64); }

inline node element(const node& memory, const Index& i) { return trace::load(memory, block::node_of(i), {}); }
inline void set(const node& memory, const Index& i, const node& value) {
    trace::store(memory, block::node_of(i), value, {});
}
inline Int count_in(const block::arrays& counters, const Int& at) { return Int(counters.load(at)[0]); }
inline Index position_in(const block::arrays& positions, const Int& at) {
    return Index(positions.load(at)[0]);
}
inline void put(const block::arrays& to, const Int& at, const Int& count) {
    to.store(at, {block::node_of(count)});
}
inline void put(const block::arrays& to, const Int& at, const Index& place) {
    to.store(at, {block::node_of(place)});
}

class radix_recorder {
public:
    radix_recorder(trace::recording& r, const parameter_list& given, const radix_plan& plan)
        : plan_(plan), r_(r), given_(given), g_({plan.group, plan.is_exact, plan.has_sub_groups}) {}
    radix_recorder(const radix_recorder&) = delete;

protected:
    Index given(parameter_name name) const { return Index(given_[name]); }
    Int shift() const { return cast<int>(given("pass")) * plan_.digit_bits; }
    Ptr<std::uint64_t> state() const { return Ptr<std::uint64_t>(given_["state"]); }
    Int state(std::size_t word) const { return cast<int>(ULong(state()[static_cast<std::int64_t>(word)])); }
    Int step_of_pass() const {
        return named("step", cast<int>(ULong(state()[given("pass") + std::int64_t{radix_state::step(0)}])));
    }
    bool has_values() const { return plan_.value_bytes > 0; }
    trace::type key_type() const { return plan_.order.bits_type(); }
    trace::type value_type() const { return unsigned_of_bytes(plan_.value_bytes); }
    Int digit(const node& key, const Int& from_bit) const {
        return digit_of(key, plan_.order, {from_bit, plan_.digit_bits});
    }

    /// The vector's memory, or the spare one's.
    struct memory {
        node keys, values;
    };
    node memory_at(const Bool& is_spare, parameter_name own, parameter_name spare) const {
        const values chosen = block::variables(own.word, {given_[own]});
        BALM_IF (is_spare) {
            block::write(chosen, {given_[spare]});
        }
        return block::read(chosen)[0];
    }
    memory memory_at(const Bool& is_spare) const {
        return {memory_at(is_spare, "keys", "spare_keys"),
                has_values() ? memory_at(is_spare, "values", "spare_values") : node{}};
    }

    struct section {
        Index number, begin, end;
    };
    section own_chunk() const {
        const Index number = named("chunk", group_id(0));
        const Index begin = named("begin", number * given("chunk_size"));
        return {number, begin, named("end", min(begin + given("chunk_size"), given("n")))};
    }
    section own_row() const {
        const Index number = named("row", group_id(0)), begin = named("begin", number * given("n"));
        return {number, begin, named("end", begin + given("n"))};
    }
    /// The index of a digit's count in a chunk, or, once scanned, of the position of its elements.
    Index slot(const Int& of_digit, const Index& chunk) const { return of_digit * given("chunks") + chunk; }
    Ptr<std::int64_t> counts() const { return Ptr<std::int64_t>(given_["counts"]); }
    Ptr<std::uint64_t> histograms() const { return state() + std::int64_t{radix_state::histograms}; }
    block::arrays positions() const {
        return g_.shared("positions", {scalar::i64}, static_cast<std::size_t>(plan_.digits()));
    }
    template <class F>
    void each_digit(F&& body) const {
        g_.share_out(plan_.digits(), body);
    }
    void copy(const section& own, const memory& from, const memory& to) const {
        for (Index i : named("i", range(own.begin, own.end))) {
            set(to.keys, i, element(from.keys, i));
            if (has_values()) set(to.values, i, element(from.values, i));
        }
    }

    const radix_plan plan_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace balm::array::radix_sorting
