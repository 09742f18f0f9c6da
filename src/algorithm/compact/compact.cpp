// Compactions: divides the elements, finds or traces the kernels, launches them, and makes vectors of the
// resulting size.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/compact/compact_kernels.hpp"
#include "algorithm/divided_up.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/result_targets.hpp"
#include "array/run_kernel.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"
#include "ir/ir.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Selecting half of 2^28 floats takes 0.57 ms with 48 registers, 0.61 with the 56 that the compiler chooses,
/// 0.65 with 40; in groups of 128 0.62, with 64 bytes 0.78. Reductions by key, in runs of 100: 1.16 ms with
/// 80 registers, 1.44 with 88, 1.17 with 64 (H200).
constexpr tile_shape large_tiles{256, 128, 48}, large_tiles_of_reductions{256, 128, 80};
/// Counts below 2^31 take 32 bits.
constexpr std::size_t most_in_32_bits = std::size_t{1} << 31;

/// The cache key of a kernel, apart from the expression.
struct compact_key {
    compact_plan plan;
    reduction_forms reduced;
    detail::inline_vector<trace::type, 6> types;  ///< of the kept values, and of the targets
    runtime::digest same;
    friend bool operator==(const compact_key&, const compact_key&) = default;
};
compact_key key_of(const compact_plan& plan, const compaction& how, std::span<vector_state* const> into) {
    compact_key key{
        plan, forms_of(how.reduced), {}, how.same != nullptr ? how.same->identity : runtime::digest{}};
    for (const trace::type& each : how.kept) key.types.push_back(each);
    if (plan.moves_elements())
        for (const vector_state* each : into) key.types.push_back(each->type());
    return key;
}

/// A compaction of elements on one device, in two steps: the first finds the count if counts_first(), the
/// second moves elements.
class computation {
public:
    computation(const compaction& how, const tape& p, std::size_t n,
                std::shared_ptr<runtime::device_state> on, vector_state& count)
        : how_(how),
          p_(p),
          n_(n),
          does_(how.reduced.data(), how.reduced.size(), {}),
          device_(std::move(on)),
          count_(count),
          facts_(kernels::facts_for(*device_)),
          leaves_(p) {
        refuse_writing(p);
        plan_.kept = how.kept.size();
        plan_.keys = how.keys;
        plan_.is_partition = how.is_partition;
        plan_.is_wide = n >= most_in_32_bits;
        plan_.has_lengths = are_lengths(how, p);
        state_ = compact_state(plan_, does_);
        const bool is_selection = how.reduced.empty() || plan_.has_lengths;
        // The positions of elements that are not selected depend on how many are.
        division_ =
            divide(*device_, facts_.on_cpu, p, leaves_,
                   {n, bytes_of_element(plan_, how, does_), 1, !how.is_partition, can_be_announced(state_),
                    is_selection ? large_tiles : large_tiles_of_reductions});
        plan_.tiles = division_.tiles;
        facts_.max_registers = plan_.tiles.max_registers;
    }

    /// Whether the count is known before elements are moved.
    bool counts_first() const {
        return division_.strategy != scan_strategy::tiles_look_back && !is_one_chunk();
    }
    void find_count() {
        if (!counts_first()) return;
        parts_ = slots_of(division_.chunks + 1);
        launch(compact_stage::chunk_totals, division_.chunks);
        launch(compact_stage::parts, 1);
    }
    /// `is_bounded`: the targets may be too small for all selected elements.
    void move_elements(std::span<vector_state* const> into, bool is_bounded) {
        into_ = into;
        plan_.is_bounded = is_bounded;
        if (is_one_chunk()) return launch(compact_stage::whole, 1);
        if (division_.strategy == scan_strategy::tiles_look_back) return move_with_look_back();
        launch(compact_stage::chunks, division_.chunks);
    }

private:
    bool is_one_chunk() const {
        const bool needs_count = how_.is_partition && division_.strategy != scan_strategy::chunk_an_item;
        return division_.chunks == 1 && !needs_count;
    }
    std::shared_ptr<vector_state> slots_of(std::size_t states) const {
        return std::make_shared<vector_state>(device_, scalar::u64, states * slot_layout(state_).count);
    }

    void move_with_look_back() {
        const std::size_t tiles = divided_up(n_, plan_.tiles.elements());
        announcements_.emplace(device_, tiles, state_, plan_.count_bits());
        launch(compact_stage::look_back, tiles);
    }

