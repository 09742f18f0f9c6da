#include "algorithm/block/merge.hpp"

#include "balm/dsl/control.hpp"

namespace balm::block {

using dsl::max;
using dsl::min;
using dsl::named;
using dsl::range;
using dsl::select;

template <class Number>
Number merge_path(const element_order& is_ahead, const run<Number>& first, const run<Number>& second,
                  const Number& count) {
    Number low = named("low", max(count - second.size(), Number(0))),
           high = named("high", min(count, first.size()));
    WHILE (low < high) {
        const Number middle = named("probe", (low + high) >> 1);
        IF (is_ahead(second.at(count - 1 - middle), first.at(middle))) {
            high = middle;
        }
        ELSE { low = middle + 1; }
    }
    return low;
}
template Int merge_path(const element_order&, const run<Int>&, const run<Int>&, const Int&);
template Index merge_path(const element_order&, const run<Index>&, const run<Index>&, const Index&);

namespace {

/// The work-item's share of the merged elements. The next element of each run is held in registers.
elements merged(const element_order& is_ahead, const arrays& tile, const runs_of_tile& in, const Int& from,
                int each) {
    const Int count = named("count", min(from, in.size()));
    const Int of_first = merge_path(is_ahead, in.first(tile), in.second(tile), count);
    Int a = named("a", in.begin + of_first), b = named("b", in.middle + (count - of_first));
    const values next_a = variables("next_a", tile.load(a)), next_b = variables("next_b", tile.load(b));
    elements made;
    for (int k = 0; k < each; ++k) {
        Bool takes_b = named("takes_b", b < in.end);
        IF (takes_b && a < in.middle) {
            takes_b = is_ahead(read(next_b), read(next_a));
        }
        const values own = variables("merged", read(next_a));
        IF (takes_b) {
            write(own, read(next_b));
        }
        made.push_back(own);
        if (k + 1 == each) break;
        a += select(takes_b, 0, 1);
        b += select(takes_b, 1, 0);
        const values next = tile.load(select(takes_b, b, a));
        IF (takes_b) {
            write(next_b, next);
        }
        ELSE { write(next_a, next); }
    }
    for (values& own : made) own = read(own);
    return made;
}

}  // namespace

void merge_in_place(const group& g, const element_order& is_ahead, const arrays& tile, const runs_of_tile& in,
                    const Int& from, int each) {
    const elements share = merged(is_ahead, tile, in, from, each);
    g.barrier();
    for (int k = 0; k < each; ++k) tile.store(g.item() * each + k, share[static_cast<std::size_t>(k)]);
    g.barrier();
}

void merge(const element_order& is_ahead, const run<Index>& first, const run<Index>& second, const arrays& to,
           const Index& from) {
    Index a = named("a", Index(first.begin)), b = named("b", Index(second.begin)),
          place = named("place", Index(from));
    WHILE (a < first.end && b < second.end) {
        const values of_first = first.of.load(a), of_second = second.of.load(b);
        // Which run is next cannot be predicted, so this does not branch.
        const Bool takes_second = named("takes_second", is_ahead(of_second, of_first));
        to.store(place, chosen(takes_second, of_second, of_first));
        a += select(takes_second, 0, 1);
        b += select(takes_second, 1, 0);
        place += 1;
    }
    const Index left = named("left", place - a);
    for (Index i : named("i", range(a, first.end))) to.store(i + left, first.of.load(i));
    const Index right = named("right", place - b);
    for (Index i : named("i", range(b, second.end))) to.store(i + right, second.of.load(i));
}

}  // namespace balm::block
