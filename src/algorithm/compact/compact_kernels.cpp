// Chooses the recorder of a compaction kernel: by its stage, and by whether a work-item or a group processes
// a chunk. This file has the recorder that scans the chunks' totals in one group.

#include "algorithm/compact/compact_kernels.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "algorithm/block/scan.hpp"
#include "algorithm/compact/compact_items.hpp"
#include "algorithm/compact/compact_recorder.hpp"
#include "algorithm/compact/compact_runs.hpp"
#include "algorithm/compact/compact_selections.hpp"

namespace balm::array {

block::types compact_state(const compact_plan& plan, const operations& does) {
    if (plan.has_lengths) return {plan.count_type(), plan.count_type()};
    block::types made{plan.count_type()};
    made.insert(made.end(), does.state().begin(), does.state().end());
    return made;
}

namespace {

using namespace compacting;

class part_recorder : public compact_recorder {
public:
    using compact_recorder::compact_recorder;

    void record() const {
        const block::arrays shared = g_.shared("totals", state_, block::scan_room(g_));
        const Index count = given("chunks"), own = named("own", (count + (g_.items() - 1)) / g_.items());
        const Index begin = g_.is_single() ? Index(0) : named("begin", min(g_.item() * own, count)),
                    end = g_.is_single() ? Index(count) : named("end", min(begin + own, count));
        const values sum = block::variables("sum", combines_.identity());
        for (Index k : named("k", range(begin, end))) block::accumulate(combines_, sum, parts().load(k));
        values total;
        const values before = block::scan_exclusive(g_, combines_, block::read(sum), shared, &total);
        block::write(sum, before);
        for (Index k : named("k", range(begin, end))) {
            const values next = combines_.combined(block::read(sum), parts().load(k));
            parts().store(k, block::read(sum));
            block::write(sum, next);
        }
        IF (g_.item() == 0) {
            parts().store(count, total);
            trace::store(given_["count"], block::node_of(0), trace::convert(total[0], scalar::i64), {});
        }
    }
};

}  // namespace

bool are_lengths(const compaction& how, const tape& p) {
    const step& last = p.steps[p.steps.size() - 1];
    return how.reduced.size() == 1 && how.reduced[0].kind == reduction_kind::count &&
           last.what == step::kind::constant && last.type == trace::type(scalar::boolean) && last.bits != 0;
}

std::size_t bytes_of_element(const compact_plan& plan, const compaction& how, const operations& does) {
    std::size_t bytes = 0;
    for (const trace::type& each : in_kernels(how.kept)) bytes += trace::size_of(each);
    if (plan.has_lengths) return bytes + sizeof(std::int32_t);
    for (const trace::type& each : does.state()) bytes += trace::size_of(each);
    return bytes;
}

std::shared_ptr<const ir::function> trace_compaction(trace::recording& r, const parameter_list& given,
                                                     const compact_plan& plan, const compaction& how,
                                                     const operations& does, const tape& p,
                                                     const layout& leaves) {
    if (plan.reads_elements()) r.describe(fmt::format("{}", fmt::join(describe(p, leaves, given), ", ")));
    const auto traced = [&]<class Recorder>(std::type_identity<Recorder>) {
        Recorder(r, given, plan, how, does, p, leaves).record();
        return r.finish(nullptr);
    };
    if (plan.stage == compact_stage::parts) return traced(std::type_identity<part_recorder>());
    if (plan.tiles.on_item()) return traced(std::type_identity<item_recorder>());
    if (!how.reduced.empty() && !plan.has_lengths) return traced(std::type_identity<run_recorder>());
    return traced(std::type_identity<selection_recorder>());
}

}  // namespace balm::array
