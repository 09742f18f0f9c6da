// `targets = expressions`: finds or traces the kernel `out[i] = expression(i)`, binds its arguments and
// launches it.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <list>
#include <optional>
#include <vector>

#include "array/fused_statements.hpp"
#include "array/fusion.hpp"
#include "array/layout.hpp"
#include "array/map/overlap.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "array/stores.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// The names of the loops' variables and counts, fastest loop first.
constexpr const char* loop_names[] = {"i", "row", "plane"};
constexpr const char* count_names[] = {"n", "rows", "planes"};
constexpr std::size_t grid_dimensions = 3;

/// The kernel's counts: of the grid's dimensions, then of the loops that the third one flattens, fastest
/// first.
template <class List>
void declare_counts(List& to, const placement& of) {
    const std::span<const std::int64_t> loops = of.counts();
    const std::array<std::size_t, 3> counts = of.grid_counts();
    for (std::size_t d = 0; d < std::min(loops.size(), grid_dimensions); ++d)
        to.number(count_names[d], counts[d]);
    for (std::size_t d = grid_dimensions - 1; d + 1 < loops.size(); ++d)
        to.number({"planes", d - 1}, loops[loops.size() - 1 - d]);
}

/// The loops of the kernel, distributed over the grid's dimensions.
class open_loops {
public:
    open_loops(const parameter_list& given, std::size_t loops) {
        for (std::size_t d = std::min(loops, grid_dimensions); d-- > 0;) {
            trace::node variable;
            open_.push_back(trace::open_grid_for(given[count_names[d]], variable, {}, static_cast<int>(d)));
            variables_.push_back(trace::read(variable));
            trace::name(variables_.back(), loop_names[d]);
        }
        // The third dimension's variable counts all remaining loops.
        std::vector<trace::node> inner;
        for (std::size_t d = loops; d-- > grid_dimensions;) inner.push_back(given[{"planes", d - 2}]);
        const std::vector<trace::node> slowest = row_major_coordinates(variables_[0], inner, false);
        variables_.erase(variables_.begin());
        variables_.insert(variables_.begin(), slowest.begin(), slowest.end());
    }
    void close() {
        for (; !open_.empty(); open_.pop_back()) trace::close(open_.back());
    }
    /// Slowest first.
    const std::vector<trace::node>& variables() const { return variables_; }

private:
    std::vector<std::uint32_t> open_;
    std::vector<trace::node> variables_;
};

/// Stores a value in a part if its position is within the part's bounds.
void store(trace::node out, trace::node where, trace::node value, trace::node first, trace::node end) {
    const trace::node inside =
        trace::apply(builtin::bit_and, trace::apply(builtin::greater_equal, where, first),
                     trace::apply(builtin::less, where, end));
    const std::uint32_t block = trace::open_if(inside, {});
    trace::store(out, trace::apply(builtin::sub, where, first), value, {});
    trace::close(block);
}

/// Work-groups of a GPU for several loops: 64 elements of a row by 4 rows; a work-item takes two rows if
/// there are many elements. 8192 x 8192 f64 on H100 relative to hand-written CUDA: the sum of four neighbours
/// 0.98, a transpose 0.97 (in groups of 256 x 1 with one row each: 0.87 and 0.73).
constexpr std::size_t tile = 64;
constexpr std::size_t many_elements = std::size_t{1} << 22;
constexpr std::size_t most_groups =
    65535;  // CUDA's limit in the second and third dimension; beyond it, more rows per work-item

/// A grid whose work-items cover the loops; on a CPU each takes about 4,096 elements.
runtime::grid grid_for(const kernels::device_kernel& kernel, const placement& of, bool on_cpu) {
    const std::array<std::size_t, 3> counts = of.grid_counts();
    runtime::grid g;
    g.dimensions = static_cast<std::uint32_t>(std::min(of.counts().size(), grid_dimensions));
    const std::size_t items = kernel.program->plan().items_for(counts[0]);
    g.local[0] = std::min(kernel.program->plan().local_size, kernel.program->max_work_group_size());
    std::size_t room = g.local[0], elements = counts[0];  // elements: per iteration of the next loop
    if (g.dimensions > 1 && !on_cpu) g.local[0] = std::min({tile, room, std::bit_ceil(items)});
    room /= g.local[0];
    g.global[0] = (items - 1) / g.local[0] * g.local[0] + g.local[0];
    const bool has_many = counts[0] * counts[1] * counts[2] >= many_elements;
    for (std::size_t d = 1; d < g.dimensions; ++d) {
        if (on_cpu) {
            g.global[d] = (counts[d] - 1) /
                              std::max<std::size_t>(kernel.program->plan().elements_per_item / elements, 1) +
                          1;
            elements *= counts[d];
        } else {
            const std::size_t own = kernel.program->plan().rows_per_item[d - 1];
            const std::size_t rows = (counts[d] - 1) / own + 1;  // rows of work-items
            g.local[d] = std::min(room, std::bit_ceil(rows));
            room /= g.local[d];
            const std::size_t of_group = g.local[d] * (has_many && d == 1 && own == 1 ? 2 : 1);
            g.global[d] = std::min((rows - 1) / of_group + 1, most_groups) * g.local[d];
        }
    }
    return g;
}

