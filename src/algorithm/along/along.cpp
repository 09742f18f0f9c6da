// Reductions along dimensions, as materialised operands of expressions: chooses which loops are kept and how
// work-items divide the others, finds or traces the kernels, and launches them.

#include "balm/along.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <vector>

#include "algorithm/along/along_kernels.hpp"
#include "algorithm/along/row_kernels.hpp"
#include "algorithm/divided_up.hpp"
#include "algorithm/named_dimensions.hpp"
#include "algorithm/reduce/reduce_shapes.hpp"
#include "algorithm/reduce/slots.hpp"
#include "array/expression_recorder.hpp"
#include "array/fusion.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "array/stores.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Work-items per compute unit of a CPU, so that units do not wait long for the last work-item.
constexpr std::size_t items_per_compute_unit = 4;
/// Elements of a segment on CPUs: 64 sums of 64 vectors of 32 lanes, or of 8 rows, so that no sum has more
/// than 64 terms.
constexpr std::size_t longest_segment = 64 * 64 * 32, most_rows = 64 * 64 * 8;
/// Groups of 256 work-items per compute unit of a GPU: twice what it holds at once.
constexpr std::size_t groups_per_compute_unit = 16;
constexpr std::size_t most_segments = 65535;  ///< CUDA's limit of groups in a grid's second dimension
/// The least number of elements that a work-item of a GPU reduces before another one shares them; more for
/// long rows. f32 on H100, relative to a copy: rows of 32 in eights 0.94, in 32s 0.43; rows of 1,024 in
/// eights 0.86, in 32s 1.06.
constexpr std::size_t elements_of_item = 8;
constexpr std::size_t elements_of_long_row = 32, long_row = 256;

using dimension_set = std::vector<bool>;

/// The dimensions that remain; if none does, one of one element.
shape remaining(const shape& box, const dimension_set& is_reduced) {
    std::vector<std::size_t> extents;
    for (int d = 0; d < box.dimensions(); ++d)
        if (!is_reduced[static_cast<std::size_t>(d)]) extents.push_back(box[d]);
    return extents.empty() ? shape(1) : shape(extents);
}

/// Whether the reduced dimensions are the last ones.
bool are_rows(const shape& box, const dimension_set& is_reduced) {
    bool has_reduced = false, are = true;
    for (int d = 0; d < box.dimensions(); ++d) {
        if (box[d] == 1) continue;
        are = are && (is_reduced[static_cast<std::size_t>(d)] || !has_reduced);
        has_reduced = has_reduced || is_reduced[static_cast<std::size_t>(d)];
    }
    return are;
}

/// The row-major position of an element within the chosen dimensions.
affine_map place_among(const shape& box, const dimension_set& dimensions, bool chosen) {
    affine_map map{box, {}, 0};
    std::int64_t stride = 1;
    for (int d = box.dimensions() - 1; d >= 0; --d) {
        const auto at = static_cast<std::size_t>(d);
        if (dimensions[at] != chosen) continue;
        map.strides[at] = stride;
        stride *= static_cast<std::int64_t>(box[d]);
    }
    return map;
}

/// The positions whose order the loops follow: those that vary along the most dimensions. Null for the order
/// of the elements themselves, in which vectors that are no views are read.
const affine_map* order_of(const tape& p, const shape& box) {
    const affine_map* best = nullptr;
    int most = -1, depth = 0;
    if (asks_for_flat_index(p))
        for (int d = 0; d < box.dimensions(); ++d) most += box[d] > 1;
    for (const step& s : p.steps) {
        depth += (s.what == step::kind::at) - (s.what == step::kind::end);
        if (s.what != step::kind::position || depth > 0) continue;
        const affine_map& map = p.maps[s.leaf];
        const std::optional<affine_map> in_box = reshaped(map, box);
        if (!in_box) continue;
        int moving = 0;
        for (int d = 0; d < box.dimensions(); ++d)
            moving += box[d] > 1 && in_box->strides[static_cast<std::size_t>(d)] != 0;
        if (moving > most) {
            most = moving;
            best = &map;
        }
    }
    return best;
}

/// Whether neighbouring elements of the fastest loop can be computed in lanes: everything read there is
/// contiguous.
bool has_lanes_of_rows(const tape& p, const placement& places) {
    if (!places.follows_rows()) return false;
    tape elements;  // as if each vector were read at the element's own index
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const step& s = p.steps[k];
        if (s.what == step::kind::position) {
            const bool is_read = k + 3 < p.steps.size() && p.steps[k + 1].what == step::kind::at &&
                                 p.steps[k + 2].what == step::kind::vector &&
                                 p.steps[k + 3].what == step::kind::end;
            if (!is_read) return false;
            elements.push(p.steps[k + 2]);
            k += 3;
        } else {
            elements.push(s);
        }
    }
    return has_lanes(elements);
}

