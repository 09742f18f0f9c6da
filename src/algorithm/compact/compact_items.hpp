#pragma once
// The kernels of compactions on CPUs. A work-item computes the total of a chunk, or moves the chunk's
// elements to their positions, given the total before the chunk.

#include "algorithm/compact/compact_recorder.hpp"

namespace balm::array::compacting {

class item_recorder : public compact_recorder {
public:
    using compact_recorder::compact_recorder;

    void record() const {
        const chunk own = own_chunk();
        if (plan_.stage == compact_stage::chunk_totals) return record_total_of_item(own);
        if (has_reductions_)
            record_runs_of_item(own);
        else
            record_moves_of_item(own);
    }

private:
    /// The first element always begins a run; the loops over the others read the element before.
    Index first_with_one_before(const chunk& own) const {
        return plan_.of_runs() ? named("first", max(own.begin, std::int64_t{1})) : Index(own.begin);
    }
    /// The number of selected elements in the chunk, by a loop that compilers vectorise.
    Int count_of_item(const chunk& own) const {
        Int count = named("count", 0);
        if (plan_.of_runs()) count = select(own.begin == 0, 1, 0);
        for (Index i : named("i", range(first_with_one_before(own), own.end)))
            count += select(at(i).is_selected, 1, 0);
        return count;
    }
    void record_total_of_item(const chunk& own) const {
        const Int count = count_of_item(own);
        values total{trace::convert(block::node_of(count), plan_.count_type())};
        if (has_reductions_) total = block::joined(std::move(total), last_run_of_item(own));
        parts().store(own.number, total);
    }
    /// The reductions of the chunk's last run, for its elements in the chunk.
    values last_run_of_item(const chunk& own) const {
        Index last = named("last", own.end - 1);
        BALM_WHILE (last > own.begin && !at(last).is_selected) last -= 1;
        const values sum = block::variables("sum", state_of(recorded(last), last));
        if (plan_.has_lengths) return block::read(sum);
        for (Index i : named("i", range(last + 1, own.end)))
            block::write(sum, does_.combined(block::read(sum), state_of(recorded(i), i), true));
        return block::read(sum);
    }

    /// Stores every element at the position of the next selected one, so that no branch depends on the
    /// selection. Nothing is stored beyond the chunk's last position, which belongs to another chunk or must
    /// stay unchanged.
    void record_moves_of_item(const chunk& own) const {
        Index place = named("place", index_of(ahead_of(own)[0]));
        if (plan_.is_partition) return record_partition_of_item(own, place);
        const Index limit = limit_of_item(own);
        if (plan_.of_runs()) {
            BALM_IF (own.begin == 0) {
                where_there_is_room(Index(0), [&] { keep(Index(0), first_of_all().kept); });
                place = 1;
            }
        }
        for (Index i : named("i", range(first_with_one_before(own), own.end))) {
            const element e = at(i);
            BALM_IF (place < limit) {
                keep(place, e.kept);
            }
            place += select(e.is_selected, 1, 0);
        }
        if (plan_.gives_count()) finish({block::node_of(place)});
    }
    /// The end of the chunk's positions in the targets.
    Index limit_of_item(const chunk& own) const {
        const Index end = plan_.stage == compact_stage::whole ? cast<std::int64_t>(count_of_item(own))
                                                              : index_of(parts().load(own.number + 1)[0]);
        return named("limit", plan_.is_bounded ? min(end, given("room")) : end);
    }
    void record_partition_of_item(const chunk& own, Index& place) const {
        const Index selected = named("selected", plan_.stage == compact_stage::whole
                                                     ? cast<std::int64_t>(count_of_item(own))
                                                     : index_of(parts().load(given("chunks"))[0]));
        for (Index i : named("i", range(own.begin, own.end))) {
            const element e = at(i);
            const Index to = select(e.is_selected, place, selected + i - place);
            where_there_is_room(to, [&] { keep(to, e.kept); });
            place += select(e.is_selected, 1, 0);
        }
        if (plan_.gives_count()) finish({block::node_of(place)});
    }

    void record_runs_of_item(const chunk& own) const {
        const values ahead = ahead_of(own);
        Index place = named("place", index_of(ahead[0]));
        const values sum = block::variables("sum", behind(ahead, 1));
        BALM_IF (own.begin == 0) {
            const element e = first_of_all();
            where_there_is_room(Index(0), [&] { keep(Index(0), e.kept); });
            place = 1;
            block::write(sum, e.state);
        }
        for (Index i : named("i", range(first_with_one_before(own), own.end))) {
            const element e = at(i);
            const auto begin_run = [&] {
                where_there_is_room(place - 1,
                                    [&] { give_results(place - 1, results_of(block::read(sum), i)); });
                where_there_is_room(place, [&] { keep(place, e.kept); });
                place += 1;
                block::write(sum, e.state);
            };
            if (plan_.has_lengths) {
                BALM_IF (e.is_selected) {
                    begin_run();
                }
            } else {
                BALM_IF (e.is_selected) {
                    begin_run();
                }
                BALM_ELSE { block::write(sum, does_.combined(block::read(sum), e.state, true)); }
            }
        }
        BALM_IF (own.end == given("n")) {
            finish(block::joined({block::node_of(place)}, block::read(sum)));
        }
    }
};

}  // namespace balm::array::compacting
