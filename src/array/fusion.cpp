#include "array/fusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "array/fused_statements.hpp"
#include "array/row_statements.hpp"
#include "balm/queue.hpp"
#include "base/system.hpp"
#include "kernel/launch/kernel_program.hpp"

namespace balm::array {

namespace {

/// Of one kernel.
constexpr std::size_t most_steps = 2000;
/// Groups that are held back at once: a statement may join any of them.
constexpr std::size_t most_held = 8;
/// Devices grant kernels 1,024 bytes of arguments or more; a quarter is for counts.
std::size_t most_argument_bytes(const runtime::device_state& device) {
    constexpr std::size_t least = 1024, most = 4096;
    return std::clamp<std::size_t>(device.info().max_parameter_bytes, least, most) / 4 * 3;
}

/// The bytes of arguments for the scalars and positions of an expression over the box. A division by one of
/// them takes a reciprocal of two words; functions may divide by all that are integers.
std::size_t argument_bytes(const tape& p, const shape& box) {
    const layout leaves(p, placement(p, box, nullptr, true));
    listed_bytes all, of_positions;
    declare_leaves(all, p, leaves);
    leaves.places.declare_parameters(of_positions);
    const auto divisions =
        static_cast<std::size_t>(std::count_if(p.steps.begin(), p.steps.end(), is_integer_division));
    const std::size_t divisors = p.functions.empty() ? of_positions.integers() + divisions : all.integers();
    return all.found() + divisors * 2 * sizeof(std::uint64_t);
}

/// Why a statement is not in the kernel of others, for users; null if it is.
using refusal = const char*;
constexpr refusal other_elements = "it computes other elements", other_group = "the kernel before is of rows",
                  is_full = "a kernel holds 2,000 operations, and the arguments that the device admits",
                  rounds_otherwise =
                      "its functions, or those of the kernel before, would be rounded differently",
                  reads_result = "it uses a result of the reductions of the kernel before",
                  other_reductions = "its reductions divide the elements in another way",
                  of_algorithm = "it is one step of an algorithm",
                  has_views = "kernels of reductions assign whole vectors only, not views";

/// Why a kernel cannot compute the tape together with others. Functions with effects have them even if nobody
/// reads the result.
refusal alone(const tape& p) {
    const bool has_effects = p.writes_memory || std::any_of(p.functions.begin(), p.functions.end(),
                                                            [](const auto& f) { return !f->only_reads; });
    if (has_effects) return "it calls a function that writes memory or prints";
    return p.images.empty() && !p.wants_constant_memory ? nullptr : "it reads images or constant memory";
}
/// The same for a statement. Algorithms compute into vectors that no handle shares, and free them at once. A
/// stored half is read as a float, whose value later statements would have to round.
refusal alone(target_list targets, const tape& p, const shape& box) {
    for (const target& t : targets) {
        if (t.vector->type() == scalar::f16) return "its values are of type half";
        if (t.vector->weak_from_this().expired()) return of_algorithm;
        if (t.where == nullptr && t.vector->size() != box.count()) return other_elements;
    }
    if (p.size >= 0 && p.size != static_cast<std::int64_t>(box.count())) return other_elements;
    return alone(p);
}

/// Whether CPUs compute the statement in short vectors, whatever is beside it: the functions of vectors
/// round differently from those of scalars.
bool has_lanes(target_list targets, const tape& p) {
    if (!array::has_lanes(p)) return false;
    const std::vector<std::size_t> ends = ends_of_values(p);
    for (std::size_t k = 0; k < targets.size(); ++k) {
        const trace::type type = targets[k].vector->type();
        const bool truncates = is_floating(p.steps[ends[k] - 1].type.element) && !is_floating(type.element);
        if (targets[k].where != nullptr || !type.is_scalar() || type == scalar::boolean ||
            size_of(type.element) < 4 || truncates)
            return false;
    }
    return true;
}

/// A statement, or the operands of reductions, which have no targets but results.
struct member {
    target_list targets;
    tape p;
    shape box;
    vector_accesses uses;
    std::size_t argument_bytes;
    bool has_functions, is_in_lanes;

