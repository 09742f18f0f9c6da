// Chooses what a kernel of a radix sort records, by its stage and by whether a work-item or a group works on
// a chunk. The scans of counts, in one work-item or group, are here.

#include "algorithm/sort/radix_kernels.hpp"

#include <vector>

#include "algorithm/block/scan.hpp"
#include "algorithm/sort/radix_items.hpp"
#include "algorithm/sort/radix_recorder.hpp"
#include "algorithm/sort/radix_tiles.hpp"

namespace balm::array {

namespace {

using namespace radix_sorting;

class count_scanner : public radix_recorder {
public:
    using radix_recorder::radix_recorder;

    void scan_counts() const {
        const block::arrays flag = g_.shared("flag", {scalar::i32}, 1);
        const block::arrays shared = g_.shared("totals", {scalar::i64}, block::scan_room(g_));
        Index before = named("before", Index(0));
        Bool is_shared = named("is_shared", Bool(false));
        const Index chunks = given("chunks"), n = given("n");
        const Index all = named("all", plan_.digits() * chunks);
        // A digit's counts are read before they become positions.
        each_digit([&](const Int& d) {
            Index own = named("own", Index(0));
            for (Index c : named("c", range(chunks))) own += counts()[slot(d, c)];
            is_shared = is_shared || own == n;
        });
        const Bool is_any_shared = in_any_item(is_shared, flag);
        if (!g_.is_single()) global_barrier();
        const Index each = named("each", (all + (g_.items() - 1)) / g_.items());
        const Index begin = named("begin", min(g_.item() * each, all)),
                    end = named("end", min(begin + each, all));
        if (!g_.is_single()) {
            Index own = named("own", Index(0));
            for (Index k : named("k", range(begin, end))) own += counts()[k];
            before = Index(block::scan_exclusive(g_, sum_of_counts(), {block::node_of(own)}, shared)[0]);
        }
        for (Index k : named("k", range(begin, end))) {
            const Index own = counts()[k];
            counts()[k] = before;
            before += own;
        }
        IF (g_.item() == 0) {
            const Int place = state(radix_state::place);
            state()[given("pass") + std::int64_t{radix_state::step(0)}] =
                cast<std::uint64_t>(select(is_any_shared, radix_state::nothing, place));
            state()[std::int64_t{radix_state::place}] =
                cast<std::uint64_t>(select(is_any_shared, place, 1 - place));
        }
    }
    /// Each work-item scans the counts of some digits that follow each other: one, in groups of as many.
    void scan_histograms() const {
        const block::arrays flag = g_.shared("flag", {scalar::i32}, 1);
        const block::arrays shared = g_.shared("totals", {scalar::i64}, block::scan_room(g_));
        const int each = (plan_.digits() - 1) / static_cast<int>(g_.most()) + 1;
        const Int first = each == 1 ? Int(g_.item()) : named("first", g_.item() * each);
        Int place = named("place", Int(0));
        for (Int pass : named("pass", range(plan_.passes()))) {
            const Int at = pass * plan_.digits() + first;
            std::vector<Index> counts;
            Index own = named("own", Index(0));
            Bool is_whole = named("is_whole", Bool(false));
            for (int k = 0; k < each; ++k) {
                counts.push_back(named("count", Index(0)));
                IF (first + k < plan_.digits()) {
                    counts.back() = cast<std::int64_t>(ULong(histograms()[at + k]));
                }
                own += counts.back();
                is_whole = is_whole || counts.back() == given("n");
            }
            const Bool is_shared = in_any_item(is_whole, flag);
            Index before =
                named("before",
                      Index(block::scan_exclusive(g_, sum_of_counts(), {block::node_of(own)}, shared)[0]));
            for (int k = 0; k < each; ++k) {
                const Index& count = counts[static_cast<std::size_t>(k)];
                IF (first + k < plan_.digits()) {
                    histograms()[at + k] = cast<std::uint64_t>(before);
                }
                before += count;
                IF (pass == plan_.passes() - 1 && first + k == plan_.digits() - 1) {
                    state()[std::int64_t{radix_state::nans}] = cast<std::uint64_t>(count);
                }
            }
            IF (g_.item() == 0) {
                state()[pass + static_cast<int>(radix_state::step(0))] =
                    cast<std::uint64_t>(select(is_shared, radix_state::nothing, place));
            }
            place = select(is_shared, place, 1 - place);
            g_.barrier();
        }
        IF (g_.item() == 0) {
            state()[std::int64_t{radix_state::place}] = cast<std::uint64_t>(place);
        }
    }
    void settle() const {
        IF (state(radix_state::place) == 1) {
            const memory from = memory_at(Bool(true)), to = memory_at(Bool(false));
            if (plan_.on_item()) {
                copy(own_chunk(), from, to);
            } else {
                for (Index i : named("i", range(global_id(0), given("n"), global_size(0)))) {
                    set(to.keys, i, element(from.keys, i));
                    if (has_values()) set(to.values, i, element(from.values, i));
                }
            }
        }
    }

private:
    /// Whether the condition is true in any work-item of the group. `flag` has one element.
    Bool in_any_item(const Bool& condition, const block::arrays& flag) const {
        if (g_.is_single()) return Bool(condition);
        IF (g_.item() == 0) {
            put(flag, Int(0), Int(0));
        }
        g_.barrier();
        IF (condition) {
            put(flag, Int(0), Int(1));
        }
        g_.barrier();
        return named("in_any_item", count_in(flag, Int(0)) != 0);
    }
};

}  // namespace

std::shared_ptr<const ir::function> trace_radix_sort(trace::recording& r, const parameter_list& given,
                                                     const radix_plan& plan) {
    const auto traced = [&]<class Recorder>(void (Recorder::*body)() const) {
        (Recorder(r, given, plan).*body)();
        return r.finish(nullptr);
    };
    const bool on_item = plan.on_item();
    switch (plan.stage) {
        case radix_stage::whole:
            return on_item ? traced(&item_sorter::sort_row) : traced(&tile_sorter::sort_row);
        case radix_stage::count:
            return on_item ? traced(&item_sorter::count_chunk) : traced(&tile_sorter::count_chunk);
        case radix_stage::scan: return traced(&count_scanner::scan_counts);
        case radix_stage::scatter:
            return on_item ? traced(&item_sorter::scatter_chunk) : traced(&tile_sorter::scatter_chunk);
        case radix_stage::histograms: return traced(&tile_sorter::count_all_digits);
        case radix_stage::scan_histograms: return traced(&count_scanner::scan_histograms);
        case radix_stage::sweep: return traced(&tile_sorter::sweep_tile);
        case radix_stage::settle: break;
    }
    return traced(&count_scanner::settle);
}

}  // namespace balm::array