/// How the elements are divided, for the parameters of kernels.
struct division {
    along_plan plan;
    std::size_t piece = 0, segments = 1;
    std::size_t share = 0;   ///< CPUs: segments of rows per work-item, or strips
    std::size_t across = 0;  ///< GPUs: work-items per k
    int width_bits = 0;      ///< GPUs: log2 of the number of adjacent work-items of a group
};

/// The part of the cache key besides the expression.
struct along_key {
    along_plan plan;
    reduction_form what;
    friend bool operator==(const along_key&, const along_key&) = default;
};

class computation {
public:
    computation(const tape& p, const reduction& what, const shape& box, const dimension_set& is_reduced,
                vector_state& into)
        : p_(p),
          what_(what),
          into_(into),
          device_(into.device()),
          facts_(kernels::facts_for(device_)),
          on_cpu_(facts_.on_cpu && !are_shapes_of_gpus()),
          does_(&what, 1, {on_cpu_}),
          has_rows_(are_rows(box, is_reduced)),
          leaves_(p, placed(p, box, is_reduced)) {
        note_loops();
    }

    void start() { start(divided()); }
    /// Computes the same elements as another computation, whose operand this one's is in other words, in the
    /// same order; returns false, having done nothing, if it cannot.
    bool start_like(const computation& other) {
        const division d = other.divided();
        const bool is_alike = base_ == other.base_ &&
                              std::ranges::equal(leaves_.places.counts(), other.leaves_.places.counts()) &&
                              (d.plan.lanes == 1 || !on_cpu_ || has_lanes());
        if (is_alike) start(d);
        return is_alike;
    }

    /// How work-items of a GPU hold rows of which this is a reduction; nullopt if they cannot.
    struct of_rows {
        row_box box;
        rows_plan plan;
        row_reduction reduction;
    };
    std::optional<of_rows> in_rows() const {
        const bool are_rows = !on_cpu_ && has_rows_ && base_.loops == 2 && base_.reduced == 2 &&
                              base_.gives_in_order && is_in_order(true) && what_.element.is_scalar() &&
                              device_.info().max_work_group_size >= along_group;
        if (!are_rows) return std::nullopt;
        const division d = divided();
        const std::size_t count = divided_up(reduced_, d.across);
        if (d.segments > 1 || count > most_of_item) return std::nullopt;
        return of_rows{{kept_, reduced_},
                       {.across = static_cast<int>(d.across),
                        .count = static_cast<int>(count),
                        .is_even = reduced_ % d.across == 0,
                        .has_sub_groups = kernels::features_of(device_).has_sub_groups},
                       {what_, d.plan.at_once, d.plan.result}};
    }

    /// Whether functions are computed in vectors on CPUs.
    bool computes_quickly() const { return !on_cpu_ || divided().plan.has_vector_functions(); }

private:
    void start(division d) {
        refuse_writing(p_);
        const bool is_whole = d.segments == 1;
        d.plan.stage = is_whole ? along_stage::whole : along_stage::partials;
        if (!is_whole)
            memory_ = device_.allocate(
                balm::detail::bytes_of(shape(kept_, d.segments),
                                       slot_layout(does_.state()).count * sizeof(std::uint64_t)),
                {"partial results"});
        launch(d, p_, leaves_, reduced_);
        if (is_whole) return;
        launch(finish_of(d), empty_tape(), no_leaves(), d.segments);
    }

    static placement placed(const tape& p, const shape& box, const dimension_set& is_reduced) {
        const affine_map besides[] = {place_among(box, is_reduced, false),
                                      place_among(box, is_reduced, true)};
        return {p, box, order_of(p, box), asks_for_flat_index(p), besides};
    }
    const walk::map& place() const { return leaves_.places.besides()[0]; }
    const walk::map& position() const { return leaves_.places.besides()[1]; }