    member(target_list into, const tape& values, const shape& all)
        : targets(into),
          p(with_own_elements(values, all)),
          box(all),
          uses(p, into),
          argument_bytes(array::argument_bytes(p, all)),
          has_functions(calls_inexact_functions(p)),
          is_in_lanes(has_lanes(into, p)) {}
};

/// Of the kernel that computes a group.
struct argument_room {
    std::size_t used = 0;  ///< by scalars and positions
    template <class Group>
    bool has_room(const member& m, const Group& of, const runtime::device_state& device) const {
        return fits(used + m.argument_bytes, m, of, device);
    }
    /// Whether there is room for the vectors of the group and the member, and for these bytes.
    template <class Group>
    static bool fits(std::size_t bytes, const member& m, const Group& of,
                     const runtime::device_state& device) {
        std::vector<const vector_state*> vectors;
        of.for_each_vector([&](const vector_state& v, bool) { vectors.push_back(&v); });
        for (const vector_handle& each : m.p.vectors) vectors.push_back(each.get());
        for (const vector_handle& each : m.uses.written) vectors.push_back(each.get());
        std::sort(vectors.begin(), vectors.end());
        const auto count =
            static_cast<std::size_t>(std::unique(vectors.begin(), vectors.end()) - vectors.begin());
        return count * sizeof(void*) + bytes <= most_argument_bytes(device);
    }
    void take(const member& m) { used += m.argument_bytes; }
};

/// What one kernel computes.
class fused_group {
public:
    fused_group() = default;
    fused_group(const fused_group&) = delete;
    fused_group& operator=(const fused_group&) = delete;
    virtual ~fused_group() = default;

    /// Adds a statement; returns why it must follow in another kernel.
    virtual refusal add(const member&) = 0;
    /// Adds reductions whose results are `m.uses.written`; takes them if it does.
    virtual refusal add(const member&, std::unique_ptr<held_reductions>&) = 0;
    /// Whether the command must follow.
    virtual bool must_precede(const vector_accesses&) const = 0;
    /// Calls f(vector, is it written) for the vectors that the group uses.
    virtual void for_each_vector(const std::function<void(const vector_state&, bool)>&) const = 0;
    virtual void enqueue(const unread_test&) = 0;
};

/// Statements over rows, and reductions of these rows.
class row_group final : public fused_group {
public:
    row_group(runtime::device_state& device, row_statements&& rows, const argument_room& used = {})
        : device_(device),
          on_cpu_(kernels::facts_for(device).on_cpu),
          arguments_(used),
          rows_(std::move(rows)) {}

    refusal add(const member& m) override {
        if (!m.uses.scattered.empty()) return has_views;
        if (const refusal why = impossible(m)) return why;
        if (!rows_.add(m.targets, m.p, m.box)) return not_of_rows;
        arguments_.take(m);
        return nullptr;
    }
    refusal add(const member&, std::unique_ptr<held_reductions>&) override { return other_group; }
    /// Adds a reduction along the rows, whose result is `m.uses.written`; takes it if it does.
    refusal add(const member& m, const tape& operand, const row_box& box,
                std::unique_ptr<held_row_reduction>& reduction) {
        if (box != rows_.box()) return other_elements;
        if (const refusal why = impossible(m)) return why;
        if (!rows_.add(reduction, operand, m.p, m.uses.written[0])) return not_of_rows;
        arguments_.take(m);
        return nullptr;
    }
    bool must_precede(const vector_accesses& uses) const override { return rows_.must_precede(uses); }
    void for_each_vector(const std::function<void(const vector_state&, bool)>& f) const override {
        rows_.for_each_vector(f);
    }
    void enqueue(const unread_test& is_unread) override { rows_.enqueue(is_unread); }

private:
    static constexpr refusal not_of_rows =
        "it needs elements of other rows, reads or writes what the kernel before computes at other "
        "positions, or "
        "exceeds what a work-item can hold";

