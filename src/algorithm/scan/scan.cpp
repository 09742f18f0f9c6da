// Scans as leaves of expressions: chooses how elements are cut, finds or traces the kernels, launches them.

#include "balm/scan.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/scan/scan_kernels.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "array/kernel_cache.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/launch.hpp"

namespace balm::array {

namespace {

/// 2^28 u32 and f64 take 0.72 and 1.51 ms; 0.89 and 2.01 in tiles of 256 work-items with 64 bytes. With 158
/// registers, as the compiler likes, three groups share a compute unit instead of four: 1.69 for f64 (H200).
constexpr tile_shape large_tiles{128, 256, 128};
/// Floats that a work-item of a CPU combines ahead of what is before them.
constexpr int cpu_elements_at_once = 8;

/// Elements that a kernel takes from where they lie to where its results go.
struct section {
    const tape& p;
    std::size_t n;
    vector_state& into;
    std::size_t first_out;
};

/// What decides a kernel besides the expression.
struct scan_key {
    scan_plan plan;
    reduction_form what;
    std::uint32_t target;  ///< its number among the vectors that are read
    friend bool operator==(const scan_key&, const scan_key&) = default;
    void add_to(runtime::table_hash& hash) const {
        plan.add_to(hash);
        what.add_to(hash);
        hash.add(target);
    }
};

/// A scan of a section on its device. It is whole, or one of several whose elements follow each other: then
/// it is asked for its total, given those of the sections before, and finished.
class computation {
public:
    computation(const section& of, const scan& how, bool is_by_key, std::size_t sections_before, bool is_only)
        : of_(of),
          how_(how),
          does_(&how.what, 1, {}),
          device_(of.into.device()),
          facts_(kernels::facts_for(device_)),
          leaves_(of.p),
          state_(scan_state(does_, is_by_key)),
          before_(sections_before) {
        refuse_writing(of.p);
        plan_.is_inclusive = how.is_inclusive;
        plan_.has_init = how.has_init;
        plan_.is_by_key = is_by_key;
        plan_.is_cut = of.first_out > 0;
        divide_elements(is_only);
    }

    void start() {
        if (division_.chunks == 1) return launch(scan_stage::whole, of_.n, 1);
        if (division_.strategy == scan_strategy::tiles_look_back) return start_with_look_back();
        parts_ = slots_of(division_.chunks);
        launch(scan_stage::chunk_totals, of_.n, division_.chunks);
        finish();
    }

    /// Computes the total.
    const vector_state& start_total() {
        parts_ = slots_of(before_ + division_.chunks);
        total_ = slots_of(1);
        launch(scan_stage::chunk_totals, of_.n, division_.chunks);
        launch(scan_stage::total_of_parts, division_.chunks, 1);
        return *total_;
    }
    void take_total(std::size_t of_section, const vector_state& total) {
        copy_elements(*parts_, of_section * total.size(), total, 0, total.size());
    }
    void finish() {
        launch(scan_stage::parts, before_ + division_.chunks, 1);
        launch(scan_stage::chunks, of_.n, division_.chunks);
    }

private:
    void divide_elements(bool is_only) {
        std::size_t bytes = 0;
        for (const trace::type& each : state_) bytes += trace::size_of(each);
        const trace::type result = does_.results()[0];
        division_ = divide(device_, facts_.on_cpu, of_.p, leaves_,
                           {of_.n, bytes, trace::size_of(result), is_only, large_tiles,
                            std::numeric_limits<std::size_t>::max()});
        static_cast<tile_plan&>(plan_) = division_.tiles;
        facts_.max_registers = plan_.max_registers;
        if (plan_.on_item()) {
            plan_.at_once = is_floating(how_.what.element.element) ? cpu_elements_at_once : 1;
        } else {
            plan_.stores_vectors = !plan_.is_cut && of_.into.is_whole() && result.element != scalar::boolean;
        }
    }

    std::shared_ptr<vector_state> slots_of(std::size_t states) const {
        return std::make_shared<vector_state>(of_.into.device_handle(), scalar::u64,
                                              states * slot_layout(state_).count);
    }

    void start_with_look_back() {
        const std::size_t tiles = divided_up(of_.n, plan_.elements());
        announcements_.emplace(of_.into.device_handle(), tiles, state_);
        launch(scan_stage::look_back, of_.n, tiles);
    }