/// Whether both have the same element count and, if neither is of one dimension, the same shape.
bool agree(const shape& a, const shape& b) {
    return a.count() == b.count() && (a.dimensions() == 1 || b.dimensions() == 1 || a == b);
}

/// " (file:line)" if the line that made the vector is known.
std::string made_words(const vector_state& v) {
    return v.made_at().file == nullptr ? "" : fmt::format(" ({}:{})", v.made_at().file, v.made_at().line);
}

/// The box of all elements to compute. Throws usage_error if targets and values do not match.
shape common_box(const tape& p, target_list targets) {
    std::optional<shape> box;
    for (const target& t : targets) {
        if (t.where != nullptr && t.where->size < 0) continue;
        const shape own = t.where != nullptr ? box_of(*t.where) : shape(t.vector->size());
        if (!box) box = own;
        if (!agree(*box, own))
            throw usage_error(fmt::format(
                "{} and {} elements are assigned in one statement; their numbers and shapes must be equal",
                to_string(*box), to_string(own)));
        if (own.dimensions() > 1) box = own;
    }
    if (box && p.size < 0) return *box;
    const shape given = box_of(p);
    if (!box) return given;
    if (!agree(*box, given))
        throw usage_error(fmt::format("an expression of {} elements is assigned to a {} of {}{}: {}",
                                      to_string(given), targets[0].where != nullptr ? "view" : "vector",
                                      to_string(*box), made_words(*targets[0].vector), with_extents(p)));
    return given.dimensions() > 1 ? given : *box;
}

/// Throws usage_error if the vectors are on different devices.
void check_devices(const tape& p, target_list targets) {
    const vector_state& first = *targets[0].vector;
    for (const target& t : targets) check_same_devices(first, *t.vector);
    for (const auto& v : p.vectors) check_same_devices(first, *v, &p);
}

/// Assigns values that depend on what their targets hold elsewhere: they, and positions that do, are computed
/// first.
void assign_by_temporaries(target_list targets, tape&& values, std::size_t n) {
    std::vector<std::shared_ptr<vector_state>> computed;
    std::vector<target> into;
    for (const target& t : targets) {
        computed.push_back(make_like(*targets[0].vector, t.vector->type(), n));
        into.push_back({computed.back().get(), nullptr});
    }
    assign(into, std::move(values));

    std::vector<tape> where(targets.size());
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k].where == nullptr) continue;
        where[k] = *targets[k].where;
        if (!reads(where[k], targets)) continue;
        const auto kept = make_like(*targets[0].vector, scalar::i64, n);
        const target as_vector{kept.get()};
        assign({&as_vector, 1}, std::move(where[k]));
        where[k] = {};
        where[k].push_vector(kept);
    }
    for (std::size_t k = 0; k < targets.size(); ++k) {
        if (targets[k].where == nullptr) {
            copy(*targets[k].vector, *computed[k]);
            continue;
        }
        tape value;
        value.push_vector(computed[k]);
        const target one{targets[k].vector, &where[k]};
        assign({&one, 1}, std::move(value));
    }
}

/// What each device computes. All of it is made first: copies between devices need not wait for kernels.
struct device_pieces {
    std::size_t part;  ///< its number
    std::vector<piece> pieces;
};
template <class F>
std::vector<device_pieces> pieces_on_parts(const vector_state& of, F&& pieces) {
    std::vector<device_pieces> list;
    for (std::size_t k = 0; k < of.parts().size(); ++k) {
        const vector_state& own = *of.parts()[k].elements;
        localizer on(own.device_handle());
        if (own.size() > 0) list.push_back({k, pieces(on, of.parts()[k].first, own.size())});
    }
    return list;
}