    /// On CPUs, the functions of vectors round differently from those of scalars.
    refusal impossible(const member& m) const {
        if (on_cpu_ && m.has_functions) return rounds_otherwise;
        return arguments_.has_room(m, *this, device_) ? nullptr : is_full;
    }

    runtime::device_state& device_;
    bool on_cpu_;
    argument_room arguments_;
    row_statements rows_;
};

/// Statements over the same elements, in order, and reductions of these elements. Statements of one element
/// may follow the results.
class statement_group final : public fused_group {
public:
    statement_group(runtime::device_state& device, const shape& box)
        : device_(device), box_(box), on_cpu_(kernels::facts_for(device).on_cpu) {}

    refusal add(const member& m) override {
        const refusal why = add_to_elements(m);
        return why == nullptr || add_to_results(m) ? nullptr : why;
    }

    refusal add(const member& m, std::unique_ptr<held_reductions>& reductions) override {
        const bool have_functions = operands_have_functions_ || m.has_functions;
        if (elements_.uses().are_scattered()) return has_views;
        if (!is_alike(m)) return other_elements;
        if (!has_room(m)) return is_full;
        if (then_.uses().conflict_with(m.uses)) return reads_result;
        if (!rounds_alike(has_functions_, are_in_lanes_, have_functions, *reductions))
            return rounds_otherwise;
        if (overlap(m.uses.written, elements_.uses().written()))
            return "its result is a vector that the kernel before writes";
        vector_accesses operands = m.uses;
        operands.written.clear();
        if (const refusal why = elements_.uses().conflict_of(operands)) return why;
        if (reductions_ == nullptr)
            reductions_ = std::move(reductions);
        else if (!reductions_->take(*reductions))
            return other_reductions;
        operands_.push_back(elements_.add_operand(m.p, operands));
        for (const vector_handle& v : m.uses.written) results_.push_back(v.get());
        then_.add_written(m.uses.written);
        operands_have_functions_ = have_functions;
        if (m.box.dimensions() > 1) box_ = m.box;
        grow(m);
        return nullptr;
    }

    bool must_precede(const vector_accesses& uses) const override {
        return elements_.uses().conflict_with(uses) || then_.uses().conflict_with(uses);
    }
    void for_each_vector(const std::function<void(const vector_state&, bool)>& f) const override {
        elements_.uses().for_each_vector(f);
        then_.uses().for_each_vector(f);
    }

    /// The same statements as a group that reductions along rows can join; null if reductions of all elements
    /// have, or if the rows are not those of its elements.
    std::unique_ptr<row_group> of_rows(const row_box& rows) const {
        const bool are_rows = reductions_ == nullptr && !elements_.uses().are_scattered() &&
                              box_.count() == rows.count() && !(on_cpu_ && has_functions_) &&
                              row_statements::can_begin_with(elements_.values(), rows);
        return are_rows
                   ? std::make_unique<row_group>(device_, row_statements(rows, elements_, box_), arguments_)
                   : nullptr;
    }

