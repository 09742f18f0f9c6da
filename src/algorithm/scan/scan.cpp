// Scans as materialised operands: divides the elements, finds or traces the kernels, and launches them.

#include "balm/scan.hpp"

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/divided_up.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/scan/scan_kernels.hpp"
#include "algorithm/scan/scan_request.hpp"
#include "algorithm/scan/scan_strategy.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Tiles of states of up to 4 bytes, and of larger ones. On an H200 2^28 u32 take 0.651 ms (256 work-items of
/// 64 elements with 128 registers: 0.686, 512 of 32: 0.677, 384 of 40 with 80 registers: 0.715), f64 1.37
/// (256 work-items of 24 elements with 80 registers: 1.57, 512 of 16 with 64: 1.52, 512 of 32: 1.41).
constexpr tile_shape narrow_tiles{512, 160, 64}, large_tiles{256, 256, 128};
constexpr std::size_t most_narrow = 4;
/// By key, the state has a boolean more (2^28 elements on H200; u32: 256 work-items of 32 elements with 128
/// registers take 1.20 ms, with 80 1.04, 512 of 24 1.04; f64: 256 of 16 2.05, of 24 1.84).
constexpr tile_shape narrow_flagged_tiles{512, 120, 64}, large_flagged_tiles{256, 216, 128};
/// Tiles of whole rows, which do not wait for others.
constexpr tile_shape rows_tiles{256, 64};
/// The number of floats that a work-item of a CPU combines before it combines them with the prefix.
constexpr int cpu_elements_at_once = 8;
/// Rows on CPUs: work-items per compute unit, so that none waits long for the last; the maximum number of
/// elements of a work-item with several rows, and the minimum of a chunk of a row that several work-items
/// share.
constexpr std::size_t items_per_compute_unit = 4;
constexpr std::size_t most_elements_of_item = 65536, shortest_chunk = 8192;

/// The elements of a scan on one device, and the targets of their results.
struct section {
    const tape& p;
    std::size_t n;
    std::span<vector_state* const> into;
    std::size_t first_out;
};

/// The cache key of a kernel, apart from the expression.
struct scan_key {
    scan_plan plan;
    reduction_forms what;
    balm::detail::inline_vector<std::uint32_t, 2> targets;  ///< their numbers among the vectors that are read

    friend bool operator==(const scan_key&, const scan_key&) = default;
};

/// A scan of a section on its device. It is either the only one, or one of several consecutive sections:
/// these compute their totals, take those of the sections before, and finish.
class computation {
public:
    computation(const section& of, const scan_request& asked, std::size_t sections_before, bool is_only)
        : of_(of),
          asked_(asked),
          does_(asked.what.data(), asked.what.size(), {}),
          device_(of.into[0]->device()),
          facts_(kernels::facts_for(device_)),
          leaves_(of.p),
          before_(sections_before) {
        refuse_writing(of.p);
        plan_.is_inclusive = asked.is_inclusive;
        for (std::size_t k = 0; k < asked.what.size(); ++k) {
            const std::uint64_t bit = std::uint64_t{1} << k;
            if (asked.has_init(k))
                plan_.inits |= bit;
            else if (asked.starts_from_nothing(k))
                plan_.nothings |= bit;
        }
        plan_.has_carry = !asked.carry.empty();
        plan_.keys = asked.keys;
        plan_.is_cut = of.first_out > 0;
        divide_elements(is_only);
    }

    void start() {
        if (are_rows_whole_) return launch(scan_stage::whole_rows, of_.n, groups_of_rows_);
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
        const bool is_rows = asked_.row > 0;
        const bool is_by_key = asked_.keys > 0;
        take(divided(is_rows ? rows_tiles : tiles_for(is_by_key), is_by_key, is_only));
        if (is_rows) plan_.tiles.on_item() ? divide_rows_among_items() : divide_rows_among_groups(is_only);
        if (plan_.tiles.on_item()) {
            const bool are_floating = std::all_of(asked_.what.begin(), asked_.what.end(), [](auto& each) {
                return is_floating(each.element.element);
            });
            plan_.at_once = are_floating ? cpu_elements_at_once : 1;
            const bool are_cheap = std::all_of(asked_.what.begin(), asked_.what.end(), [](auto& each) {
                return each.element.is_scalar() && !is_fold(each.kind);
            });
            if (is_by_key) plan_.compared_at_once = are_cheap ? cpu_elements_at_once : plan_.at_once;
        } else {
            const bool are_numbers = std::all_of(of_.into.begin(), of_.into.end(), [](auto* each) {
                return each->is_whole() && each->type().is_scalar() &&
                       each->type().element != scalar::boolean;
            });
            plan_.stores_vectors = !plan_.is_cut && are_numbers;
        }
    }
    std::size_t bytes_of_state(bool has_flag) const { return does_.bytes_of_state() + (has_flag ? 1 : 0); }
    const tile_shape& tiles_for(bool has_flag) const {
        const bool is_narrow = bytes_of_state(false) <= most_narrow;
        if (has_flag) return is_narrow ? narrow_flagged_tiles : large_flagged_tiles;
        return is_narrow ? narrow_tiles : large_tiles;
    }
    work_division divided(const tile_shape& large, bool has_flag, bool is_only) const {
        std::size_t widest = 1;
        for (const trace::type& each : does_.results()) widest = std::max(widest, trace::size_of(each));
        return divide(device_, facts_.on_cpu, of_.p, leaves_,
                      {of_.n, bytes_of_state(has_flag), widest, is_only,
                       can_be_announced(scan_state(does_, has_flag)), large});
    }
    void take(const work_division& made) {
        division_ = made;
        plan_.tiles = made.tiles;
        facts_.max_registers = plan_.tiles.max_registers;
    }

