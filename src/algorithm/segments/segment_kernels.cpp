// Traces the kernels of reductions of segments.

#include "algorithm/segments/segment_kernels.hpp"

#include <fmt/format.h>

#include "algorithm/block/reduce.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/segments/segment_splits.hpp"
#include "balm/dsl/control.hpp"

namespace balm::array {

block::types state_of_share(const operations& does) {
    block::types made{scalar::boolean, scalar::boolean, scalar::i64};
    for (int part = 0; part < 2; ++part) made.insert(made.end(), does.state().begin(), does.state().end());
    return made;
}

namespace {

using namespace balm::dsl;
using block::elements;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const segments_plan& plan,
             const operations& does, const tape& p, const layout& leaves)
        : plan_(plan),
          does_(does),
          in_order_(does.operation(true)),
          p_(p),
          leaves_(leaves),
          r_(r),
          given_(given) {}

    std::shared_ptr<const ir::function> traced() {
        if (!plan_.is_finish) r_.describe(describe(p_, leaves_, given_)[0]);
        plan_.is_finish ? record_finish() : record_share();
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }
    slots shares() const { return {given_["shares"], state_of_share(does_), 0}; }

    values element(const Index& i) const {
        const trace::node at = block::node_of(i);
        return does_.of_element(record(p_, leaves_, given_, at), at);
    }
    void give(const Index& segment, const values& state) const {
        const trace::node pointer = given_["out"];
        trace::store(pointer, block::node_of(segment),
                     as_element(does_.result(state)[0], trace::pointee(pointer.type)), {});
    }
    /// The state whose result is that of an empty segment.
    values nothing() const {
        initial_value none;
        if (plan_.has_nothing) none = {given_["nothing"], false};
        return does_.beginning_with({none});
    }

    /// Combines some elements with each other first, so that the loop-carried dependency is one operation.
    values of_elements(const Index& begin, const Index& end) const {
        const values sum = block::variables("sum", element(begin));
        Index next = named("next", begin + 1);
        if (plan_.at_once > 1) {
            IF (end - next >= plan_.at_once) {
                const Index whole = named("whole", next + (end - next) / plan_.at_once * plan_.at_once);
                for (Index from : named("from", range(next, whole, plan_.at_once))) {
                    elements list;
                    for (int k = 0; k < plan_.at_once; ++k) list.push_back(element(from + k));
                    block::accumulate(in_order_, sum, block::reduce(in_order_, list));
                }
                next = whole;
            }
        }
        for (Index i : named("i", range(next, end))) block::accumulate(in_order_, sum, element(i));
        return block::read(sum);
    }

    void record_share() const {
        const segment_offsets offsets(given_["offsets"], given("segments"), given("n"));
        const Index number = named("share", group_id(0));
        const segment_offsets::place first = offsets.split(number * given("share_size")),
                                     last = offsets.split((number + 1) * given("share_size"));
        Index at = named("at", first.element + 0);
        const Bool is_continued = named("is_continued", first.element > offsets[first.segment]);
        const values head = block::variables("head", does_.identity()),
                     tail = block::variables("tail", does_.identity());
        const Index stop = named("stop", min(last.segment + 1, given("segments")));
        for (Index k : named("k", range(first.segment, stop))) {
            const Index end = named("end", min(offsets[k + 1], last.element));
            IF (at < end) {
                const values sum = of_elements(at, end);
                IF (k == last.segment) {
                    block::write(tail, sum);
                }
                ELIF (k > first.segment || !is_continued) {
                    give(k, sum);
                }
                ELSE { block::write(head, sum); }
            }
            ELIF (k < last.segment) {
                give(k, nothing());
            }
            at = end;
        }
        const values seen{block::node_of(is_continued), block::node_of(last.segment > first.segment),
                          block::node_of(first.segment)};
        shares().store(number, block::joined(seen, block::joined(block::read(head), block::read(tail))));
    }

    void record_finish() const {
        const auto width = static_cast<std::ptrdiff_t>(does_.state().size());
        const values sum = block::variables("sum", does_.identity());
        for (Index number : named("share", range(given("share_count")))) {
            const values share = shares().load(number);
            const Bool is_continued(share[0]), has_end(share[1]);
            const values head(share.begin() + 3, share.begin() + 3 + width),
                tail(share.begin() + 3 + width, share.end());
            IF (is_continued && has_end) {
                give(Index(share[2]), in_order_.combined(block::read(sum), head));
            }
            IF (is_continued && !has_end) {
                block::accumulate(in_order_, sum, tail);
            }
            ELSE { block::write(sum, tail); }
        }
    }

    const segments_plan plan_;
    const operations& does_;
    const block::operation in_order_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_segments(trace::recording& r, const parameter_list& given,
                                                   const segments_plan& plan, const operations& does,
                                                   const tape& p, const layout& leaves) {
    return recorder(r, given, plan, does, p, leaves).traced();
}

}  // namespace balm::array