    /// Whether another kernel may compute the statements again for the member, which reads what they assign:
    /// they are few and cheap, and move hardly more memory than their values would.
    bool is_cheap_for(const member& m) const {
        const auto& own = elements_.uses();
        if (elements_.is_empty() || steps_ > most_again || has_functions_ || own.are_scattered() ||
            !elements_.values().functions.empty() || !is_alike(m))
            return false;
        std::size_t read = 0, saved = 0;
        for_each_input([&](const vector_handle& v) { read += contains(m.uses.here, v) ? 0 : v->bytes(); });
        for (const vector_handle& v : own.written())
            if (contains(m.uses.here, v) && elements_.value_in(v)) saved += v->bytes();
        return saved > 0 && read <= saved + saved / 8 && !changes_inputs_of(*this);
    }
    /// Whether these statements or reductions assign what the others read or assign.
    bool changes_inputs_of(const statement_group& other) const {
        bool changes = false;
        const auto look = [&](const vector_handle& v, bool is_written_there) {
            const auto changed = [&](const fused_statements& by) {
                return std::any_of(by.uses().written().begin(), by.uses().written().end(),
                                   [&](const vector_handle& each) {
                                       return each->overlaps(*v) && !by.is_only_computed(each);
                                   });
            };
            const bool is_own = is_written_there && &other == this;
            changes = changes || (!is_own && changed(elements_)) || changed(then_);
        };
        other.for_each_input([&](const vector_handle& v) { look(v, false); });
        for (const vector_handle& v : other.elements_.uses().written()) look(v, true);
        return changes;
    }
    /// A group that begins by computing these statements again.
    std::unique_ptr<statement_group> again() const {
        auto made = std::make_unique<statement_group>(device_, box_);
        made->elements_ = elements_.again();
        made->are_in_lanes_ = are_in_lanes_;
        made->steps_ = steps_;
        made->arguments_ = arguments_;
        return made;
    }
    /// The operand of an algorithm, computed after these statements.
    tape again_before(const tape& operand) const {
        tape all = elements_.values();
        const trace::type type = type_of_last(operand);
        all.append(elements_.with_values(operand));
        all.push_within(type);
        all.size = static_cast<std::int64_t>(box_.count());
        all.box = -1;
        return all;
    }
    std::uint32_t statements() const { return elements_.count(); }

    void enqueue(const unread_test& is_unread) override {
        const auto& results = then_.uses().written();
        const bool are_read =
            !std::all_of(results.begin(), results.end(), [&](const auto& v) { return is_unread(*v); });
        auto [values, stored] = elements_.stored(is_unread);
        if (reductions_ == nullptr || !are_read) {
            if (!stored.empty()) launch(stored, values, box_);
            return;
        }
        fused_values all;
        all.are_in_lanes = reductions_->are_in_lanes() && are_in_lanes_;
        all.first_operand = elements_.is_empty() ? 0 : std::max<std::size_t>(stored.size(), 1);
        all.first_statement = elements_.count();
        all.elements = std::move(values);
        all.stored = std::move(stored);
        for (std::size_t k = 0; k < operands_.size(); ++k) {
            if (all.elements.steps.empty())
                all.elements = operands_[k];
            else
                all.elements.append(operands_[k]);
            if (k + 1 == operands_.size()) break;
            all.elements.push_keep(type_of_last(all.elements));
            all.elements.steps.back().detail = static_cast<std::uint32_t>(value_of_statement::last);
        }
        all.results = results_;
        auto [values_then, stored_then] = then_.stored(is_unread);
        if (!stored_then.empty()) {
            all.then = std::move(values_then);
            all.stored_then = std::move(stored_then);
        }
        reductions_->launch(all);
    }

private:
    /// Steps that another kernel may compute again.
    static constexpr std::size_t most_again = 32;

    static bool contains(const std::vector<vector_handle>& list, const vector_handle& v) {
        return std::find(list.begin(), list.end(), v) != list.end();
    }
    /// Calls f for each vector that the statements load.
    template <class F>
    void for_each_input(const F& f) const {
        const auto& all = elements_.values().vectors;
        for (auto each = all.begin(); each != all.end(); ++each)
            if (std::find(all.begin(), each, *each) == each) f(*each);
    }

