// Reductions: divides the elements, finds or traces the kernels, launches them, and reads the results to the
// host if they go there.

#include "balm/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <list>
#include <span>

#include "algorithm/reduce/reduce_kernels.hpp"
#include "algorithm/reduce/reduce_shapes.hpp"
#include "algorithm/reduce/slots.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "array/stores.hpp"
#include "balm/error.hpp"
#include "ir/with_type.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

std::atomic<bool> shapes_of_gpus{false};

/// Groups of 256 work-items in a grid: several times as many as a device holds at once, so that no compute
/// unit waits for the last group.
constexpr std::size_t groups_per_compute_unit = 32;
/// Of a tape: with more steps, a function, or a second kernel anyway, CPUs divide the elements among more
/// work-items.
constexpr std::size_t many_steps = 64;

const char* word_for(reduction_kind kind) {
    constexpr const char* words[] = {"sum",     "sum_compensated", "product", "product", "min",   "max",
                                     "arg_min", "arg_max",         "any",     "all",     "count", "fold",
                                     "fold"};
    return words[static_cast<int>(kind)];
}

/// How the elements are divided, and among how many work-groups.
struct division {
    reduction_plan plan;
    std::size_t piece = 0, pieces_an_item = 0, partials = 0, groups = 0;

    /// Whether both combine the elements in the same order.
    bool orders_like(division other) const {
        other.plan.loads_vectors = plan.loads_vectors;
        return plan == other.plan && piece == other.piece && partials == other.partials &&
               groups == other.groups;
    }
};

/// The arguments of a call.
struct request {
    const tape& p;
    std::span<const reduction> all;
    policy how;
    vector_state* const* into;  ///< null: the host
    /// Of recorded reductions: what their kernels compute beside them, and the division of their elements.
    const fused_values* with = nullptr;
    const division* divided = nullptr;
};

/// The slots of the results on the host.
std::size_t slots_of(const request& asked) {
    std::size_t count = 0;
    for (const reduction& r : asked.all) count += result_slots(r);
    return count;
}

/// Throws usage_error unless every result goes to a vector of one element.
void check_targets(const request& asked) {
    for (std::size_t k = 0; k < asked.all.size(); ++k) {
        const vector_state* const target = asked.into[k];
        if (target == nullptr || target->size() != 1)
            throw usage_error(fmt::format(
                "the target for the {} has {} elements; it must be a vector of one element that has a device",
                word_for(asked.all[k].kind), target == nullptr ? 0 : target->size()));
    }
}

/// Writes the results of no elements. Throws usage_error for extremes.
void write_results_of_nothing(std::span<const reduction> all, std::uint64_t* results) {
    for (const reduction& r : all) {
        if (is_extreme(r))
            throw usage_error(fmt::format(
                "the {} of no elements is undefined; ask for it only if the vectors are not empty",
                word_for(r.kind)));
        write_result_of_nothing(r, results);
        results += result_slots(r);
    }
}

/// The cache key of a kernel, apart from the expression.
struct reduction_key {
    reduction_plan plan;
    policy how;
    reduction_forms all;
    std::size_t end_of_elements, first_operand;
    std::uint32_t statements;
    stores_key stored, then;
    friend bool operator==(const reduction_key&, const reduction_key&) = default;
};

/// Whether CPUs keep states in short vectors: for numbers of 32 and 64 bits, without function calls.
bool is_in_vectors(const request& asked) {
    return has_lanes(asked.p) && std::all_of(asked.all.begin(), asked.all.end(), [](const reduction& r) {
               return !is_fold(r.kind) && r.element.is_scalar() && size_of(r.element.element) >= 4;
           });
}

class computation {
public:
    computation(const request& asked, std::size_t n)
        : asked_(asked),
          device_(asked.with != nullptr ? asked.into[0]->device() : *device_of(asked.p)),
          leaves_(asked.p),
          facts_(kernels::facts_for(device_)),
          n_(n) {
        if (asked.into != nullptr) check_places();
        const operations does(asked.all.data(), asked.all.size(), {});
        results_ = slot_layout(does.results());
        state_ = slot_layout(does.state()).count;
    }

