#pragma once
// A stable sort by one work-item of a CPU: short runs by insertion, then merges between two arrays.

#include <cstddef>
#include <utility>

#include "algorithm/block/merge.hpp"
#include "balm/dsl/control.hpp"

namespace balm::array {

/// Length of the runs that are sorted by insertion.
inline constexpr std::size_t insertion_run = 16;

class item_sort {
public:
    using Index = block::Index;
    using Bool = block::Bool;

    item_sort(block::element_order is_ahead, block::arrays own, block::arrays spare)
        : is_ahead_(std::move(is_ahead)), own_(std::move(own)), spare_(std::move(spare)) {}

    /// Sorts the elements begin … end - 1 of `own` in as many rounds of merges as double a run to their
    /// number. Each round moves them between `own` and `spare`; `begins_in_spare` says where the first one
    /// starts. entering(values) is what is sorted instead of an element's values.
    template <class Entering>
    void sort(const Index& begin, const Index& end, const Index& rounds, const Bool& begins_in_spare,
              const Entering& entering) const {
        Bool is_in_spare = dsl::named("is_in_spare", Bool(begins_in_spare));
        BALM_IF (is_in_spare) {
            sort_runs(begin, end, spare_, entering);
        }
        BALM_ELSE { sort_runs(begin, end, own_, entering); }
        Index width = dsl::named("width", Index(run));
        for (Index round : dsl::named("round", dsl::range(rounds))) {
            static_cast<void>(round);
            BALM_IF (is_in_spare) {
                merge_runs(begin, end, width, spare_, own_);
            }
            BALM_ELSE { merge_runs(begin, end, width, own_, spare_); }
            is_in_spare = !is_in_spare;
            width *= 2;
        }
    }
    /// Sorts up to insertion_run elements where they are.
    template <class Entering>
    void sort_run(const Index& first, const Index& last, const Entering& entering) const {
        sort_run(first, last, own_, entering);
    }

private:
    static constexpr auto run = static_cast<std::int64_t>(insertion_run);

    template <class Entering>
    void sort_runs(const Index& begin, const Index& end, const block::arrays& to,
                   const Entering& entering) const {
        for (Index first : dsl::named("first", dsl::range(begin, end, run)))
            sort_run(first, dsl::named("last", dsl::min(first + run, end)), to, entering);
    }
    template <class Entering>
    void sort_run(const Index& first, const Index& last, const block::arrays& to,
                  const Entering& entering) const {
        for (Index i : dsl::named("i", dsl::range(first, last))) {
            const block::values own = block::variables("own", entering(own_.load(i)));
            Index place = dsl::named("place", Index(i));
            BALM_WHILE (place > first) {
                const block::values before = to.load(place - 1);
                BALM_IF (!is_ahead_(block::read(own), before)) {
                    dsl::break_();
                }
                to.store(place, before);
                place -= 1;
            }
            to.store(place, block::read(own));
        }
    }
    void merge_runs(const Index& begin, const Index& end, const Index& width, const block::arrays& from,
                    const block::arrays& to) const {
        for (Index first : dsl::named("first", dsl::range(begin, end, 2 * width))) {
            const Index middle = dsl::named("middle", dsl::min(first + width, end));
            const Index last = dsl::named("last", dsl::min(first + 2 * width, end));
            block::merge(is_ahead_, {from, first, middle}, {from, middle, last}, to, first);
        }
    }

    const block::element_order is_ahead_;
    const block::arrays own_, spare_;
};

}  // namespace balm::array