    refusal add_to_elements(const member& m) {
        const bool has_functions = has_functions_ || m.has_functions;
        const bool are_in_lanes = are_in_lanes_ && m.is_in_lanes;
        const bool is_first = elements_.is_empty() && reductions_ == nullptr;
        if (reductions_ != nullptr && !m.uses.scattered.empty()) return has_views;
        if (!is_first) {
            if (!is_alike(m)) return other_elements;
            if (!has_steps(m)) return is_full;
            const bool rounds = reductions_ == nullptr ? rounds_alike(has_functions, are_in_lanes)
                                                       : rounds_alike(has_functions, are_in_lanes,
                                                                      operands_have_functions_, *reductions_);
            if (!rounds) return rounds_otherwise;
        }
        if (then_.uses().conflict_with(m.uses)) return reads_result;
        if (const refusal why = elements_.uses().conflict_of(m.uses)) return why;
        const shape box = m.box.dimensions() > 1 ? m.box : box_;
        if (is_first || arguments_.has_room(m, *this, device_)) {
            elements_.add(m.targets, m.p, m.uses, box.count());
            grow(m);
        } else if (!add_counted(m, box)) {
            return is_full;
        }
        box_ = box;
        has_functions_ = has_functions;
        are_in_lanes_ = are_in_lanes;
        return nullptr;
    }
    /// Adds a statement if there is room for its arguments together with those before, of which equal ones
    /// may be one.
    bool add_counted(const member& m, const shape& box) {
        if (reductions_ != nullptr || is_counted_full_) return false;
        fused_statements all = elements_;
        all.add(m.targets, m.p, m.uses, box.count());
        const std::size_t bytes = argument_bytes(all.values(), box);
        is_counted_full_ = !argument_room::fits(bytes, m, *this, device_);
        if (is_counted_full_) return false;
        elements_ = std::move(all);
        steps_ += m.p.steps.size();
        arguments_.used = bytes;
        return true;
    }
    /// One work-item computes what follows the results.
    bool add_to_results(const member& m) {
        if (reductions_ == nullptr || m.box.count() != 1 || !m.uses.scattered.empty() ||
            (on_cpu_ && m.has_functions) || !has_room(m) || then_.uses().conflict_of(m.uses) != nullptr)
            return false;
        then_.add(m.targets, m.p, m.uses, 1);
        grow(m);
        return true;
    }

    /// Whether the member computes the same elements.
    bool is_alike(const member& m) const {
        return m.box == box_ ||
               (m.box.count() == box_.count() && (m.box.dimensions() == 1 || box_.dimensions() == 1));
    }

    /// Whether one kernel rounds statements as their own kernels do, which compute them in lanes if they can.
    bool rounds_alike(bool has_functions, bool are_in_lanes) const {
        return !on_cpu_ || !has_functions || are_in_lanes;
    }
    /// The same beside reductions, whose lanes are more than those of statements: their functions may round
    /// differently. Without functions, the elements are the same in lanes and one by one.
    bool rounds_alike(bool has_functions, bool are_in_lanes, bool operands_have_functions,
                      const held_reductions& reductions) const {
        const bool keeps_lanes = are_in_lanes || !reductions.are_in_lanes();
        return !on_cpu_ || (!has_functions && (keeps_lanes || !operands_have_functions));
    }

    bool has_steps(const member& m) const { return steps_ + m.p.steps.size() <= most_steps; }
    bool has_room(const member& m) const { return has_steps(m) && arguments_.has_room(m, *this, device_); }
    void grow(const member& m) {
        steps_ += m.p.steps.size();
        arguments_.take(m);
    }

    runtime::device_state& device_;
    shape box_;
    bool on_cpu_, has_functions_ = false, are_in_lanes_ = true, operands_have_functions_ = false;
    std::size_t steps_ = 0;
    argument_room arguments_;
    bool is_counted_full_ = false;  ///< the arguments of a statement had no room
    fused_statements elements_;
    std::unique_ptr<held_reductions> reductions_;
    std::vector<tape> operands_;  ///< of each call
    std::vector<vector_state*> results_;
    fused_statements then_;  ///< the results, and the statements that follow them
};

/// What the description of a recording says of a group.
class group_summary {
public:
    explicit group_summary(refusal why) : begins_since_(why) {}