    /// Each work-item has some whole rows; few long rows are divided into chunks.
    void divide_rows_among_items() {
        plan_.rows = row_form::apart;
        const std::size_t rows = of_.n / asked_.row;
        const std::size_t items = items_per_compute_unit * compute_units();
        are_rows_whole_ = rows >= items || asked_.row <= shortest_chunk;
        if (are_rows_whole_) {
            rows_of_item_ = std::clamp<std::size_t>(most_elements_of_item / asked_.row, 1,
                                                    std::max<std::size_t>(rows / items, 1));
            groups_of_rows_ = divided_up(rows, rows_of_item_);
            return;
        }
        division_.chunk =
            std::clamp(divided_up(asked_.row, divided_up(items, rows)), shortest_chunk, division_.chunk);
        chunks_of_row_ = divided_up(asked_.row, division_.chunk);
        division_.chunks = rows * chunks_of_row_;
    }
    /// A tile has as many whole rows as fit, unless it would be far from full, or short vectors would cross
    /// the beginning of a tile; then rows are segments.
    void divide_rows_among_groups(bool is_only) {
        plan_.rows = row_form::segments;
        plan_.is_narrow = of_.n <= std::size_t{1} << 31;
        shorten_runs();
        const auto length = static_cast<std::size_t>(plan_.tiles.tile.length);
        const std::size_t step = length / std::gcd(asked_.row, length);
        const std::size_t rows = plan_.tiles.elements() / asked_.row / step * step;
        are_rows_whole_ = plan_.tiles.is_exact && 4 * rows * asked_.row >= 3 * plan_.tiles.elements();
        elements_of_tile_ = rows * asked_.row;
        groups_of_rows_ = are_rows_whole_ ? divided_up(of_.n, elements_of_tile_) : 0;
        if (are_rows_whole_) return;
        take(divided(tiles_for(true), true, is_only));
        shorten_runs();
    }
    /// No run of a tile has elements of three rows.
    void shorten_runs() {
        while (static_cast<std::size_t>(plan_.tiles.tile.length) > asked_.row)
            plan_.tiles.tile = {plan_.tiles.tile.count * 2, plan_.tiles.tile.length / 2};
    }
    std::size_t compute_units() const { return std::max<std::size_t>(device_.info().compute_units, 1); }

    std::shared_ptr<vector_state> slots_of(std::size_t states) const {
        return std::make_shared<vector_state>(of_.into[0]->device_handle(), scalar::u64,
                                              states * slot_layout(state()).count);
    }

    block::types state() const { return scan_state(does_, plan_.has_flagged_totals()); }