    void start() {
        refuse_writing(asked_.p);
        const division d = asked_.with != nullptr ? fused() : divided();
        counter_ = results_.count + d.partials * state_;
        memory_ = device_.allocate((counter_ + 1) * sizeof(std::uint64_t), {"partial results"});
        // Some drivers accept only groups that are too small for several pieces.
        const bool has_all =
            d.plan.shape == reduction_shape::pieces_a_group ? d.partials == 1 : d.groups == 1;
        const bool is_whole = has_all && !targets_are_read() && then().steps.empty();
        division first = d;
        if (!is_whole && can_finish_last(d)) return launch_finishing_last(d);
        first.plan.stage = is_whole ? reduction_stage::whole : reduction_stage::partials;
        launch(first, asked_.p, leaves_, asked_.p.steps.size());
        if (!is_whole) {
            division last = d;
            last.groups = 1;
            last.plan.stage = reduction_stage::finish;
            if (d.plan.locates)
                launch(last, asked_.p, leaves_, asked_.p.steps.size());
            else if (then().steps.empty())
                launch(last, empty_tape(), no_leaves(), 0);
            else
                launch(last, then(), layout(then()), 0);
        }
    }
    /// How the elements are divided.
    division divided() const { return divided(facts_.on_cpu && !are_shapes_of_gpus()); }
    /// Waits for the results, and stores them in the slots of the host.
    void read(std::uint64_t* results) {
        std::vector<std::uint64_t> found(results_.count);
        device_.default_queue().read(found.data(), *memory_, 0, found.size() * sizeof(std::uint64_t));
        std::size_t value = 0;
        for (const reduction& r : asked_.all) {
            const std::size_t slots = result_slots(r);
            std::copy_n(&found[results_.first[value++]], slots - has_position(r), results);
            if (has_position(r)) results[slots - 1] = found[results_.first[value++]];
            results += slots;
        }
    }

private:
    void check_places() const {
        check_targets(asked_);
        for (std::size_t k = 0; k < asked_.all.size(); ++k)
            if (asked_.into[k]->is_spread() || &asked_.into[k]->device() != &device_)
                throw usage_error(fmt::format(
                    "the {} of vectors on {} has a target on {}; both must be on the same device",
                    word_for(asked_.all[k].kind), device_.words(), asked_.into[k]->device().words()));
    }
    /// Whether a target is also read: then another kernel must write the results, after all elements are
    /// read.
    bool targets_are_read() const {
        if (asked_.into == nullptr) return false;
        return std::any_of(asked_.into, asked_.into + asked_.all.size(), [&](const vector_state* target) {
            return std::any_of(leaves_.vectors.begin(), leaves_.vectors.end(),
                               [&](const vector_state* v) { return v == target || v->overlaps(*target); });
        });
    }

    division divided(bool on_cpu) const {
        division d{};
        d.plan.into_vectors = asked_.into != nullptr;
        const bool takes_one = on_cpu || multiplies_positions();
        d.plan.at_once = takes_one ? 1 : rows_at_once;
        d.plan.lanes = 1;
        d.plan.has_sub_groups = !on_cpu && kernels::features_of(device_).has_sub_groups;
        if (!on_cpu && !(asked_.how == policy::portable)) {
            d.plan.shape = reduction_shape::grid;
            d.plan.loads_vectors = leaves_.has_whole_vectors();
            d.plan.lanes = lanes_of_grid(asked_.p, leaves_);
            d.plan.at_once = std::max<std::size_t>(takes_one ? 1 : elements_at_once(leaves_),
                                                   static_cast<std::size_t>(d.plan.lanes));
            const std::size_t units = std::max<std::size_t>(device_.info().compute_units, 1);
            d.groups = d.partials = std::min({most_partials, units * groups_per_compute_unit,
                                              (n_ - 1) / (reduction_group * d.plan.at_once) + 1});
            return d;
        }
        d.piece = run_elements * ((n_ - 1) / (run_elements * most_partials) + 1);
        d.partials = (n_ - 1) / d.piece + 1;
        d.plan.shape = on_cpu ? reduction_shape::pieces_an_item : reduction_shape::pieces_a_group;
        d.plan.in_vectors = on_cpu && is_in_vectors(asked_);
        d.plan.locates = on_cpu && std::any_of(asked_.all.begin(), asked_.all.end(), has_position);
        d.pieces_an_item =
            on_cpu ? std::max<std::size_t>(cpu_elements / d.piece, 1) : reduction_group / reduction_lanes;
        d.groups = (d.partials - 1) / d.pieces_an_item + 1;
        return d;
    }

