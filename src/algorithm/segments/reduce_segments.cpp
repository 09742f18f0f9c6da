// Reductions of segments on CPUs: divides the work, finds or traces the kernels, and launches them.

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "algorithm/divided_up.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "algorithm/segments/segment_kernels.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/segments.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Elements and segments of a work-item.
constexpr std::size_t share_size = 32768;
/// The number of floats that a work-item combines before it adds them to the others.
constexpr int floats_at_once = 8;

struct segments_key {
    segments_plan plan;
    reduction_form what;
    trace::type offset, result;
    friend bool operator==(const segments_key&, const segments_key&) = default;
};

class computation {
public:
    computation(vector_state& into, const vector_state& offsets, const tape& p, std::size_t n,
                const reduction& what)
        : into_(into),
          offsets_(offsets),
          p_(p),
          n_(n),
          what_(what),
          does_(&what, 1, {}),
          device_(into.device()),
          facts_(kernels::facts_for(device_)),
          leaves_(p) {
        refuse_writing(p);
        plan_.has_nothing = !what.nothing.empty();
        const bool is_cheap = is_floating(what.element.element) && !is_fold(what.kind);
        plan_.at_once = is_cheap ? floats_at_once : 1;
    }

    void start() {
        const std::size_t count = divided_up(into_.size() + n_, share_size);
        shares_.emplace(into_.device_handle(), scalar::u64, count * slot_layout(state_of_share(does_)).count);
        launch(plan_, p_, leaves_, count);
        if (count > 1) launch({true, false, 1}, empty_tape(), no_leaves(), 1);
    }

private:
    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const segments_plan& plan, const tape& p, const layout& leaves) {
        to.vector("shares", *shares_, plan.is_finish ? trace::access::in : trace::access::out);
        to.vector("out", into_, trace::access::out);
        if (plan.is_finish) {
            to.number("share_count", divided_up(into_.size() + n_, share_size));
            return;
        }
        to.number("n", n_);
        to.number("segments", into_.size());
        to.number("share_size", share_size);
        if (plan.has_nothing) to.value("nothing", does_.results()[0], what_.nothing.begin());
        declare_leaves(to, p, leaves);
        // Last: elements that read the same vector must find their own parameter.
        to.vector("offsets", offsets_, trace::access::in);
    }
    void launch(const segments_plan& plan, const tape& p, const layout& leaves, std::size_t items) {
        run_kernel(
            {"reduce_segments", device_, facts_, p, leaves},
            segments_key{plan, form_of(what_), offsets_.type(), into_.type()},
            [&](auto& to) { declare_parameters(to, plan, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_segments(r, given, plan, does_, p, leaves);
            },
            groups_of(items, 1));
    }

    vector_state& into_;
    const vector_state& offsets_;
    const tape& p_;
    const std::size_t n_;
    const reduction& what_;
    const operations does_;
    runtime::device_state& device_;
    ir::launch_facts facts_;
    const layout leaves_;
    segments_plan plan_;
    std::optional<vector_state> shares_;
};

}  // namespace

bool reduce_segments(vector_state& into, const vector_state& offsets, tape&& elements, const reduction& how) {
    if (into.is_spread() || offsets.is_spread() || &into.device() != &offsets.device()) return false;
    runtime::device_state& device = into.device();
    if (are_shared_by_groups(kernels::facts_for(device).on_cpu)) return false;
    materialise(elements);
    store_slow_values(elements);
    const auto is_here = [&](const auto& v) { return !v->is_spread() && &v->device() == &device; };
    if (!std::all_of(elements.vectors.begin(), elements.vectors.end(), is_here)) return false;
    if (!elements.images.empty()) return false;
    computation(into, offsets, elements, element_count(elements), how).start();
    return true;
}

}  // namespace balm::array