/// Each device computes its part of the targets.
void assign_to_parts(target_list targets, const tape& p, const shape& box) {
    const auto launches = [&](localizer& on, std::size_t first, std::size_t count) {
        return on.launches(p, box, first, count);
    };
    for (auto& [k, pieces] : pieces_on_parts(*targets[0].vector, launches))
        for (piece& each : pieces) {
            // A piece of a part begins at one of its elements; not every driver accepts a pointer to there.
            const std::size_t before = each.first - targets[0].vector->parts()[k].first;
            const tape from = positions_from(before, each.box);
            std::vector<target> into;
            for (const target& t : targets) {
                into.push_back({t.vector->parts()[k].elements.get(), before > 0 ? &from : nullptr});
                if (before > 0) each.values.append(from);
            }
            launch(into, each.values, each.box);
        }
}

/// Each device computes the elements whose positions, the tape's last value, may be in its part of the
/// target.
void assign_at_positions(const target& t, const tape& p, const shape& box) {
    const affine_map* const map = affine(*t.where);
    const auto launches = [&](localizer& on, std::size_t first, std::size_t count) {
        return map != nullptr ? on.launches_within(p, box, *reshaped(*map, box), first, count)
                              : on.pieces(p, box, 0, box.count());
    };
    for (auto& [k, pieces] : pieces_on_parts(*t.vector, launches))
        for (piece& each : pieces) {
            const vector_state::part& part = t.vector->parts()[k];
            target into{part.elements.get(), t.where, part.first, true};
            tape where;
            if (map != nullptr) {
                affine_map& own = each.values.maps[each.values.steps.back().leaf];
                const auto [low, high] = range_of(own);
                const auto first = static_cast<std::int64_t>(part.first);
                const auto end = first + static_cast<std::int64_t>(part.elements->size());
                into.is_part = low < first || high >= end;  // else no store needs a guard
                if (!into.is_part) own.offset -= first;
                where.push_position(own);
                into.where = &where;
            }
            launch({&into, 1}, each.values, each.box);
        }
}

/// The targets, with materialised positions.
struct ready_targets {
    explicit ready_targets(target_list given) : targets(given.begin(), given.end()) {
        for (target& t : targets) {
            if (t.where == nullptr || t.where->produced.empty()) continue;
            materialise(positions.emplace_back(*t.where));
            t.where = &positions.back();
        }
    }
    static bool are_needed(target_list given) {
        return std::any_of(given.begin(), given.end(),
                           [](const target& t) { return t.where != nullptr && !t.where->produced.empty(); });
    }
    std::vector<target> targets;
    std::list<tape> positions;
};

/// Whether a target is all elements of its vector in order, with these extents if it is a view.
bool is_whole(const target& t, const shape& extents) {
    if (t.where == nullptr) return true;
    const tape& where = *t.where;
    return !t.is_part && where.steps.size() == 1 && where.steps[0].what == step::kind::position &&
           is_same_map(where.maps[where.steps[0].leaf], row_major(extents));
}

/// Whether the result of a producer, which has the devices of `near`, can be stored in a vector as it is.
bool is_stored_alike(const vector_state& into, const vector_state& near) {
    return into.is_whole() && into.is_spread() == near.is_spread() && &into.device() == &near.device();
}

/// Lets a producer write the target directly if nothing else is assigned; returns whether it did.
bool is_produced_in_place(target_list targets, const tape& p) {
    if (p.produced.size() != 1 || targets.size() != 1 ||
        !is_whole(targets[0], (*p.produced.begin()).by->extents()))
        return false;
    const produced_leaf& made = *p.produced.begin();
    const shape& extents = made.by->extents();
    const auto& steps = p.steps;
    const bool is_in_order = steps.size() == 4 && steps[0].what == step::kind::position &&
                             steps[1].what == step::kind::at && steps[2].what == step::kind::vector &&
                             is_same_map(p.maps[steps[0].leaf], row_major(extents));
    vector_state& into = *targets[0].vector;
    return (steps.size() == 1 || is_in_order) && into.type() == made.by->type() &&
           into.size() == extents.count() && is_stored_alike(into, *made.by->near()) &&
           made.by->compute_into(into);
}