    void add(const member& m) {
        ++statements_;
        operations_ += static_cast<std::size_t>(std::count_if(
            m.p.steps.begin(), m.p.steps.end(), [](const step& s) { return s.what == step::kind::apply; }));
        std::vector<const vector_state*> used;
        for (const auto* const list : {&m.uses.here, &m.uses.elsewhere, &m.uses.written})
            for (const vector_handle& v : *list) {
                if (list != &m.uses.written && std::find(used.begin(), used.end(), v.get()) != used.end())
                    continue;
                used.push_back(v.get());
                bytes_ += v->bytes();
            }
        for (const vector_handle& v : m.uses.written) {
            const trace::location line = v->made_at();
            const auto is_it = [&](const trace::location& other) {
                return other.file == line.file && other.line == line.line;
            };
            if (std::none_of(lines_.begin(), lines_.end(), is_it)) lines_.push_back(line);
        }
    }
    /// Notes that the kernel begins by computing so many statements of another one again.
    void add_again(std::size_t statements) { again_ += statements; }

    std::vector<std::string> words() const {
        std::vector<std::string> text{fmt::format("{} {} of {} {} for each element, alone {} bytes",
                                                  statements_, statements_ == 1 ? "statement" : "statements",
                                                  operations_, operations_ == 1 ? "operation" : "operations",
                                                  bytes_)};
        std::string lines;
        for (const trace::location& line : lines_)
            if (line.file != nullptr)
                lines += fmt::format("{}{}:{}", lines.empty() ? "assigns the vectors made at " : ", ",
                                     std::filesystem::path(line.file).filename().string(), line.line);
        if (!lines.empty()) text.push_back(std::move(lines));
        if (again_ > 0)
            text.push_back(fmt::format("computes {} of another kernel again",
                                       again_ == 1 ? "a statement" : fmt::format("{} statements", again_)));
        if (begins_since_ != nullptr)
            text.push_back(fmt::format("not in the kernel before: {}", begins_since_));
        return text;
    }

private:
    refusal begins_since_;
    std::size_t statements_ = 0, operations_ = 0, again_ = 0;
    std::size_t bytes_ = 0;  ///< that the statements would move in kernels of their own
    std::vector<trace::location> lines_;
};

/// The groups that a recording holds back, in order, for one queue.
class statement_groups final : public runtime::held_commands {
public:
    /// `why`: why the first member is not in a kernel before.
    statement_groups(runtime::command_list& list, runtime::device_state& device, refusal why)
        : list_(list), refused_(why), device_(device), queue_(device.default_queue_handle()) {}

    bool is_for(const runtime::device_state& device) const {
        return &device == &device_ && &device_.default_queue() == queue_.get();
    }

    /// Adds a statement or reductions to the last group that takes them, before groups that need not precede
    /// them, or to a new one; returns false if no group can.
    template <class... Reductions>
    bool add(const member& m, Reductions&... reductions) {
        const auto takes = [&](std::unique_ptr<fused_group>& group) { return group->add(m, reductions...); };
        if (find(m, takes)) return true;
        if (const statement_group* const cheap = cheap_for(m);
            cheap && begin(cheap->again(), m, reductions...)) {
            groups_.back().about.add_again(cheap->statements());
            return true;
        }
        return begin(std::make_unique<statement_group>(device_, m.box), m, reductions...);
    }
    /// The operand of an algorithm with cheap statements that are held back, computed again, in place of what
    /// they assign; nullopt if there are none.
    std::optional<tape> with_cheap(const member& m) const {
        const statement_group* const cheap = cheap_for(m);
        return cheap != nullptr ? std::optional(cheap->again_before(m.p)) : std::nullopt;
    }
    /// The same for a reduction along rows. Statements of all their elements become a group of rows.
    bool add(const member& m, const tape& operand, const row_box& box,
             std::unique_ptr<held_row_reduction>& reduction) {
        const auto takes = [&](std::unique_ptr<fused_group>& group) {
            if (auto* const rows = dynamic_cast<row_group*>(group.get()))
                return rows->add(m, operand, box, reduction);
            std::unique_ptr<row_group> rows = static_cast<statement_group&>(*group).of_rows(box);
            if (rows == nullptr) return other_elements;
            const refusal why = rows->add(m, operand, box, reduction);
            if (why == nullptr) group = std::move(rows);
            return why;
        };
        return find(m, takes) ||
               begin(std::make_unique<row_group>(device_, row_statements(box)), m, operand, box, reduction);
    }