    /// Totals for the next scan are stored in other memory first: tiles may still read the carry.
    void start_with_look_back() {
        const std::size_t tiles = divided_up(of_.n, plan_.tiles.elements());
        announcements_.emplace(of_.into[0]->device_handle(), tiles, state());
        for (const vector_state* each : asked_.carry)
            carried_.push_back(std::make_shared<vector_state>(each->device_handle(), each->type(), 1));
        launch(scan_stage::look_back, of_.n, tiles);
        for (std::size_t k = 0; k < carried_.size(); ++k)
            copy_elements(*asked_.carry[k], 0, *carried_[k], 0, 1);
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const scan_plan& plan, std::size_t n, const tape& p,
                            const layout& leaves) {
        to.number("n", n);
        const bool has_chunks = plan.stage == scan_stage::chunk_totals || plan.stage == scan_stage::chunks;
        if (has_chunks) to.number("chunk_size", division_.chunk);
        if (has_chunks || plan.stage == scan_stage::total_of_parts) to.number("first_part", before_);
        if (has_chunks || plan.of_parts()) to.vector("parts", *parts_, trace::access::mixed);
        if (plan.stage == scan_stage::total_of_parts) to.vector("total", *total_, trace::access::out);
        if (plan.stage == scan_stage::look_back) announcements_->declare_parameters(to);
        if (plan.rows != row_form::none && !plan.of_parts()) declare_rows(to, plan, has_chunks);
        for (std::size_t k = 0; k < asked_.what.size(); ++k)
            if (plan.starts_from_value(k))
                to.value({"init", k}, does_.results()[k],
                         plan.has_init(k) ? asked_.init[k].begin() : asked_.what[k].nothing.begin());
        if (plan.has_carry && (plan.gives_results() || plan.carries_out())) declare_carry(to, plan);
        if (plan.gives_results()) {
            for (std::size_t k = 0; k < of_.into.size(); ++k) {
                const bool is_read = leaves.number_of(*of_.into[k]) < leaves.vectors.size();
                to.vector({"out", k}, *of_.into[k], is_read ? trace::access::mixed : trace::access::out);
            }
            if (plan.is_cut) to.number("first_out", of_.first_out);
        }
        declare_leaves(to, p, leaves, of_.into.first(plan.gives_results() ? of_.into.size() : 0));
    }
    template <class List>
    void declare_rows(List& to, const scan_plan& plan, bool has_chunks) {
        to.number("row", asked_.row);
        if (plan.stage == scan_stage::whole_rows)
            to.number(plan.tiles.on_item() ? "rows_of_item" : "elements_of_tile",
                      plan.tiles.on_item() ? rows_of_item_ : elements_of_tile_);
        else if (has_chunks && plan.rows == row_form::apart)
            to.number("chunks_of_row", chunks_of_row_);
    }
    template <class List>
    void declare_carry(List& to, const scan_plan& plan) {
        const bool is_written_here = plan.carries_out() && plan.stage != scan_stage::look_back;
        for (std::size_t k = 0; k < asked_.carry.size(); ++k) {
            to.vector({"carry", k}, *asked_.carry[k],
                      is_written_here ? trace::access::mixed : trace::access::in);
            if (plan.stage == scan_stage::look_back)
                to.vector({"carried", k}, *carried_[k], trace::access::out);
        }
    }
    void launch(scan_stage stage, std::size_t n, std::size_t groups) {
        scan_plan plan = plan_;
        plan.stage = stage;
        const tape& p = plan.of_parts() ? empty_tape() : of_.p;
        const layout& leaves = plan.of_parts() ? no_leaves() : leaves_;
        scan_key key{plan, forms_of(asked_.what), {}};
        for (const vector_state* each : of_.into)
            key.targets.push_back(plan.gives_results() ? leaves.number_of(*each) : 0);
        run_kernel(
            {stage == scan_stage::look_back ? "scan" : "scan_in_chunks", device_, facts_, p, leaves}, key,
            [&](auto& to) { declare_parameters(to, plan, n, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_scan(r, given, plan, does_, asked_.same, p, leaves);
            },
            [&](const kernels::device_kernel& kernel) { return grid_of(groups, plan.tiles, kernel); });
    }

    const section& of_;
    const scan_request& asked_;
    const operations does_;
    runtime::device_state& device_;
    ir::launch_facts facts_;
    layout leaves_;
    std::size_t before_;
    work_division division_;
    scan_plan plan_;
    bool are_rows_whole_ = false;
    std::size_t rows_of_item_ = 1, elements_of_tile_ = 0, groups_of_rows_ = 0, chunks_of_row_ = 1;
    std::shared_ptr<vector_state> parts_, total_;
    std::vector<std::shared_ptr<vector_state>> carried_;
    std::optional<announcement_memory> announcements_;
};

/// The tape with views of all elements in row-major order replaced by their vectors, to use vector loads.
tape read_in_order(const tape& p) {
    tape made = p;
    if (p.maps.empty()) return made;
    const shape box = box_of(p);
    const affine_map in_order = row_major(box);
    made.steps.clear();
    int depth = 0;  ///< indices inside are different
    for (std::size_t k = 0; k < p.steps.size(); ++k) {
        const auto is = [&](std::size_t further, step::kind what) {
            return p.steps[k + further].what == what;
        };
        const auto is_in_this_order = [&](const affine_map& map) {
            const std::optional<affine_map> here = reshaped(map, box);
            return here && is_same_map(*here, in_order);
        };
        depth += is(0, step::kind::at) - is(0, step::kind::end);
        const bool is_in_order = depth == 0 && k + 3 < p.steps.size() && is(0, step::kind::position) &&
                                 is(1, step::kind::at) && is(2, step::kind::vector) &&
                                 is(3, step::kind::end) && is_in_this_order(p.maps[p.steps[k].leaf]);
        if (is_in_order) k += 2;
        made.steps.push_back(p.steps[k]);
        if (is_in_order) ++k;
    }
    return made;
}

class scan_producer : public producer {
public:
    scan_producer(tape&& of, const scan& how, std::size_t keys, std::shared_ptr<const ir::function> same)
        : producer(box_of(of), result_type(how.what), vector_near(of, result_type(how.what))),
          of_(std::move(of)),
          how_(how),
          keys_(keys),
          same_(std::move(same)) {}