/// Whether the targets are vectors without a device, which have no elements. Throws usage_error if only some
/// are, and others have elements.
bool have_no_device(target_list targets) {
    const bool has_one =
        std::any_of(targets.begin(), targets.end(), [](const target& t) { return !t.vector; });
    if (!has_one) [[likely]]
        return false;
    for (const target& t : targets)
        if (t.vector && (t.where ? box_of(*t.where).count() : t.vector->size()) > 0)
            throw usage_error(
                "one assignment has a target that has no device, and another with elements; make all targets "
                "the same size");
    return true;
}

/// Whether each device holds the same elements of all targets, or there is only one target.
bool are_parted_alike(target_list targets) {
    const auto is_like = [&](const target& t) {
        return t.where == nullptr && shares_of(*targets[0].vector) == shares_of(*t.vector);
    };
    return targets.size() == 1 || std::all_of(targets.begin(), targets.end(), is_like);
}

}  // namespace

std::shared_ptr<vector_state> make_vector_like(const tape& p, trace::type type, trace::location made_at) {
    if (p.has_no_device && p.vectors.empty() && !p.near) return nullptr;
    std::shared_ptr<vector_state> made =
        is_spread(p) ? make_like(*vector_near(p, type), type, element_count(p))
                     : std::make_shared<vector_state>(device_of(p), type, element_count(p));
    made->set_made_at(made_at);
    return made;
}

void assign(vector_state& target_vector, tape&& p) {
    const target one{&target_vector};
    assign({&one, 1}, std::move(p));
}

void assign(target_list targets, tape&& p) {
    if (have_no_device(targets)) return;
    if (is_produced_in_place(targets, p)) return;
    materialise(p);
    if (ready_targets::are_needed(targets)) return assign(ready_targets(targets).targets, std::move(p));
    check_devices(p, targets);
    const shape box = common_box(p, targets);
    if (box.count() == 0) return;
    refuse_written_overlap(p, targets);
    check_distinct(targets, box);
    const bool is_spread = targets[0].vector->is_spread();
    const bool has_views =
        std::any_of(targets.begin(), targets.end(), [](const target& t) { return t.where; });
    std::vector<target> whole;  // views of all elements in order are their vectors
    if (has_views && !is_spread) {
        for (const target& t : targets)
            if (is_whole(t, box) && t.vector->size() == box.count()) whole.push_back({t.vector});
        if (whole.size() == targets.size()) targets = whole;
    }
    tape values;  // without the positions, for temporaries
    const bool has_positions =
        has_views && std::any_of(targets.begin(), targets.end(), [](const target& t) { return t.where; });
    if (has_positions) {
        values = p;
        for (const target& t : targets)
            if (t.where != nullptr) p.append(*t.where);
    }
    if (needs_temporary(p, targets, box) || (is_spread && !are_parted_alike(targets)))
        assign_by_temporaries(targets, has_positions ? std::move(values) : std::move(p), box.count());
    else if (is_spread && has_positions)  // of one target
        assign_at_positions(targets[0], p, box);
    else if (is_spread)
        assign_to_parts(targets, p, box);
    else if (!is_held_to_fuse(targets, p, box))
        launch(targets, p, box);
}

namespace {

/// Such divisions are faster if their operands are known to be small.
bool divides_long_integers(const tape& p) {
    return std::any_of(p.steps.begin(), p.steps.end(), [](const step& s) {
        return is_integer_division(s) && size_of(s.type.element) == sizeof(std::int64_t);
    });
}

/// The same statement in one loop, which CPUs compute in short vectors, if it calls functions and its views
/// are all elements and numbers of rows; nullopt if not.
std::optional<tape> for_short_vectors(target_list targets, const tape& p, const shape& box) {
    const bool are_whole = std::all_of(targets.begin(), targets.end(),
                                       [](const target& t) { return t.where == nullptr && !t.is_part; });
    if (!are_whole || p.maps.empty() || !kernels::facts_for(targets[0].vector->device()).on_cpu ||
        !calls_inexact_functions(p))
        return std::nullopt;
    return in_one_loop(with_own_elements(p, box), box);
}

/// An assignment on one device, and what its kernel depends on.
struct assignment {
    std::optional<tape> in_one;  ///< what is computed in place of the given tape
    target_list targets;
    const tape& p;
    runtime::device_state& device;
    layout leaves;
    written_list written;
    ir::launch_facts facts;