    void enqueue() override { enqueue_first(groups_.size()); }

    bool enqueue_before(std::span<runtime::storage* const> reads,
                        std::span<runtime::storage* const> writes) override {
        const auto uses = [](std::span<runtime::storage* const> list, const vector_state& v) {
            return std::find(list.begin(), list.end(), v.memory().get()) != list.end();
        };
        std::size_t count = groups_.size();
        for (bool must = false; count > 0; --count) {
            groups_[count - 1].commands->for_each_vector([&](const vector_state& v, bool is_written) {
                must = must || uses(writes, v) || (is_written && uses(reads, v));
            });
            if (must) break;
        }
        enqueue_first(count);
        return !groups_.empty();
    }

private:
    struct held_group {
        std::unique_ptr<fused_group> commands;
        group_summary about;
    };

    void enqueue_first(std::size_t count) {
        const queue_scope there((queue(queue_)));
        for (std::size_t k = 0; k < count; ++k) {
            const std::vector<const vector_state*> temporaries = temporaries_of(k);
            list_.describe_next([about = groups_[k].about] { return about.words(); });
            groups_[k].commands->enqueue([&](const vector_state& v) {
                return is_dead(v, 1 + handles_of_others(k, v)) ||
                       std::find(temporaries.begin(), temporaries.end(), &v) != temporaries.end();
            });
        }
        list_.describe_next(nullptr);
        groups_.erase(groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    /// The handles by which other groups know the vector, which they compute, too.
    long handles_of_others(std::size_t group, const vector_state& v) const {
        long handles = 0;
        for (std::size_t k = 0; k < groups_.size(); ++k)
            if (k != group)
                groups_[k].commands->for_each_vector(
                    [&](const vector_state& used, bool is_written) { handles += is_written && &used == &v; });
        return handles;
    }

    /// The last group of statements that another kernel may compute again for the member; null if there is
    /// none.
    const statement_group* cheap_for(const member& m) const {
        for (std::size_t k = groups_.size(); k-- > 0;) {
            const auto* const found = dynamic_cast<const statement_group*>(groups_[k].commands.get());
            if (found == nullptr || !found->is_cheap_for(m)) continue;
            const auto changes = [&](const held_group& later) {
                const auto* const other = dynamic_cast<const statement_group*>(later.commands.get());
                return other == nullptr || other->changes_inputs_of(*found);
            };
            return std::none_of(groups_.begin() + static_cast<std::ptrdiff_t>(k) + 1, groups_.end(), changes)
                       ? found
                       : nullptr;
        }
        return nullptr;
    }

    /// Whether the last group that takes the member, before groups that need not precede it, has taken it.
    template <class Takes>
    bool find(const member& m, const Takes& takes) {
        if (!groups_.empty()) refused_ = nullptr;
        for (std::size_t k = groups_.size(); k-- > 0;) {
            const refusal why = takes(groups_[k].commands);
            if (why == nullptr) {
                groups_[k].about.add(m);
                return true;
            }
            if (refused_ == nullptr) refused_ = why;
            if (groups_[k].commands->must_precede(m.uses)) return false;
        }
        return false;
    }
    /// Adds a group that takes the member; returns false if there is no room for it, or if it does not.
    template <class Group, class... With>
    bool begin(std::unique_ptr<Group> next, const member& m, With&... with) {
        if (groups_.size() == most_held || next->add(m, with...) != nullptr) return false;
        groups_.push_back({std::move(next), group_summary(refused_)});
        groups_.back().about.add(m);
        return true;
    }

    /// The temporaries that only this group uses, which computes them before it reads them. Groups before it
    /// are commands by now.
    std::vector<const vector_state*> temporaries_of(std::size_t group) const {
        std::vector<const vector_state*> found;
        groups_[group].commands->for_each_vector([&](const vector_state& v, bool is_written) {
            if (is_written && list_.is_unused_temporary(*v.memory(), v.offset(), v.bytes()))
                found.push_back(&v);
        });
        if (found.empty()) return found;
        for (std::size_t k = group; k < groups_.size(); ++k)
            groups_[k].commands->for_each_vector([&](const vector_state& used, bool is_written) {
                if (k == group && is_written) return;
                std::erase_if(found, [&](const vector_state* v) { return v->memory() == used.memory(); });
            });
        return found;
    }

    runtime::command_list& list_;
    refusal refused_;  ///< why the last group did not take the latest member
    runtime::device_state& device_;
    std::shared_ptr<runtime::queue_state> queue_;  ///< the default one when the statements were executed
    std::vector<held_group> groups_;
};

bool is_fusion_off() {
    const std::optional<std::string> value = runtime::environment_variable("BALM_FUSE");
    return value == "0";
}

/// Adds a member, as statement_groups::add does, to what the list holds back, or to something new.
template <class... With>
bool is_held(runtime::command_list& list, runtime::device_state& device, const member& m, With&&... with) {
    refusal why = nullptr;
    if (auto* const groups = dynamic_cast<statement_groups*>(list.held())) {
        if (groups->is_for(device) && groups->add(m, with...)) return true;
        why = groups->is_for(device) ? "eight kernels are held back, and it is in none of them"
                                     : "it is on another device, or in another queue";
    }
    auto groups = std::make_unique<statement_groups>(list, device, why);
    if (!groups->add(m, with...)) return false;
    list.hold(std::move(groups));
    return true;
}

}  // namespace

bool is_held_to_fuse(target_list targets, const tape& p, const shape& box) {
    runtime::command_list* const list = runtime::command_list::of_thread();
    if (list == nullptr) [[likely]]
        return false;
    const refusal why = is_fusion_off() ? "BALM_FUSE=0" : alone(targets, p, box);
    if (why != nullptr) {
        list->describe_next([why] { return std::vector{fmt::format("not fused: {}", why)}; });
        return false;
    }
    const member statement(targets, p, box);
    return is_held(*list, targets[0].vector->device(), statement);
}

std::optional<tape> with_statements_again(const tape& operand, const shape& box) {
    const runtime::command_list* const list = runtime::command_list::of_thread();
    if (list == nullptr) [[likely]]
        return std::nullopt;
    const auto* const groups = dynamic_cast<const statement_groups*>(list->held());
    if (groups == nullptr || alone(operand) != nullptr || !groups->is_for(*device_of(operand)))
        return std::nullopt;
    return groups->with_cheap(member({}, operand, box));
}

bool are_held_to_fuse(std::unique_ptr<held_reductions>&& reductions, const tape& operands,
                      std::span<vector_state* const> results) {
    runtime::command_list* const list = runtime::command_list::of_thread();
    if (list == nullptr) [[likely]]
        return false;
    const bool have_handles = std::none_of(
        results.begin(), results.end(), [](const vector_state* v) { return v->weak_from_this().expired(); });
    if (!have_handles || alone(operands) != nullptr || is_fusion_off()) return false;
    member m({}, operands, box_of(operands));
    for (vector_state* const v : results) {
        if (overlaps(*v, m.uses.written)) return false;
        m.uses.written.push_back(v->shared_from_this());
    }
    return is_held(*list, results[0]->device(), m, reductions);
}

bool is_held_to_fuse(std::unique_ptr<held_row_reduction>&& reduction, const tape& operand, const row_box& box,
                     vector_state& result) {
    runtime::command_list* const list = runtime::command_list::of_thread();
    if (list == nullptr) [[likely]]
        return false;
    if (result.weak_from_this().expired() || alone(operand) != nullptr || is_fusion_off()) return false;
    member m({}, operand, box_of(operand));
    m.uses.written.push_back(result.shared_from_this());
    return is_held(*list, result.device(), m, operand, box, reduction);
}

}  // namespace balm::array