    /// The division of the elements without the statements beside them, so that they are combined in the same
    /// order.
    division fused() const {
        division d = *asked_.divided;
        const target_list stored = asked_.with->stored;
        d.plan.in_vectors = asked_.with->are_in_lanes;
        d.plan.loads_vectors &=
            leaves_.has_whole_vectors() &&
            std::all_of(stored.begin(), stored.end(), [](const target& t) { return t.vector->is_whole(); });
        const bool has_much_to_do =
            !then().steps.empty() || !asked_.p.functions.empty() || asked_.p.steps.size() > many_steps;
        if (d.plan.on_cpu() && has_much_to_do) {
            d.pieces_an_item = std::max<std::size_t>(d.pieces_an_item / 8, 1);
            d.groups = (d.partials - 1) / d.pieces_an_item + 1;
        }
        return d;
    }
    /// Recorded reductions need one kernel on devices whose fences order memory among groups, which those
    /// with sub-groups have: a replay does not pay for clearing the counter.
    bool can_finish_last(const division& d) const {
        const bool orders_groups = kernels::features_of(device_).has_sub_groups || are_shapes_of_gpus();
        return asked_.with != nullptr && !d.plan.on_cpu() && orders_groups && results_are_apart();
    }
    /// Whether vectors that follow are written nowhere else, and read by no other name.
    bool results_are_apart() const {
        const std::vector<target> last = results_and_then();
        return std::none_of(last.begin(), last.end(), [&](const target& t) {
            const auto& stored = asked_.with->stored;
            return std::any_of(stored.begin(), stored.end(),
                               [&](const target& s) { return s.vector->overlaps(*t.vector); }) ||
                   std::any_of(leaves_.vectors.begin(), leaves_.vectors.end(), [&](const vector_state* v) {
                       return v != t.vector && v->overlaps(*t.vector);
                   });
        });
    }
    void launch_finishing_last(division d) {
        d.plan.stage = reduction_stage::whole;
        d.plan.finishes_last = true;
        constexpr std::byte zero{};
        {
            const runtime::recording_pause
                pause;  // it is there for all replays, each of which leaves it zero
            device_.default_queue().enqueue_fill(*memory_, counter_ * sizeof(std::uint64_t),
                                                 sizeof(std::uint64_t), {&zero, 1}, {}, nullptr);
        }
        tape all = asked_.p;
        const std::size_t end = all.steps.size();
        if (!then().steps.empty()) {
            tape after = then();
            after.size = after.box = all.size = all.box =
                -1;  // those of one element and of all are not one tape's
            all.append(std::move(after));
        }
        launch(d, all, layout(all), end);
    }
    /// What follows the results.
    const tape& then() const { return asked_.with != nullptr ? asked_.with->then : empty_tape(); }

    /// To compilers, a product of several positions is a polynomial: NVIDIA's OpenCL (driver 580) takes
    /// minutes for one of degree 8, and 0.2 s for a loop.
    bool multiplies_positions() const {
        const auto multiplies = [](const reduction& r) {
            return (r.kind == reduction_kind::product || is_fold(r.kind)) && is_integer(r.element.element);
        };
        const auto is_position = [](const step& s) { return s.what == step::kind::index; };
        const auto& steps = asked_.p.steps;
        return std::any_of(asked_.all.begin(), asked_.all.end(), multiplies) &&
               std::any_of(steps.begin(), steps.end(), is_position);
    }

