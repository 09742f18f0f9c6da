// Scans along a dimension, as leaves of expressions. Rows along the last dimension are scanned like
// contiguous elements. This file scans columns: it decides how they are distributed over work-items, finds or
// traces the kernels, and launches them.

#include "balm/scan_along.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "algorithm/divided_up.hpp"
#include "algorithm/named_dimensions.hpp"
#include "algorithm/reduce/reduce_shapes.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/scan/columns_kernels.hpp"
#include "algorithm/scan/scan_request.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// On CPUs: work-items per compute unit, several to balance the load; minimum columns of a work-item's strip;
/// elements of a chunk of a strip.
constexpr std::size_t column_items_per_unit = 4, least_of_strip = 64, cpu_elements = 32768;
/// Groups of 256 work-items that a compute unit of a GPU holds. If the columns fill them all, each work-item
/// scans one column.
constexpr std::size_t groups_per_compute_unit = 8;
/// Columns that the work-items of a group share: one cache line of f32, two of f64.
constexpr std::size_t shared_side = 32;
/// Groups of 512 work-items per compute unit: with 64 bytes in flight per work-item, two groups cover the
/// latency of memory (H200: 4.8 TB/s times 0.7 µs are 25 KB per unit). With fewer groups, rows are cut into
/// chunks, which read each element twice.
constexpr std::size_t enough_groups_of_unit = 2;
/// Bytes of local memory for the states of work-items that share columns.
constexpr std::size_t most_shared_bytes = 32768;
constexpr std::size_t most_chunks = 65535;  ///< CUDA's limit on groups in a grid's second dimension

/// The part of the cache key that the expression does not determine.
struct columns_key {
    columns_plan plan;
    reduction_form what;
    std::uint32_t target;  ///< its number among the vectors that are read
    friend bool operator==(const columns_key&, const columns_key&) = default;
};

class along_computation {
public:
    along_computation(const tape& p, const scan& how, const three_dimensions& box, vector_state& into)
        : p_(p),
          how_(how),
          box_(box),
          into_(into),
          does_(&how.what, 1, {}),
          device_(into.device()),
          facts_(kernels::facts_for(device_)),
          leaves_(p) {
        refuse_writing(p);
        plan_.is_inclusive = how.is_inclusive;
        plan_.has_init = !how.init.empty();
        plan_.starts_from_nothing = !plan_.has_init && !how.is_inclusive && !how.what.nothing.empty();
        plan_.is_narrow = into.size() <= std::size_t{1} << 30;
        if (are_shared_by_groups(facts_.on_cpu))
            cut_for_gpu();
        else
            cut_for_cpu();
    }

    void start() {
        if (chunks_ == 1) return launch(columns_stage::whole, box_);
        partials_ = std::make_shared<vector_state>(into_.device_handle(), scalar::u64,
                                                   columns() * chunks_ * slot_layout(does_.state()).count);
        launch(columns_stage::chunk_totals, box_);
        launch(columns_stage::parts, {1, chunks_, columns()});
        launch(columns_stage::chunks, box_);
    }

private:
    std::size_t columns() const { return box_.outer * box_.inner; }
    std::size_t units() const { return std::max<std::size_t>(device_.info().compute_units, 1); }

    /// Columns per strip, so that there is one strip for each of the wanted work-items.
    std::size_t strip_of(const three_dimensions& box, std::size_t wanted) const {
        const std::size_t share = divided_up(box.inner, divided_up(wanted, box.outer));
        const std::size_t most = most_of_strip(does_.bytes_of_state());
        return std::clamp(std::bit_ceil(share), std::min(least_of_strip, most), most);
    }
    void cut_for_cpu() {
        plan_.shape = columns_shape::strip_an_item;
        const std::size_t wanted = column_items_per_unit * units();
        const std::size_t strip = strip_of(box_, wanted), strips = box_.outer * divided_up(box_.inner, strip);
        if (strips >= units()) return;
        const std::size_t least = divided_up(cpu_elements, std::min(strip, box_.inner));
        cut(divided_up(wanted, strips), least);
    }
    void cut_for_gpu() {
        plan_.at_once = static_cast<int>(std::min(loads_at_once(leaves_), std::bit_ceil(box_.rows)));
        const bool fits = does_.bytes_of_state() * shared_columns_group <= most_shared_bytes;
        if (!fits || columns() >= units() * groups_per_compute_unit * columns_group) {
            plan_.shape = columns_shape::column_an_item;
            return;
        }
        plan_.shape = columns_shape::shared_columns;
        side_ = std::min(std::bit_ceil(columns()), shared_side);
        const std::size_t groups = divided_up(columns(), side_), enough = units() * enough_groups_of_unit;
        if (groups >= enough) return;
        const std::size_t rows_of_tile =
            shared_columns_group / side_ * static_cast<std::size_t>(plan_.at_once);
        cut(std::min(divided_up(2 * enough, groups), most_chunks), 4 * rows_of_tile);
    }
    void cut(std::size_t wanted, std::size_t least_rows) {
        const std::size_t most = std::max<std::size_t>(box_.rows / least_rows, 1);
        piece_ = divided_up(box_.rows, std::min(wanted, most));
        chunks_ = divided_up(box_.rows, piece_);
    }

