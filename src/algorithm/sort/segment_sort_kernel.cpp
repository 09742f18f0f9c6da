// Traces the kernel that sorts segments on CPUs.

#include "algorithm/sort/segment_sort_kernel.hpp"

#include <utility>

#include "algorithm/segments/segment_splits.hpp"
#include "algorithm/sort/item_sort.hpp"
#include "balm/dsl/control.hpp"

namespace balm::array {

namespace {

class segment_sort_recorder {
public:
    segment_sort_recorder(trace::recording& r, const parameter_list& given, const segment_sort_plan& plan)
        : plan_(plan),
          r_(r),
          given_(given),
          own_(arrays("keys", "values")),
          sort_(
              [this](const block::values& a, const block::values& b) {
                  return block::Bool(trace::apply(builtin::less, rank(a), rank(b)));
              },
              own_, plan.has_merges ? arrays("spare_keys", "spare_values") : own_) {}

    std::shared_ptr<const ir::function> traced() {
        const segment_offsets offsets(given_["offsets"], given("segments"), given("n"));
        const Index share = given("share_size"), number = dsl::named("share", dsl::group_id(0));
        const Index first = offsets.begun_before(number * share),
                    last = offsets.begun_before((number + 1) * share);
        for (Index k : dsl::named("k", dsl::range(first, last))) {
            const Index begin = dsl::named("begin", offsets[k]), end = dsl::named("end", offsets[k + 1]);
            const Index size = dsl::named("size", end - begin);
            BALM_IF (size > 1 && size <= given("longest")) {
                sort_segment(begin, end, size);
            }
        }
        return r_.finish(nullptr);
    }

private:
    using Index = block::Index;

    Index given(parameter_name name) const { return Index(given_[name]); }
    block::arrays arrays(parameter_name keys, parameter_name with_values) const {
        block::values pointers{given_[keys]};
        if (plan_.has_values()) pointers.push_back(given_[with_values]);
        return block::arrays(std::move(pointers));
    }
    trace::node rank(const block::values& element) const { return rank_of_number(element[0], plan_.how); }

    void sort_segment(const Index& begin, const Index& end, const Index& size) const {
        // Keys are sorted as numbers.
        const auto as_number = [this](block::values element) {
            element[0] = ordered_number(element[0], plan_.how);
            return element;
        };
        if (plan_.has_merges) {
            constexpr auto run = static_cast<std::int64_t>(insertion_run);
            BALM_IF (size <= run) {
                sort_.sort_run(begin, end, as_number);
            }
            BALM_ELSE {
                Index rounds = dsl::named("rounds", Index(1));
                BALM_WHILE ((Index(run) << rounds) < size) rounds += 1;
                sort_.sort(begin, end, rounds, (rounds & 1) != 0, as_number);
            }
        } else {
            sort_.sort_run(begin, end, as_number);
        }
        const block::arrays keys = own_.first(1);
        for (Index i : dsl::named("i", dsl::range(begin, end)))
            keys.store(i, {key_of_number(keys.load(i)[0], plan_.how)});
    }

    const segment_sort_plan plan_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::arrays own_;
    const item_sort sort_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_segment_sort(trace::recording& r, const parameter_list& given,
                                                       const segment_sort_plan& plan) {
    return segment_sort_recorder(r, given, plan).traced();
}

}  // namespace balm::array