    /// What a kernel stores beside states and results.
    target_list stored(const reduction_plan& plan) const {
        return asked_.with != nullptr && plan.has_partials() ? asked_.with->stored : target_list();
    }
    target_list stored_then(const reduction_plan& plan) const {
        return asked_.with != nullptr && plan.gives_results() ? asked_.with->stored_then : target_list();
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const division& d, const tape& p, const layout& leaves) const {
        const reduction_plan& plan = d.plan;
        const trace::access use = plan.gives_results() ? trace::access::mixed : trace::access::out;
        if (plan.reads_elements()) to.number("n", n_);
        if (plan.reads_elements() && plan.has_pieces()) to.number("piece", d.piece);
        if (plan.has_partials() && plan.on_cpu()) to.number("pieces_an_item", d.pieces_an_item);
        if (plan.gives_results() || plan.has_pieces()) to.number("partial_count", d.partials);
        if (plan.gives_results()) to.number("lanes", std::bit_ceil(std::min(d.partials, finish_lanes)));
        if (plan.finishes_last) to.number("counter", counter_);
        to.memory("slots", scalar::u64, use, *memory_);
        written_list written = written_by(stored(plan));
        declare_written(to, "out", leaves, written);
        if (plan.finishes_last || !stored_then(plan).empty()) {
            const written_list then = written_by(results_and_then());
            declare_written(to, "result", leaves, then);
            for (vector_state* const v : then) written.push_back(v);
        } else if (plan.gives_results() && plan.into_vectors) {
            for (std::size_t k = 0; k < asked_.all.size(); ++k)
                to.vector({"result", k}, *asked_.into[k], trace::access::out);
        }
        declare_leaves(to, p, leaves, written);
    }

    std::size_t first_operand() const { return asked_.with != nullptr ? asked_.with->first_operand : 0; }
    std::uint32_t statements() const { return asked_.with != nullptr ? asked_.with->first_statement : 0; }
    std::vector<target> results_and_then() const {
        std::vector<target> all;
        for (vector_state* const v : asked_.with->results) all.push_back({v});
        all.insert(all.end(), asked_.with->stored_then.begin(), asked_.with->stored_then.end());
        return all;
    }
    stores_key key_then(const reduction_plan& plan, const layout& leaves) const {
        if (!plan.finishes_last && stored_then(plan).empty()) return {};
        const std::vector<target> all = results_and_then();
        return key_of(leaves, all, written_by(all));
    }

    std::string name_of(const reduction_plan& plan) const {
        std::string name = plan.has_partials() ? "reduce" : "finish";
        for (std::size_t k = 0; k < asked_.all.size() && k < 3; ++k)
            name.append("_").append(word_for(asked_.all[k].kind));
        if (asked_.all.size() > 3) name += "_and_more";
        return name;
    }
    /// The first `end_of_elements` steps are of the elements, the others follow the results.
    void launch(const division& d, const tape& p, const layout& leaves, std::size_t end_of_elements) {
        const reduction_plan& plan = d.plan;
        run_kernel(
            {name_of(plan), device_, facts_, p, leaves},
            reduction_key{plan, asked_.how, forms_of(asked_.all), end_of_elements, first_operand(),
                          statements(), key_of(leaves, stored(plan), written_by(stored(plan))),
                          key_then(plan, leaves)},
            [&](auto& to) { declare_parameters(to, d, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                const operations does(asked_.all.data(), asked_.all.size(), {asked_.how == policy::portable});
                return trace_reduction(r, given, plan, does,
                                       {p, leaves, end_of_elements, stored(plan), first_operand(),
                                        statements(), stored_then(plan)});
            },
            [&](const kernels::device_kernel& kernel) {
                const std::size_t items = plan.on_cpu() ? 1 : group_size_of(kernel, reduction_group);
                // If a driver accepts only smaller groups, more of them are launched, unless each group has a
                // partial result.
                const bool is_divided = plan.shape == reduction_shape::pieces_a_group &&
                                        (plan.stage == reduction_stage::partials || plan.finishes_last);
                return groups_of(is_divided ? d.groups * (reduction_group / items) : d.groups, items);
            });
    }

    const request& asked_;
    runtime::device_state& device_;
    layout leaves_;
    ir::launch_facts facts_;
    std::size_t n_;
    slot_layout results_{{}};
    std::size_t state_ = 0;    ///< slots of a partial result
    std::size_t counter_ = 0;  ///< the slot after all others
    std::shared_ptr<runtime::storage> memory_;
};

/// Reductions that a recording holds back.
class recorded_reductions final : public held_reductions {
public:
    recorded_reductions(const request& asked, const division& how, std::size_t n)
        : all_(asked.all.begin(), asked.all.end()), how_(asked.how), divided_(how), n_(n) {}