    /// The parameters of a kernel that scans a box. All numbers are 64-bit.
    template <class List>
    void declare_parameters(List& to, const columns_plan& plan, const three_dimensions& box, const tape& p,
                            const layout& leaves) const {
        const bool is_cut = plan.stage == columns_stage::chunk_totals || plan.stage == columns_stage::chunks;
        const std::size_t piece = is_cut ? piece_ : box.rows, chunks = is_cut ? chunks_ : 1;
        to.number("rows", box.rows);
        to.number("inner", box.inner);
        to.number("piece", piece);
        to.number("columns", columns());
        if (plan.on_cpu()) {
            const std::size_t strip = strip_of(box, column_items_per_unit * units());
            to.number("chunks", chunks);
            to.number("strip", strip);
            to.number("strips", divided_up(box.inner, strip));
        }
        if (plan.shape == columns_shape::shared_columns) to.number("side_bits", std::countr_zero(side_));
        if (plan.has_partials()) to.vector("partials", *partials_, trace::access::mixed);
        if (plan.starts_from_value())
            to.value("init", does_.results()[0],
                     plan.has_init ? how_.init.begin() : how_.what.nothing.begin());
        if (plan.gives_results()) {
            const bool is_read = leaves.number_of(into_) < leaves.vectors.size();
            to.vector("out", into_, is_read ? trace::access::mixed : trace::access::out);
        }
        vector_state* const written[] = {&into_};
        declare_leaves(to, p, leaves, {written, plan.gives_results() ? 1u : 0u});
    }

    void launch(columns_stage stage, const three_dimensions& box) {
        columns_plan plan = plan_;
        plan.stage = stage;
        const tape& p = plan.of_parts() ? empty_tape() : p_;
        const layout& leaves = plan.of_parts() ? no_leaves() : leaves_;
        const std::size_t chunks = plan.of_parts() ? 1 : chunks_;
        run_kernel(
            {"scan_columns", device_, facts_, p, leaves, plan.on_cpu() ? 1 : 2},
            columns_key{plan, form_of(how_.what), plan.gives_results() ? leaves.number_of(into_) : 0},
            [&](auto& to) { declare_parameters(to, plan, box, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_columns(r, given, plan, does_, p, leaves);
            },
            [&](const kernels::device_kernel& kernel) { return grid_of(plan, box, chunks, kernel); });
    }
    runtime::grid grid_of(const columns_plan& plan, const three_dimensions& box, std::size_t chunks,
                          const kernels::device_kernel& kernel) const {
        runtime::grid g;
        if (plan.on_cpu()) {
            const std::size_t strip = strip_of(box, column_items_per_unit * units());
            g.global[0] = box.outer * divided_up(box.inner, strip) * chunks;
            return g;
        }
        const bool is_shared = plan.shape == columns_shape::shared_columns;
        g.dimensions = 2;
        g.local[0] = group_size_of(kernel, is_shared ? shared_columns_group : columns_group);
        g.global[0] = divided_up(columns(), is_shared ? side_ : g.local[0]) * g.local[0];
        g.global[1] = chunks;
        return g;
    }

    const tape& p_;
    const scan& how_;
    const three_dimensions box_;
    vector_state& into_;
    const operations does_;
    runtime::device_state& device_;
    ir::launch_facts facts_;
    const layout leaves_;
    columns_plan plan_;
    std::size_t side_ = 1, chunks_ = 1, piece_ = std::numeric_limits<std::int64_t>::max();
    std::shared_ptr<vector_state> partials_;
};

class scan_along_producer : public producer {
public:
    scan_along_producer(tape&& of, const scan& how, const three_dimensions& box)
        : producer(box_of(of), result_type(how.what), vector_near(of, result_type(how.what))),
          of_(std::move(of)),
          how_(how),
          box_(box) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread()) return false;
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        const target in_place{&into};
        if (needs_temporary(p, {&in_place, 1}, extents())) return false;
        write(p, into);
        return true;
    }

    /// For vectors over several devices, the first device scans all elements.
    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        if (!is_spread(p)) return computed(p, device_of(p));
        const std::shared_ptr<vector_state> whole = computed(on_first_device(p), near()->device_handle());
        std::shared_ptr<vector_state> made = make_like(*near(), type(), extents().count());
        copy_elements(*made, 0, *whole, 0, extents().count());
        return made;
    }

private:
    std::shared_ptr<vector_state> computed(const tape& p,
                                           const std::shared_ptr<runtime::device_state>& on) const {
        auto made = std::make_shared<vector_state>(on, type(), extents().count());
        write(p, *made);
        return made;
    }
    void write(const tape& p, vector_state& into) const {
        if (into.size() == 0) return;
        if (box_.inner > 1) return along_computation(p, how_, box_, into).start();
        vector_state* const targets[] = {&into};
        run({p,
             {&how_.what, 1},
             targets,
             how_.is_inclusive,
             {&how_.init, 1},
             box_.outer > 1 ? box_.rows : 0,
             {}});
    }

    tape of_;
    scan how_;
    three_dimensions box_;
};

}  // namespace

three_dimensions along_one(const char* runner, const tape& of, const dimension_list& over) {
    if (over.count != 1)
        throw usage_error(
            fmt::format("{} cannot run along {} dimensions; name exactly one", runner, over.count));
    const shape box = box_of(of);
    named_dimensions(runner, box, over);  // throws if there is no such dimension
    three_dimensions made;
    for (int d = 0; d < box.dimensions(); ++d) {
        if (d == over.each[0])
            made.rows = box[d];
        else
            (d < over.each[0] ? made.outer : made.inner) *= box[d];
    }
    return made;
}

tape scanned_along(tape&& of, const scan& how, const dimension_list& along) {
    const three_dimensions box = along_one("a scan", of, along);
    tape p;
    p.push_produced(std::make_shared<scan_along_producer>(std::move(of), how, box));
    return p;
}

}  // namespace balm::array
