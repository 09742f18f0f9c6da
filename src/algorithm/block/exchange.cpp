#include "algorithm/block/exchange.hpp"

#include <algorithm>
#include <bit>

namespace balm::block {

using namespace dsl;

namespace {

/// Bytes that the banks of local memory deliver at once.
constexpr int bank_bytes = 128;

/// One element of padding after as many elements as the banks deliver at once. Otherwise work-items whose
/// elements are a power of two apart conflict in one bank.
class padding {
public:
    padding(const group& g, const types& of, int each) : g_(g), each_(each) {
        std::size_t widest = 4;
        for (const trace::type& type : of) widest = std::max(widest, std::bit_ceil(trace::size_of(type)));
        run_ = std::max(bank_bytes / static_cast<int>(widest), 1);
        is_padded_ = each > 1 && std::has_single_bit(static_cast<unsigned>(each)) && !g.is_single();
    }
    int of(int position) const { return is_padded_ ? position + position / run_ : position; }
    Int of(const Int& position) const {
        return is_padded_ ? position + (position >> std::countr_zero(static_cast<unsigned>(run_)))
                          : Int(position);
    }
    /// The slots of a work-item's elements: all from one base if the padding between them is known.
    std::vector<Int> of(arrangement how) const {
        const positions at(g_, how, each_);
        const int stride = known_stride(how);
        const Int base = named("slot", of(at.first));
        std::vector<Int> slots;
        slots.reserve(static_cast<std::size_t>(each_));
        for (int k = 0; k < each_; ++k) slots.push_back(stride == 0 ? of(at[k]) : base + of(k * stride));
        return slots;
    }

private:
    /// The stride, if `of` may be applied to it and to the first position separately; else 0.
    int known_stride(arrangement how) const {
        switch (how) {
            case arrangement::blocked: return 1;
            case arrangement::striped:
                return g_.is_exact() && (g_.most() % static_cast<std::size_t>(run_) == 0 || !is_padded_)
                           ? static_cast<int>(g_.most())
                           : 0;
            case arrangement::sub_group_striped: return g_.has_whole_sub_groups() ? lanes : 0;
        }
        return 0;
    }

    const group& g_;
    int each_, run_ = 1;
    bool is_padded_ = false;
};

elements load_each(const arrays& shared, std::span<const Int> slots) {
    elements made;
    for (const Int& slot : slots) made.push_back(shared.load(slot));
    return made;
}
void store_each(const arrays& shared, std::span<const Int> slots, const elements& list) {
    for (std::size_t k = 0; k < list.size(); ++k) shared.store(slots[k], list[k]);
}
padding padding_of(const group& g, const elements& list) {
    return {g, types_of(list[0]), static_cast<int>(list.size())};
}

}  // namespace

std::size_t exchange_room(const group& g, const types& of, int each) {
    return static_cast<std::size_t>(padding(g, of, each).of(static_cast<int>(g.most()) * each));
}

elements exchange(const group& g, const elements& list, arrangement from, arrangement to,
                  const arrays& shared) {
    if (g.is_single() || from == to) return list;
    const padding padded = padding_of(g, list);
    store_each(shared, padded.of(from), list);
    g.barrier();
    return load_each(shared, padded.of(to));
}

elements scatter(const group& g, const elements& list, std::span<const Int> ranks, arrangement to,
                 const arrays& shared) {
    put_at_ranks(g, list, ranks, shared);
    g.barrier();
    return take(g, types_of(list[0]), static_cast<int>(list.size()), to, shared);
}
void put_at_ranks(const group& g, const elements& list, std::span<const Int> ranks, const arrays& shared) {
    const padding padded = padding_of(g, list);
    for (std::size_t k = 0; k < list.size(); ++k) shared.store(padded.of(ranks[k]), list[k]);
}
elements take(const group& g, const types& of, int each, arrangement to, const arrays& shared) {
    return load_each(shared, padding(g, of, each).of(to));
}

Int exchange_slot(const group& g, const types& of, int each, const Int& position) {
    return padding(g, of, each).of(position);
}

}  // namespace balm::block