    void note_loops() {
        const std::span<const std::int64_t> counts = leaves_.places.counts();
        base_.loops = static_cast<int>(counts.size());
        for (std::size_t d = 0; d < counts.size(); ++d) {
            const bool is_reduced = counts[d] > 1 && place().strides[d] == 0;
            if (is_reduced) base_.reduced = static_cast<std::uint8_t>(base_.reduced | 1u << d);
            (is_reduced ? reduced_ : kept_) *= static_cast<std::size_t>(counts[d]);
        }
        constexpr std::size_t narrow = std::size_t{1} << 30;
        base_.is_narrow = kept_ <= narrow && reduced_ <= narrow;
        base_.gives_in_order = is_in_order(false);
        base_.counts_in_order = !has_position(what_) || is_in_order(true);
        base_.result = has_position(what_) ? 1 : 0;
    }
    /// Whether the combined index of the kept or the reduced loops is the result's position, or the
    /// element's.
    bool is_in_order(bool of_reduced) const {
        const walk::map& map = of_reduced ? position() : place();
        std::int64_t stride = 1;
        for (int d = base_.loops - 1; d >= 0; --d) {
            if (base_.is_reduced(d) != of_reduced) continue;
            const auto at = static_cast<std::size_t>(d);
            const std::int64_t count = leaves_.places.counts()[at];
            if (count > 1 && map.strides[at] != stride) return false;
            stride *= count;
        }
        return map.offset == 0;
    }

    division divided() const {
        const bool is_rows = base_.is_reduced(base_.loops - 1);
        if (on_cpu_) return is_rows ? rows_on_cpu() : strips_on_cpu();
        return is_rows ? rows_on_gpu() : columns_on_gpu();
    }
    std::size_t units() const { return std::max<std::size_t>(device_.info().compute_units, 1); }
    std::size_t fastest_count() const {
        return static_cast<std::size_t>(leaves_.places.counts()[static_cast<std::size_t>(base_.loops - 1)]);
    }
    /// Only for numbers of 32 and 64 bits, and without function calls.
    bool has_lanes() const {
        return !is_fold(what_.kind) && what_.element.is_scalar() &&
               balm::size_of(what_.element.element) >= 4 && has_lanes_of_rows(p_, leaves_.places);
    }

    division rows_on_cpu() const {
        division d{base_};
        d.plan.shape = along_shape::rows_an_item;
        const bool is_one_loop = base_.count(true) == 1;  // lanes do not extend beyond the end of a loop
        if (is_one_loop && has_lanes() && base_.counts_in_order) {
            d.plan.lanes = static_cast<int>(std::bit_floor(std::min<std::size_t>(reduced_, 16)));
            d.plan.is_short = reduced_ < 32;
        }
        d.piece = reduced_;
        if (reduced_ > longest_segment || kept_ < items_per_compute_unit * units()) {
            const std::size_t wanted = divided_up(items_per_compute_unit * units(), kept_);
            d.piece = std::clamp(divided_up(divided_up(reduced_, wanted), 1024) * 1024, cpu_elements,
                                 longest_segment);
        }
        d.segments = divided_up(reduced_, d.piece);
        d.share = std::max<std::size_t>(cpu_elements / d.piece, 1);
        return d;
    }
    division strips_on_cpu() const {
        division d{base_};
        d.plan.shape = along_shape::strip_an_item;
        const std::size_t columns = fastest_count();
        if (!has_position(what_) && has_lanes())
            d.plan.lanes = static_cast<int>(std::bit_floor(std::min<std::size_t>(columns, 16)));
        d.share = divided_up(columns, strip_elements);
        const std::size_t strips = kept_ / columns * d.share, width = std::min(columns, strip_elements);
        const std::size_t wanted = divided_up(items_per_compute_unit * units(), strips);
        const std::size_t least = divided_up(cpu_elements, width);
        d.piece = std::min(std::max(divided_up(reduced_, wanted), least), most_rows);
        d.piece = std::min(d.piece, reduced_);
        d.segments = divided_up(reduced_, d.piece);
        return d;
    }