    bool compute_into(vector_state& into) const override {
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        const target in_place{&into};
        if (needs_temporary(p, {&in_place, 1}, extents())) return false;
        if (!into.is_spread()) {
            write(p, into);
            return true;
        }
        if (shares_of(*vector_near(p, type()), into.size()) != shares_of(into)) return false;
        write_on_several(p, into);
        return true;
    }

    std::shared_ptr<vector_state> compute() const override {
        tape p = of_;
        materialise(p);
        store_slow_values(p);
        if (is_spread(p)) {
            std::shared_ptr<vector_state> made =
                make_like(*vector_near(p, type()), type(), extents().count());
            write_on_several(p, *made);
            return made;
        }
        auto made = std::make_shared<vector_state>(device_of(p), type(), extents().count());
        write(p, *made);
        return made;
    }

private:
    void write(const tape& p, vector_state& into) const {
        if (into.size() == 0) return;
        vector_state* const targets[] = {&into};
        run(request_of(p, targets));
    }
    scan_request request_of(const tape& p, std::span<vector_state* const> into) const {
        return {p, {&how_.what, 1}, into, how_.is_inclusive, {&how_.init, 1}, 0, {}, keys_, same_};
    }

    /// Every device scans its share, given the totals of the shares before.
    void write_on_several(const tape& p, vector_state& into) const {
        if (into.size() == 0) return;
        const std::vector<piece> pieces = pieces_of(p);
        std::vector<vector_state*> targets;  // never reallocated: sections point into it
        targets.reserve(pieces.size());
        std::vector<section> sections;
        sections.reserve(pieces.size());
        for (const piece& each : pieces) {
            const vector_state::part& part = part_of(each, into);
            targets.push_back(part.elements.get());
            sections.push_back(
                {each.values, each.box.count(), {&targets.back(), 1}, each.first - part.first});
        }
        const scan_request asked = request_of(p, {});
        std::list<computation> all;
        std::vector<const vector_state*> totals;
        totals.reserve(sections.size());
        for (const section& each : sections)
            totals.push_back(&all.emplace_back(each, asked, totals.size(), false).start_total());
        std::size_t before = 0;
        for (computation& each : all) {
            for (std::size_t k = 0; k < before; ++k) each.take_total(k, *totals[k]);
            each.finish();
            ++before;
        }
    }
    /// A piece is inside one part, since both have the same partition.
    static const vector_state::part& part_of(const piece& of, const vector_state& into) {
        return *std::find_if(into.parts().begin(), into.parts().end(),
                             [&](const auto& each) { return of.first < each.first + each.elements->size(); });
    }

    tape of_;
    scan how_;
    std::size_t keys_;
    std::shared_ptr<const ir::function> same_;
};

}  // namespace

trace::type result_type(const reduction& what) { return operations(&what, 1, {}).results()[0]; }

void run(const scan_request& asked) {
    if (asked.into[0]->size() == 0) return;
    const tape p = read_in_order(asked.p);
    computation({p, asked.into[0]->size(), asked.into, 0}, asked, 0, true).start();
}

tape on_first_device(const tape& p) {
    const shape box = box_of(p);
    if (!is_spread(p) || box.count() == 0) return p;
    localizer first(vector_near(p, scalar::u8)->device_handle());
    return std::move(first.pieces(p, box, 0, box.count())[0].values);
}

tape scanned(tape&& elements, const scan& how) {
    tape p;
    p.push_produced(std::make_shared<scan_producer>(std::move(elements), how, 0, nullptr));
    return p;
}
tape scanned(tape&& elements, const scan& how, segments&& by_key) {
    elements.append(std::move(by_key.starts));
    elements.append(std::move(by_key.keys));
    tape p;
    p.push_produced(
        std::make_shared<scan_producer>(std::move(elements), how, by_key.key_count, std::move(by_key.same)));
    return p;
}

}  // namespace balm::array