    assignment(target_list into, const tape& values, const shape& box)
        : in_one(for_short_vectors(into, values, box)),
          targets(into),
          p(in_one ? *in_one : values),
          device(into[0].vector->device()),
          leaves(p, placement(p, in_one ? shape(box.count()) : box,
                              into[0].where ? affine(*into[0].where) : nullptr, needs_flat_index(into, p))),
          written(written_by(into)),
          facts(kernels::facts_for(device)) {
        facts.grid_covers_loop = true;
        // On CPUs vector stores may write past the last element.
        const auto has_room = [&](const vector_state* v) {
            return v->is_whole() && (!facts.on_cpu || v->size() == box.count());
        };
        facts.is_tight =
            !(std::all_of(written.begin(), written.end(), has_room) && leaves.has_whole_vectors());
        if (divides_long_integers(p) || leaves.places.counts().size() > grid_dimensions) {
            small_counts counts;
            declare_parameters(counts);
            facts.small_counts = counts.found();
        }
    }
    assignment(const assignment&) = delete;
    assignment& operator=(const assignment&) = delete;
    ~assignment() = default;

    /// The kernel's parameters.
    template <class List>
    void declare_parameters(List& to) const {
        declare_counts(to, leaves.places);
        declare_written(to, "out", leaves, written);
        for (std::size_t k = 0; k < targets.size(); ++k) {
            if (!targets[k].is_part) continue;
            to.number({"first_here", k}, targets[k].first);
            to.number({"end_here", k}, targets[k].first + targets[k].vector->size());
        }
        declare_leaves(to, p, leaves, written);
    }

    kernel_site site() const {
        const std::size_t loops = leaves.places.counts().size();
        return {"elementwise", device, facts, p, leaves, static_cast<int>(std::min(loops, grid_dimensions))};
    }
    /// The tape's values are what is assigned, then the positions of targets that have some.
    std::shared_ptr<const ir::function> body(trace::recording& r, const parameter_list& given) const {
        std::string words = describe(p, leaves, given)[0];
        const std::size_t end = words.rfind("; ");  // of the statements before
        r.describe(words.insert(end == std::string::npos ? 0 : end + 2, "out = "));
        open_loops loops(given, leaves.places.counts().size());
        const trace::node flat = leaves.places.flat_index(given, loops.variables());
        const std::vector<trace::node> values = record(p, leaves, given, {flat, loops.variables()});
        std::size_t position = targets.size();
        for (std::size_t k = 0; k < targets.size(); ++k) {
            const target& t = targets[k];
            const trace::node out = given[*t.vector], value = as_element(values[k], t.vector->type());
            const trace::node where = t.where != nullptr ? values[position++] : flat;
            if (t.is_part)
                store(out, where, value, given[{"first_here", k}], given[{"end_here", k}]);
            else
                trace::store(out, where, value, {});
        }
        loops.close();
        return r.finish(nullptr);
    }

private:
    static bool needs_flat_index(target_list targets, const tape& p) {
        return asks_for_flat_index(p) ||
               std::any_of(targets.begin(), targets.end(), [](const target& t) { return !t.where; });
    }
};

}  // namespace

void launch(target_list targets, const tape& p, const shape& box) {
    const assignment to_do(targets, p, box);
    run_kernel(
        to_do.site(), key_of(to_do.leaves, targets, to_do.written),
        [&](auto& to) { to_do.declare_parameters(to); },
        [&](trace::recording& r, const parameter_list& given) { return to_do.body(r, given); },
        [&](const kernels::device_kernel& kernel) {
            return grid_for(kernel, to_do.leaves.places, to_do.facts.on_cpu);
        });
}

std::string source_of(tape&& p, trace::type type) {
    materialise(p);
    shape box = box_of(p);
    if (is_spread(p)) {  // the first device's part of it
        if (box.count() == 0)
            throw usage_error(
                "generated_source of an expression without elements over several devices: no device has a "
                "part of it, so there is no kernel to show");
        localizer on(vector_near(p, type)->device_handle());
        piece first = std::move(on.pieces(p, box, 0, box.count()).front());
        p = std::move(first.values);
        box = first.box;
    }
    const auto made = make_vector_like(p, type);
    const target into{made.get()};
    const assignment computed({&into, 1}, p, box);
    const auto traced = trace_kernel(
        computed.site(), [&](auto& to) { computed.declare_parameters(to); },
        [&](trace::recording& r, const parameter_list& given) { return computed.body(r, given); });
    return kernels::source_for(computed.device, *traced, computed.facts).text;
}

}  // namespace balm::array