    division rows_on_gpu() const {
        division d{base_};
        d.plan.shape = along_shape::lanes_behind_rows;
        const std::size_t of_item = reduced_ < long_row ? elements_of_item : elements_of_long_row;
        d.across = std::clamp<std::size_t>(std::bit_ceil(divided_up(reduced_, of_item)), 1, along_group);
        cut_for_gpu(d);
        return d;
    }
    division columns_on_gpu() const {
        division d{base_};
        d.plan.shape = along_shape::lanes_of_columns;
        constexpr std::size_t tile = 32;  // adjacent columns: a cache line of f32, two of f64
        const bool fill_the_device = kept_ >= units() * groups_per_compute_unit * along_group;
        const std::size_t side =
            fill_the_device ? along_group
                            : std::max(std::min(std::bit_ceil(kept_), tile),
                                       along_group / std::bit_ceil(divided_up(reduced_, elements_of_item)));
        d.across = along_group / std::clamp<std::size_t>(side, 1, along_group);
        cut_for_gpu(d);
        return d;
    }
    /// Segments if there are too few groups for the device, each of at least four times the elements that the
    /// work-items of a group have in flight; but not rows that a group holds, to which recordings add
    /// statements.
    void cut_for_gpu(division& d) const {
        const std::size_t of_item = divided_up(reduced_, d.across);
        d.plan.at_once = std::min(loads_at_once(leaves_), std::bit_floor(of_item));
        const std::size_t tiles = divided_up(kept_, along_group / d.across);
        const std::size_t wanted = divided_up(units() * groups_per_compute_unit, tiles);
        const std::size_t most = std::max<std::size_t>(reduced_ / (4 * d.plan.at_once * d.across), 1);
        const bool is_held = base_.is_reduced(base_.loops - 1) && of_item <= most_of_item;
        const std::size_t segments = is_held ? 1 : std::min({wanted, most, most_segments});
        d.piece = divided_up(divided_up(reduced_, segments), d.across) * d.across;
        d.segments = divided_up(reduced_, d.piece);
    }
    /// The division that reduces the partial results.
    division finish_of(const division& of) const {
        division d{of.plan};
        d.plan.stage = along_stage::finish;
        d.plan.lanes = 1;
        d.plan.is_short = false;
        d.plan.at_once = 1;
        d.plan.shape = on_cpu_ ? along_shape::rows_an_item : along_shape::lanes_behind_rows;
        d.piece = of.segments;
        d.share = std::max<std::size_t>(cpu_elements / d.piece, 1);
        d.across =
            std::clamp<std::size_t>(std::bit_ceil(divided_up(d.piece, elements_of_item)), 1, along_group);
        return d;
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const division& d, const tape& p, const layout& leaves,
                            std::size_t reduced) const {
        const along_plan& plan = d.plan;
        to.number("kept", kept_);
        to.number("reduced", reduced);
        to.number("piece", d.piece);
        to.number("segments", d.segments);
        if (plan.on_cpu()) to.number(plan.is_strip() ? "strips" : "rows_an_item", d.share);
        if (plan.is_strip()) to.number("columns", fastest_count());
        if (!plan.on_cpu()) to.number("width_bits", d.width_bits);
        declare_loops(to, plan, false);
        declare_loops(to, plan, true);
        if (plan.stage != along_stage::whole)
            to.memory("slots", scalar::u64, plan.is_finish() ? trace::access::in : trace::access::out,
                      *memory_);
        if (plan.stage != along_stage::partials) to.vector("out", into_, trace::access::out);
        declare_leaves(to, p, leaves);
    }
    /// For the kept or the reduced loops: the counts, except that of the slowest, and, if needed, the offset
    /// and strides of results or positions.
    template <class List>
    void declare_loops(List& to, const along_plan& plan, bool of_reduced) const {
        const bool has_counts = plan.has_counts(of_reduced), has_strides = plan.has_strides(of_reduced);
        const char* const count = of_reduced ? "reduced" : "kept";
        const char* const stride = of_reduced ? "position" : "place";
        const walk::map& map = of_reduced ? position() : place();
        if (has_strides) to.number(stride, map.offset);
        std::size_t number = 0;
        for (std::size_t d = 0; d < static_cast<std::size_t>(plan.loops); ++d) {
            if (plan.is_reduced(static_cast<int>(d)) != of_reduced) continue;
            if (has_counts && number > 0) to.number({count, number}, leaves_.places.counts()[d]);
            ++number;
            if (has_strides) to.number({stride, number}, map.strides[d]);
        }
    }