    bool take(held_reductions& later) override {
        auto* const more = dynamic_cast<recorded_reductions*>(&later);
        if (more == nullptr || more->how_ != how_ || !more->divided_.orders_like(divided_)) return false;
        const std::size_t state = bytes_of_states(all_) + bytes_of_states(more->all_);
        if (state * reduction_group > local_bytes) return false;
        for (reduction& r : more->all_) {
            r.statement += calls_;
            all_.push_back(std::move(r));
        }
        calls_ += more->calls_;
        return true;
    }
    bool are_in_lanes() const override { return divided_.plan.in_vectors; }
    void launch(const fused_values& with) override {
        for (reduction& r : all_) r.statement += with.first_statement;
        computation({with.elements, all_, how_, with.results.data(), &with, &divided_}, n_).start();
    }

private:
    /// What every OpenCL device has: each work-item of a group has a state there.
    static constexpr std::size_t local_bytes = std::size_t{1} << 15;
    static std::size_t bytes_of_states(const std::vector<reduction>& all) {
        return operations(all.data(), all.size(), {}).bytes_of_state();
    }

    std::vector<reduction> all_;
    policy how_;
    division divided_;
    std::size_t n_;
    std::uint32_t calls_ = 1;
};

/// Holds the reductions of a request back if this thread records; returns whether it did.
bool is_held(const request& asked, const computation& single, std::size_t n) {
    if (runtime::command_list::of_thread() == nullptr) [[likely]]
        return false;
    const division d = single.divided();
    return !d.plan.locates && are_held_to_fuse(std::make_unique<recorded_reductions>(asked, d, n), asked.p,
                                               {asked.into, asked.all.size()});
}

// ---- vectors over several devices: each reduces its elements, and the host combines the results ----

/// Whether the second of two values, from later elements, is the better extreme.
template <class T>
bool is_better(bool is_least, T a, T b) {
    if (b != b) return false;
    return a != a || (is_least ? b < a : b > a);
}

/// The combination of two results of the same reduction.
template <class T>
T combined(reduction_kind kind, T a, T b) {
    switch (kind) {
        case reduction_kind::product: return static_cast<T>(a * b);
        case reduction_kind::min: return is_better(true, a, b) ? b : a;
        case reduction_kind::max: return is_better(false, a, b) ? b : a;
        case reduction_kind::any: return static_cast<T>(a != T{} || b != T{});
        case reduction_kind::all: return static_cast<T>(a != T{} && b != T{});
        default: return static_cast<T>(a + b);
    }
}

/// Combines the results of all elements before `first` with those of elements from `first` on, lane by lane.
void combine(const reduction& r, std::uint64_t* results, const std::uint64_t* more, std::size_t first) {
    const scalar type = is_condition(r) ? scalar::boolean : r.element.element;
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        T a[16], b[16];
        const auto lanes = static_cast<std::size_t>(r.element.lanes);
        std::memcpy(a, results, lanes * sizeof(T));
        std::memcpy(b, more, lanes * sizeof(T));
        if (!has_position(r)) {
            for (std::size_t k = 0; k < lanes; ++k) a[k] = combined(r.kind, a[k], b[k]);
            std::memcpy(results, a, lanes * sizeof(T));
        } else if (is_better(r.kind == reduction_kind::arg_min, a[0], b[0])) {
            results[0] = more[0];
            results[1] = more[1] + first;
        }
    });
}