    /// The parameters of a kernel.
    template <class List>
    void list(List& to, const scan_plan& plan, std::size_t n, const tape& p, const layout& leaves) {
        to.number("n", n);
        const bool has_chunks = plan.stage == scan_stage::chunk_totals || plan.stage == scan_stage::chunks;
        if (has_chunks) to.number("chunk_size", division_.chunk);
        if (has_chunks || plan.stage == scan_stage::total_of_parts) to.number("first_part", before_);
        if (has_chunks || plan.of_parts()) to.vector("parts", *parts_, trace::access::mixed);
        if (plan.stage == scan_stage::total_of_parts) to.vector("total", *total_, trace::access::out);
        if (plan.stage == scan_stage::look_back) announcements_->list(to);
        if (plan.has_init) to.value("init", does_.results()[0].element, how_.init);
        if (plan.gives_results()) {
            const bool is_read = leaves.number_of(of_.into) < leaves.vectors.size();
            to.vector("out", of_.into, is_read ? trace::access::mixed : trace::access::out);
            if (plan.is_cut) to.number("first_out", of_.first_out);
        }
        vector_state* const written[] = {&of_.into};
        list_leaves(to, p, leaves, {written, plan.gives_results() ? 1u : 0u});
    }
    void launch(scan_stage stage, std::size_t n, std::size_t groups) {
        scan_plan plan = plan_;
        plan.stage = stage;
        const tape& p = plan.of_parts() ? empty_tape() : of_.p;
        const layout& leaves = plan.of_parts() ? no_leaves() : leaves_;
        const auto trace_it = [&] {
            trace::recording r(stage == scan_stage::look_back ? "scan" : "scan_in_chunks", 1, {});
            parameter_list given(r);
            list(given, plan, n, p, leaves);
            return trace_scan(r, given, plan, does_, p, leaves);
        };
        const scan_key key{plan, reduction_form(how_.what),
                           plan.gives_results() ? leaves.number_of(of_.into) : 0};
        const std::shared_ptr<const cached_kernel> kernel =
            kernel_for(device_, key, p, leaves, facts_, std::cref(trace_it));
        const runtime::grid g = grid_of(groups, plan, *kernel);
        enqueue(*kernel, device_, g, [&](parameter_bindings& bound) { list(bound, plan, n, p, leaves); });
    }

    const section& of_;
    const scan& how_;
    const operations does_;
    runtime::device_state& device_;
    ir::launch_facts facts_;
    layout leaves_;
    block::types state_;
    std::size_t before_;
    work_division division_;
    scan_plan plan_;
    std::shared_ptr<vector_state> parts_, total_;
    std::optional<announcement_memory> announcements_;
};

trace::type result_type(const scan& how) { return operations(&how.what, 1, {}).results()[0]; }

class scan_producer : public producer {
public:
    scan_producer(tape&& of, const scan& how, bool is_by_key)
        : producer(box_of(of), result_type(how), vector_near(of, result_type(how))),
          of_(std::move(of)),
          how_(how),
          is_by_key_(is_by_key) {}

    bool compute_into(vector_state& into) const override {
        if (is_spread(of_) || into.is_spread() || &into.device() != &near()->device()) return false;
        tape p = of_;
        materialise(p);
        const target in_place{&into};
        if (needs_temporary(p, {&in_place, 1}, extents())) return false;
        write(p, into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        if (is_spread(p)) return computed_on_several(p);
        auto made = std::make_shared<vector_state>(device_of(p), type(), extents().count());
        write(p, *made);
        return made;
    }

private:
    void write(const tape& p, vector_state& into) const {
        if (into.size() == 0) return;
        computation({p, into.size(), into, 0}, how_, is_by_key_, 0, true).start();
    }

    /// Every device scans its share, given the totals of the shares before.
    std::shared_ptr<vector_state> computed_on_several(const tape& p) const {
        const auto spread =
            std::find_if(p.vectors.begin(), p.vectors.end(), [](const auto& v) { return v->is_spread(); });
        std::shared_ptr<vector_state> made = make_like(**spread, type(), extents().count());
        if (extents().count() == 0) return made;
        const std::vector<piece> pieces = pieces_of(p);
        std::vector<section> sections;
        sections.reserve(pieces.size());
        for (const piece& each : pieces) sections.push_back(section_of(each, *made));
        std::list<computation> all;
        std::vector<const vector_state*> totals;
        totals.reserve(sections.size());
        for (const section& each : sections)
            totals.push_back(&all.emplace_back(each, how_, is_by_key_, totals.size(), false).start_total());
        std::size_t before = 0;
        for (computation& each : all) {
            for (std::size_t k = 0; k < before; ++k) each.take_total(k, *totals[k]);
            each.finish();
            ++before;
        }
        return made;
    }
    /// A piece is of one part's elements, since both are shared out alike.
    static section section_of(const piece& of, const vector_state& made) {
        const auto part = std::find_if(made.parts().begin(), made.parts().end(), [&](const auto& each) {
            return of.first < each.first + each.elements->size();
        });
        return {of.values, of.box.count(), *part->elements, of.first - part->first};
    }

    tape of_;
    scan how_;
    bool is_by_key_;
};

}  // namespace

tape scanned(tape&& elements, const scan& how) {
    tape p;
    p.push_produced(std::make_shared<scan_producer>(std::move(elements), how, false));
    return p;
}
tape scanned(tape&& elements, const scan& how, tape&& starts) {
    elements.append(std::move(starts));
    tape p;
    p.push_produced(std::make_shared<scan_producer>(std::move(elements), how, true));
    return p;
}

}  // namespace balm::array