    void launch(division d, const tape& p, const layout& leaves, std::size_t reduced) {
        const along_plan& plan = d.plan;
        run_kernel(
            {plan.is_finish() ? "finish_along" : "reduce_along", device_, facts_, p, leaves,
             plan.on_cpu() ? 1 : 2},
            along_key{plan, form_of(what_)}, [&](auto& to) { declare_parameters(to, d, p, leaves, reduced); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_along(r, given, plan, does_, p, leaves);
            },
            [&](const kernels::device_kernel& kernel) { return grid_of(d, kernel); });
    }
    /// Decides on a GPU how many neighbouring work-items of a group have neighbouring k.
    runtime::grid grid_of(division& d, const kernels::device_kernel& kernel) const {
        const along_plan& plan = d.plan;
        if (plan.on_cpu())
            return groups_of(plan.is_strip() ? kept_ / fastest_count() * d.share * d.segments
                                             : divided_up(kept_ * d.segments, d.share),
                             1);
        const std::size_t items = group_size_of(kernel, along_group), across = std::min(d.across, items),
                          side = items / across;
        d.width_bits = std::countr_zero(plan.shape == along_shape::lanes_of_columns ? side : across);
        runtime::grid g = groups_of(divided_up(kept_, side), items);
        g.dimensions = 2;
        g.global[1] = d.segments;
        return g;
    }

    const tape& p_;
    const reduction& what_;
    vector_state& into_;
    runtime::device_state& device_;
    ir::launch_facts facts_;
    bool on_cpu_;
    operations does_;
    bool has_rows_;
    layout leaves_;
    along_plan base_;
    std::size_t kept_ = 1, reduced_ = 1;
    std::shared_ptr<runtime::storage> memory_;
};

/// The cache key of fused rows besides the tape.
struct rows_part {
    fused_rows::part_kind what;
    std::size_t end, at_once, result;
    friend bool operator==(const rows_part&, const rows_part&) = default;
};
struct rows_store {
    trace::type type;
    std::uint32_t leaf, written;
    std::size_t keep, after;
    bool is_of_row;
    friend bool operator==(const rows_store&, const rows_store&) = default;
};
struct rows_key {
    rows_plan plan;
    reduction_forms reductions;
    balm::detail::inline_vector<rows_part, 8> parts;
    balm::detail::inline_vector<rows_store, 4> stores;
    friend bool operator==(const rows_key&, const rows_key&) = default;
};

/// A reduction that a recording holds back, and, of the first one among several, the kernel of all.
class recorded_row_reduction final : public held_row_reduction {
public:
    recorded_row_reduction(const computation::of_rows& how, const shape& box, const dimension_set& is_reduced)
        : how_(how), box_(box), is_reduced_(is_reduced) {}

    bool shares_kernel_with(const held_row_reduction& other) const override {
        const auto* const more = dynamic_cast<const recorded_row_reduction*>(&other);
        return more != nullptr && more->how_.plan == how_.plan;
    }
    std::size_t elements_of_item() const override { return static_cast<std::size_t>(how_.plan.count); }
    void launch(const tape& operand, vector_state& result) override {
        computation(operand, how_.reduction.what, box_, is_reduced_, result).start();
    }
    void launch(const fused_rows&, std::span<const std::unique_ptr<held_row_reduction>> all) override;

private:
    computation::of_rows how_;
    shape box_;
    dimension_set is_reduced_;
};

void recorded_row_reduction::launch(const fused_rows& rows,
                                    std::span<const std::unique_ptr<held_row_reduction>> all) {
    rows_plan plan = how_.plan;
    std::vector<row_reduction> reductions;
    rows_key key;
    for (const fused_rows::part& each : rows.parts) {
        rows_part part{each.what, each.end, 0, 0};
        if (each.what == fused_rows::part_kind::reduction) {
            const auto& how = static_cast<recorded_row_reduction&>(*all[reductions.size()]).how_.reduction;
            part.at_once = how.at_once;
            part.result = how.result;
            key.reductions.push_back(form_of(how.what));
            reductions.push_back(how);
        }
        key.parts.push_back(part);
    }
    const shape box(rows.box.rows, rows.box.columns);
    const affine_map in_order = row_major(box);
    const affine_map besides[] = {{box, {1, 0}, 0}, {box, {0, 1}, 0}};  // which keep the loops apart
    const layout leaves(rows.values, placement(rows.values, box, &in_order, true, besides));
    written_list written;
    for (const fused_rows::store& each : rows.stores) {
        written.push_back(each.into.get());
        plan.reads_results |= each.is_of_row && leaves.number_of(*each.into) < leaves.vectors.size();
        key.stores.push_back({each.into->type(), leaves.number_of(*each.into),
                              static_cast<std::uint32_t>(written.size() - 1), each.keep, each.after,
                              each.is_of_row});
    }
    key.plan = plan;
    runtime::device_state& device = rows.stores.front().into->device();
    const std::size_t side = along_group / static_cast<std::size_t>(plan.across);
    run_kernel(
        {"rows", device, kernels::facts_for(device), rows.values, leaves}, key,
        [&](auto& to) {
            to.number("rows", rows.box.rows);
            to.number("columns", rows.box.columns);
            declare_written(to, "out", leaves, written);
            declare_leaves(to, rows.values, leaves, written);
        },
        [&](trace::recording& r, const parameter_list& given) {
            return trace_rows(r, given, plan, rows, reductions, leaves);
        },
        groups_of(divided_up(rows.box.rows, side), along_group));
}