/// Whether the host can combine the results of parts: not if the order matters, or if only the device can.
bool combines_on_host(const request& asked) {
    const bool is_in_order = asked.how == policy::portable;
    return !is_in_order && std::none_of(asked.all.begin(), asked.all.end(), [](const reduction& r) {
        return is_fold(r.kind) || r.kind == reduction_kind::sum_compensated ||
               r.kind == reduction_kind::product_of_complex;
    });
}

/// The pieces to reduce: all on the first device if the host cannot combine their results.
std::vector<piece> pieces_of(const request& asked) {
    if (combines_on_host(asked)) return pieces_of(asked.p);
    const shape box = box_of(asked.p);
    localizer first(vector_near(asked.p, scalar::u8)->device_handle());
    return first.pieces(asked.p, box, 0, box.count());
}

void reduce_spread(const request& asked, std::uint64_t* results) {
    const std::vector<piece> pieces = pieces_of(asked);
    std::list<request> requests;
    std::list<computation> all;  // in flight on all devices at once
    for (const piece& each : pieces) {
        requests.push_back({each.values, asked.all, asked.how, nullptr});
        all.emplace_back(requests.back(), each.box.count()).start();
    }
    std::vector<std::uint64_t> more(slots_of(asked));
    auto next = all.begin();
    next->read(results);
    for (std::size_t k = 1; k < pieces.size(); ++k) {
        (++next)->read(more.data());
        std::size_t slot = 0;
        for (const reduction& r : asked.all) {
            combine(r, results + slot, &more[slot], pieces[k].first);
            slot += result_slots(r);
        }
    }
}

}  // namespace

void use_shapes_of_gpus(bool everywhere) { shapes_of_gpus = everywhere; }
bool are_shapes_of_gpus() { return shapes_of_gpus.load(std::memory_order_relaxed); }

void reduce(tape&& p, const reduction* first, std::size_t count, policy how, std::uint64_t* results) {
    materialise(p);
    const request asked{p, {first, count}, how, nullptr};
    if (has_slow_values(p) && !is_in_vectors(asked)) store_slow_values(p);
    const std::size_t n = element_count(p);
    if (n == 0)
        write_results_of_nothing(asked.all, results);
    else if (is_spread(p))
        reduce_spread(asked, results);
    else {
        computation all(asked, n);
        all.start();
        all.read(results);
    }
}

void reduce_into(vector_state* const* into, tape&& p, const reduction* first, std::size_t count, policy how) {
    materialise(p);
    // As in an assignment, an expression without vectors is computed on the device of its target.
    const bool is_anywhere = p.vectors.empty() && p.images.empty() && p.near == nullptr;
    if (is_anywhere && into[0] != nullptr && !into[0]->is_spread())
        p.near = std::make_shared<vector_state>(into[0]->device_handle(), scalar::u8, 0);
    const request asked{p, {first, count}, how, into};
    if (has_slow_values(p) && !is_in_vectors(asked)) store_slow_values(p);
    const std::size_t n = element_count(p);
    if (n > 0 && !is_spread(p)) {
        computation single(asked, n);
        if (!is_held(asked, single, n)) single.start();
        return;
    }
    check_targets(asked);
    std::vector<std::uint64_t> results(slots_of(asked));
    if (n == 0)
        write_results_of_nothing(asked.all, results.data());
    else
        reduce_spread(asked, results.data());
    const std::uint64_t* next = results.data();
    for (std::size_t k = 0; k < count; ++k) {
        write(*into[k], 0, next, 1);
        next += result_slots(first[k]);
    }
}

}  // namespace balm::array
