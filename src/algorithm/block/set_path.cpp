#include "algorithm/block/set_path.hpp"

#include "balm/dsl/control.hpp"

namespace balm::block {

using dsl::min;
using dsl::named;
using dsl::range;
using dsl::select;

namespace {

/// The first position from `begin` on for which `holds` is false, by binary search.
template <class Number, class F>
Number end_of_leading(const Number& begin, const Number& end, F&& holds) {
    Number low = named("low", Number(begin)), high = named("high", Number(end));
    WHILE (low < high) {
        const Number middle = named("probe", (low + high) >> 1);
        IF (holds(middle)) {
            low = middle + 1;
        }
        ELSE { high = middle; }
    }
    return low;
}

/// Whether the result includes elements of the first run alone, of the second alone, and pairs.
struct kept_kinds {
    bool of_first, of_second, pairs;
};
kept_kinds kept_by(set_operation what) {
    switch (what) {
        case set_operation::unite: return {true, true, true};
        case set_operation::intersect: return {false, false, true};
        case set_operation::subtract: return {true, false, false};
        default: return {true, true, false};
    }
}
/// The same for one element, given whether it is in the first or in the second run alone.
Bool is_kept(set_operation what, const Bool& only_first, const Bool& only_second) {
    const kept_kinds kept = kept_by(what);
    const Bool is_single = named("is_single", only_first | only_second);
    if (kept.of_first && kept.of_second) return kept.pairs ? Bool(true) : Bool(is_single);
    return kept.pairs ? !is_single : Bool(only_first);
}

}  // namespace

template <class Number>
consumed<Number> balanced_path(const element_order& is_ahead, const run<Number>& first,
                               const run<Number>& second, const Number& count) {
    const Number of_first = merge_path(is_ahead, first, second, count);
    Number a = named("a", Number(of_first)), b = named("b", count - of_first);
    const Number size = first.size(), other = second.size();
    IF (count > 0 && count < size + other && size > 0 && other > 0) {
        const values next = variables("next", first.at(min(a, size - 1)));
        IF (b < other) {
            const values of_second = second.at(b);
            Bool is_second = named("is_second", a >= size);
            IF (!is_second) {
                is_second = is_ahead(of_second, read(next));
            }
            IF (is_second) {
                write(next, of_second);
            }
        }
        // Of the elements equal to the next one, the merge path has consumed `equal`, those of the first run
        // first.
        const auto is_before = [&](const run<Number>& in) {
            return [&](const Number& k) { return is_ahead(in.at(k), read(next)); };
        };
        const Number first_a = named("first_a", end_of_leading(Number(0), a, is_before(first))),
                     first_b = named("first_b", end_of_leading(Number(0), b, is_before(second)));
        const Number equal = named("equal", (a - first_a) + (b - first_b)),
                     half = named("half", (equal + 1) >> 1);
        IF (equal > 0 && (b == first_b || a - first_a >= half)) {
            const Number last = min(first_b + half, other);
            const Number end_b = end_of_leading(
                first_b, last, [&](const Number& k) { return !is_ahead(read(next), second.at(k)); });
            const Number of_b = named("of_b", end_b - first_b);
            a = min(first_a + select(of_b == half, half, equal - of_b), size);
            b = end_b;
        }
    }
    return {a, b};
}
template consumed<Int> balanced_path(const element_order&, const run<Int>&, const run<Int>&, const Int&);
template consumed<Index> balanced_path(const element_order&, const run<Index>&, const run<Index>&,
                                       const Index&);

std::vector<set_element> set_share(set_operation what, const element_order& is_ahead, const arrays& tile,
                                   int room, const runs_of_tile& in, const Int& from, int each) {
    const Int begin = named("begin", min(from, in.size())), end = named("end", min(from + each, in.size()));
    const consumed<Int> before = balanced_path(is_ahead, in.first(tile), in.second(tile), begin);
    Int a = named("a", in.begin + before.first), b = named("b", in.middle + before.second);
    Int place = named("place", before.first + before.second);
    const auto at = [&](const Int& i) { return tile.load(min(i, room - 1)); };
    const values next_a = variables("next_a", at(a)), next_b = variables("next_b", at(b));
    std::vector<set_element> made;
    for (int k = 0; k < each; ++k) {
        Bool only_a = named("only_a", b >= in.end), only_b = named("only_b", a >= in.middle);
        IF (!only_a && !only_b) {
            only_a = is_ahead(read(next_a), read(next_b));
            only_b = is_ahead(read(next_b), read(next_a));
        }
        const values own = variables("own", read(next_a));
        IF (only_b) {
            write(own, read(next_b));
        }
        const Bool is_there = named("is_there", place < end);
        made.push_back({own, named("is_kept", is_there && is_kept(what, only_a, only_b))});
        if (k + 1 == each) break;
        place += select(only_a || only_b, 1, 2);
        IF (is_there && !only_b) {
            a += 1;
            write(next_a, at(a));
        }
        IF (is_there && !only_a) {
            b += 1;
            write(next_b, at(b));
        }
    }
    for (set_element& e : made) e.own = read(e.own);
    return made;
}

void walk_sets(set_operation what, const element_order& is_ahead, const run<Index>& first,
               const run<Index>& second, const std::function<void(const values&, const Bool&)>& give) {
    Index a = named("a", Index(first.begin)), b = named("b", Index(second.begin));
    WHILE (a < first.end && b < second.end) {
        const values of_first = first.of.load(a), of_second = second.of.load(b);
        const Bool only_first = named("only_first", is_ahead(of_first, of_second)),
                   only_second = named("only_second", is_ahead(of_second, of_first));
        give(chosen(only_second, of_second, of_first), is_kept(what, only_first, only_second));
        a += select(only_second, 0, 1);
        b += select(only_first, 0, 1);
    }
    const kept_kinds kept = kept_by(what);
    if (kept.of_first)
        for (Index i : named("i", range(a, first.end))) give(first.of.load(i), Bool(true));
    if (kept.of_second)
        for (Index i : named("i", range(b, second.end))) give(second.of.load(i), Bool(true));
}

}  // namespace balm::block