trace::type result_type(const reduction& what) {
    const operations does(&what, 1, {});
    return does.results()[has_position(what) ? 1 : 0];
}

class along_producer : public producer {
public:
    along_producer(tape&& of, const reduction& what, const shape& box, const dimension_set& is_reduced)
        : producer(remaining(box, is_reduced), result_type(what), vector_near(of, result_type(what))),
          of_(std::move(of)),
          what_(what),
          box_(box),
          is_reduced_(is_reduced) {}

    bool compute_into(vector_state& into) const override {
        if (into.is_spread() || reads(of_, into)) return false;
        tape p = of_;
        materialise(p);
        write(p, into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        if (!is_spread(p)) return computed(p, device_of(p));
        // The first device computes all of it.
        const std::shared_ptr<runtime::device_state>& first = near()->device_handle();
        localizer here(first);
        std::shared_ptr<vector_state> whole;
        if (box_.count() == 0)
            whole = computed(p, first);
        else
            whole = computed(here.pieces(p, box_, 0, box_.count())[0].values, first);
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
        if (box_.count() > 0) {
            computation as_it_is(p, what_, box_, is_reduced_, into);
            if (is_held(as_it_is, p, into)) return;
            if (is_with_statements_again(as_it_is, p, into)) return;
            if (!has_slow_values(p) || as_it_is.computes_quickly()) return as_it_is.start();
            tape values = p;
            store_slow_values(values);
            return computation(values, what_, box_, is_reduced_, into).start();
        }
        std::vector<std::uint64_t> value(result_slots(what_));
        write_result_of_nothing(what_, value.data());
        fill(into, value.data());
    }

    /// Reduces the operand with cheap statements of a recording in place of what they assign, if it reads
    /// such; returns whether it did.
    bool is_with_statements_again(const computation& single, const tape& p, vector_state& into) const {
        const std::optional<tape> again = has_slow_values(p) ? std::nullopt : with_statements_again(p, box_);
        if (!again) return false;
        reduction last = what_;  // sums take the products of their own statement
        last.statement = statement_count(*again);
        return computation(*again, last, box_, is_reduced_, into).start_like(single);
    }

    /// Holds the reduction back if this thread records; returns whether it did.
    bool is_held(const computation& single, const tape& p, vector_state& into) const {
        if (runtime::command_list::of_thread() == nullptr) [[likely]]
            return false;
        refuse_writing(p);
        const std::optional<computation::of_rows> rows = single.in_rows();
        return rows && is_held_to_fuse(std::make_unique<recorded_row_reduction>(*rows, box_, is_reduced_), p,
                                       rows->box, into);
    }

    tape of_;
    reduction what_;
    shape box_;
    dimension_set is_reduced_;
};

}  // namespace

shape with_ones(const shape& extents, const dimension_list& over, std::size_t lost) {
    const dimension_set is_reduced = named_dimensions("a reduction", extents, over);
    std::vector<std::size_t> kept(static_cast<std::size_t>(extents.dimensions()));
    for (std::size_t d = 0; d < kept.size(); ++d) kept[d] = is_reduced[d] ? 1 : extents[static_cast<int>(d)];
    const shape made(kept);
    const std::size_t results = made.count(), count = results == 0 ? lost + 1 : extents.count() / results;
    if (count > lost) return made;
    throw usage_error(
        fmt::format("a mean or variance along dimensions of {} combines {} elements; it needs more than {}",
                    to_string(extents), count, lost));
}

tape reduced_along(tape&& of, const reduction& what, const dimension_list& over) {
    const shape box = box_of(of);
    const dimension_set is_reduced = named_dimensions("a reduction", box, over);
    if (is_extreme(what) && box.count() == 0 && remaining(box, is_reduced).count() > 0)
        throw usage_error(
            fmt::format("the extremes of an array of {} are undefined along dimensions that have no elements",
                        to_string(box)));
    tape p;
    p.push_produced(std::make_shared<along_producer>(std::move(of), what, box, is_reduced));
    return p;
}

}  // namespace balm::array