    /// The parameters of a kernel.
    template <class List>
    void declare_parameters(List& to, const compact_plan& plan, const tape& p, const layout& leaves) {
        const bool has_chunks =
            plan.stage == compact_stage::chunk_totals || plan.stage == compact_stage::chunks;
        if (plan.reads_elements()) to.number("n", n_);
        if (has_chunks) to.number("chunk_size", division_.chunk);
        if (!plan.reads_elements() || (has_chunks && plan.is_partition))
            to.number("chunks", division_.chunks);
        if (!plan.reads_elements() || has_chunks) to.vector("parts", *parts_, trace::access::mixed);
        if (plan.stage == compact_stage::look_back) announcements_->declare_parameters(to);
        if (plan.moves_elements()) {
            if (plan.is_bounded) to.number("room", into_[0]->size());
            for (std::size_t k = 0; k < into_.size(); ++k)
                to.vector(k < plan.kept ? parameter_name("kept", k) : parameter_name("result", k - plan.kept),
                          *into_[k], trace::access::out);
        }
        if (plan.gives_count()) to.vector("count", count_, trace::access::out);
        declare_leaves(to, p, leaves);
    }
    void launch(compact_stage stage, std::size_t groups) {
        compact_plan plan = plan_;
        plan.stage = stage;
        const tape& p = plan.reads_elements() ? p_ : empty_tape();
        const layout& leaves = plan.reads_elements() ? leaves_ : no_leaves();
        run_kernel(
            {how_.name, *device_, facts_, p, leaves}, key_of(plan, how_, into_),
            [&](auto& to) { declare_parameters(to, plan, p, leaves); },
            [&](trace::recording& r, const parameter_list& given) {
                return trace_compaction(r, given, plan, how_, does_, p, leaves);
            },
            [&](const kernels::device_kernel& kernel) { return grid_of(groups, plan.tiles, kernel); });
    }

    const compaction& how_;
    const tape& p_;
    const std::size_t n_;
    const operations does_;
    const std::shared_ptr<runtime::device_state> device_;
    vector_state& count_;
    ir::launch_facts facts_;
    const layout leaves_;
    compact_plan plan_;
    work_division division_;
    block::types state_;
    std::span<vector_state* const> into_;
    std::shared_ptr<vector_state> parts_;
    std::optional<announcement_memory> announcements_;
};

/// The device of a materialised expression; for vectors over several devices, the first one.
std::shared_ptr<runtime::device_state> first_device_of(const tape& p) {
    return is_spread(p) ? vector_near(p, scalar::u8)->device_handle() : device_of(p);
}

/// The elements on one device; for vectors over several devices, copies on the first one.
struct elements_on_device {
    explicit elements_on_device(tape&& of) : p(std::move(of)) {
        materialise(p);
        store_slow_values(p);
        n = element_count(p);
        device = first_device_of(p);
        if (n > 0 && is_spread(p)) p = std::move(localizer(device).pieces(p, box_of(p), 0, n)[0].values);
    }

    tape p;
    std::size_t n = 0;
    std::shared_ptr<runtime::device_state> device;
};

/// Whether a target of one type accepts elements of another, without narrowing to a smaller kind.
bool takes(const trace::type& target, const trace::type& element) {
    if (!target.is_scalar() || !element.is_scalar()) return target == element;
    return kind_of(element.element) <= kind_of(target.element);
}
void check_targets(const compaction& how, std::span<vector_state* const> into, const vector_state* count,
                   const elements_on_device& from) {
    if (into.size() != how.kept.size() + how.reduced.size())
        throw usage_error(fmt::format("{} makes {} vectors, but has {} targets", how.name,
                                      how.kept.size() + how.reduced.size(), into.size()));
    result_targets all{how.name, *from.device, {}, {}};
    for (const vector_state* each : into) all.into.push_back(each);
    for (const auto& each : from.p.vectors) all.read.push_back(each.get());
    check(all);
    check_count(count, all);
    const operations does(how.reduced.data(), how.reduced.size(), {});
    for (std::size_t k = 0; k < into.size(); ++k) {
        const trace::type from_type = k < how.kept.size() ? how.kept[k] : does.results()[k - how.kept.size()];
        if (!takes(into[k]->type(), from_type))
            throw usage_error(fmt::format("{} cannot store elements of type {} in a target of type {}",
                                          how.name, ir::to_string(from_type),
                                          ir::to_string(into[k]->type())));
    }
}

std::size_t read_count(const vector_state& count) {
    std::int64_t found = 0;
    read(count, 0, &found, 1);
    return static_cast<std::size_t>(found);
}

using made_list = std::vector<std::shared_ptr<vector_state>>;

made_list make_vectors(const std::shared_ptr<runtime::device_state>& on, std::span<const trace::type> types,
                       std::size_t size) {
    made_list made;
    made.reserve(types.size());
    for (const trace::type& each : types) made.push_back(std::make_shared<vector_state>(on, each, size));
    return made;
}
std::vector<vector_state*> addresses_of(const made_list& list) {
    std::vector<vector_state*> made;
    made.reserve(list.size());
    for (const auto& each : list) made.push_back(each.get());
    return made;
}

/// The kept elements of one device, and in a partition the others after them.
class kept_elements {
public:
    kept_elements(const compaction& how, tape&& of, std::size_t n, std::span<const trace::type> elements)
        : of_(std::move(of)),
          elements_(elements),
          n_(n),
          is_partition_(how.is_partition),
          device_(device_of(of_)),
          count_(device_, scalar::i64, 1),
          all_(how, of_, n, device_, count_) {
        all_.find_count();
        if (!all_.counts_first()) move(n_);
        device_->default_queue().flush();
    }
    kept_elements(const kept_elements&) = delete;

    std::size_t wait_for_count() {
        found_ = read_count(count_);
        if (!all_.counts_first()) return found_;
        const std::size_t size = is_partition_ ? n_ : found_;
        if (size > 0)
            move(size);
        else
            vectors_ = make_vectors(device_, elements_, 0);
        return found_;
    }
    std::size_t count() const { return found_; }
    std::size_t others() const { return is_partition_ ? n_ - found_ : 0; }

    const made_list& vectors() const { return vectors_; }
    /// Whether the vectors are on this device and have this size.
    bool is(const std::shared_ptr<runtime::device_state>& device, std::size_t size) const {
        return device_ == device && vectors_[0]->size() == size;
    }
    void copy_to(const made_list& into, std::size_t place, std::size_t place_of_others) const {
        for (std::size_t k = 0; k < into.size(); ++k) {
            if (found_ > 0) copy_elements(*into[k], place, *vectors_[k], 0, found_);
            if (others() > 0) copy_elements(*into[k], place_of_others, *vectors_[k], found_, others());
        }
    }

private:
    void move(std::size_t room) {
        vectors_ = make_vectors(device_, elements_, room);
        all_.move_elements(addresses_of(vectors_), false);
    }

    const tape of_;
    const std::span<const trace::type> elements_;
    const std::size_t n_;
    const bool is_partition_;
    const std::shared_ptr<runtime::device_state> device_;
    vector_state count_;
    computation all_;
    made_list vectors_;
    std::size_t found_ = 0;
};

}  // namespace

std::size_t compact(tape&& list, const compaction& how, std::span<const trace::type> elements,
                    std::shared_ptr<vector_state>* made) {
    materialise(list);
    store_slow_values(list);
    const std::size_t n = element_count(list);
    const std::shared_ptr<runtime::device_state> device = first_device_of(list);
    // Runs may cross the boundaries of parts.
    std::list<kept_elements> parts;
    if (how.keys == 0 && is_spread(list)) {
        for (piece& each : pieces_of(list)) {
            const std::size_t count = each.box.count();
            if (count > 0) parts.emplace_back(how, std::move(each.values), count, elements);
        }
    } else if (n > 0) {
        parts.emplace_back(how, elements_on_device(std::move(list)).p, n, elements);
    }
    std::size_t found = 0;
    for (kept_elements& each : parts) found += each.wait_for_count();
    const std::size_t size = how.is_partition ? n : found;
    made_list all;
    if (parts.size() == 1 && parts.front().is(device, size)) {
        all = parts.front().vectors();
    } else {
        all = make_vectors(device, elements, size);
        std::size_t place = 0, place_of_others = found;
        for (const kept_elements& each : parts) {
            each.copy_to(all, place, place_of_others);
            place += each.count();
            place_of_others += each.others();
        }
    }
    std::copy(all.begin(), all.end(), made);
    return found;
}

void compact_into(std::span<vector_state* const> into, vector_state* count_target, tape&& list,
                  const compaction& how) {
    const elements_on_device from(std::move(list));
    check_targets(how, into, count_target, from);
    vector_state& count = *count_target;
    if (how.is_partition && into[0]->size() != from.n)
        throw usage_error(fmt::format(
            "{} of {} elements has a target of {}; it keeps all of them, so the sizes must be equal",
            how.name, from.n, into[0]->size()));
    if (from.n == 0) {
        constexpr std::uint64_t none = 0;
        fill(count, &none);
        return;
    }
    computation all(how, from.p, from.n, from.device, count);
    all.find_count();
    if (into[0]->size() > 0)
        all.move_elements(into, into[0]->size() < from.n);
    else if (!all.counts_first())
        all.move_elements(into, true);
}

}  // namespace balm::array
