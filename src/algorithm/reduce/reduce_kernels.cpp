// Traces the kernels of reductions.

#include "algorithm/reduce/reduce_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "algorithm/block/reduce.hpp"
#include "algorithm/element_of_run.hpp"
#include "algorithm/reduce/slots.hpp"
#include "algorithm/reduce/wide_states.hpp"
#include "array/expression_recorder.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::accumulate;
using block::elements;
using block::node_of;
using block::read;
using block::variables;

static_assert(finish_lanes <= reduction_group);
constexpr int lanes = reduction_lanes;
constexpr std::int64_t run = run_elements;
constexpr std::int64_t run_block = 32 * run;
/// The number of terms that a work-item of a grid adds sequentially, each from the elements that it loads at
/// once.
constexpr int grid_run = 64;
/// Partial results that a work-item loads at once; it combines them one by one.
constexpr int loads_of_finish = 8;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const reduction_plan& plan,
             const operations& does, const reduction_values& values)
        : plan_(plan),
          does_(does),
          in_pieces_(plan.locates ? does.without_positions() : does),
          quick_(values.stored.empty() ? in_pieces_.assuming_numbers() : in_pieces_),
          has_vector_functions_(plan.in_vectors && calls_vector_functions(values.p)),
          in_order_(does.operation(true)),
          in_any_order_(does.operation(false)),
          values_(values),
          r_(r),
          given_(given),
          group_(plan.on_cpu() ? block::group_shape{1, true}
                               : block::group_shape{.most = reduction_group,
                                                    .has_sub_groups = plan.has_sub_groups,
                                                    .is_power_of_two = true}),
          shared_(group_.shared("shared", does.state(), reduction_group)) {}

    std::shared_ptr<const ir::function> traced() {
        if (has_vector_functions_) r_.use_vector_functions();
        const slots partials(given_["slots"], does_.state(), slot_layout(does_.results()).count);
        if (plan_.has_partials()) {
            r_.describe(fmt::format("{}", fmt::join(describe(values_.p, values_.leaves, given_), ", ")));
            switch (plan_.shape) {
                case reduction_shape::pieces_an_item: record_pieces_of_item(partials); break;
                case reduction_shape::pieces_a_group: record_pieces_of_group(partials); break;
                case reduction_shape::grid: record_grid(partials); break;
            }
        }
        if (plan_.finishes_last) {
            IF (is_last_group()) {
                record_finish(partials);
            }
        } else if (plan_.gives_results()) {
            if (plan_.stage == reduction_stage::whole && !plan_.on_cpu()) barrier();
            record_finish(partials);
        }
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }

    /// The state of element i, or of the elements from i on in lanes.
    values element(const operations& does, const Index& i) const {
        const coordinates at(node_of(i));
        const int count = does.style().lanes;
        return state_of(does, at,
                        has_vector_functions_ && count == 1
                            ? record_as_in_lanes(values_.p, values_.leaves, given_, at)
                            : recorded(at, count));
    }
    values recorded(const coordinates& at, int count) const {
        expression_recorder one(values_.p, values_.leaves, given_, at, count);
        one.number_statements(next_number_, values_.statements);
        next_number_ += values_.statements;
        return one.record_until(values_.end_of_elements);
    }
    values element(const Index& i) const { return element(does_, i); }
    /// Stores what is assigned to vectors; returns the state of the element, or of the elements in lanes.
    values state_of(const operations& does, const coordinates& at, values all) const {
        for (std::size_t k = 0; k < values_.stored.size(); ++k)
            store(given_[*values_.stored[k].vector], at, all[k], does.style().lanes);
        return does.of_element(operands_of(std::move(all)), at.flat);
    }
    values operands_of(values all) const {
        all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(values_.first_operand));
        return all;
    }
    static void store(trace::node out, const coordinates& at, trace::node value, int lanes) {
        for (int k = 0; k < lanes; ++k) {
            const trace::node index = k == 0 ? at.flat : node_of(Index(at.flat) + k);
            const bool is_same = lanes == 1 || value.type.lanes == 1;
            trace::store(out, index,
                         is_same ? value : trace::swizzle(value, static_cast<std::uint64_t>(k), 1), {});
        }
    }

    // ---- a work-item has all lanes

    void record_pieces_of_item(const slots& partials) const {
        const Index n = given("n"), piece = given("piece"), count = given("partial_count");
        const Index own = given("pieces_an_item");
        Index first = named("first", group_id(0) * own), last = named("last", min(first + own, count));
        for (Index k : named("k", range(first, last))) {
            Index begin = named("begin", k * piece), end = named("end", min(begin + piece, n));
            const values found = plan_.in_vectors ? of_piece<lanes_in_vectors>(begin, end)
                                                  : of_piece<lanes_in_memory>(begin, end);
            const bool is_doubtful = values_.stored.empty() && in_pieces_.have_extremes();
            const values sure = is_doubtful ? without_doubt(found, begin, end) : found;
            partials.store(k, plan_.locates ? does_.with_position(sure, node_of(begin)) : sure);
        }
    }
    /// Recomputes extremes that may come from nothing but NaN, without assuming numbers.
    values without_doubt(const values& found, const Index& begin, const Index& end) const {
        const values result = variables("result", found);
        IF (Bool(quick_.is_doubtful(found))) {
            const values sure = block::reduce(in_pieces_.operation(true), in_pieces_.identity(), begin, end,
                                              [&](const Index& i) { return element(in_pieces_, i); });
            const std::vector<bool> extreme = in_pieces_.are_extremes();
            for (std::size_t v = 0; v < sure.size(); ++v)
                if (extreme[v]) trace::write(result[v], sure[v]);
        }
        return read(result);
    }

    /// The states of all lanes in short vectors, for what can be computed in them.
    class lanes_in_vectors {
    public:
        lanes_in_vectors(std::string_view word, const recorder& in)
            : in_(in), states_(word, in.quick_, lanes / wide_states::vectors) {}
        void take_row(const Index& row) const {
            states_.take_elements(
                [&](const operations& does, int first) { return in_.element(does, row + first); });
        }
        /// The first lanes take an element each.
        void take_rest(const Index& begin, const Index& count) const {
            IF (count > 0) {
                const block::arrays vectors("vectors", block::types_of(states_[0]), wide_states::vectors,
                                            space::private_);
                for (int v = 0; v < wide_states::vectors; ++v) vectors.store(v, states_[v]);
                const block::arrays lane = vectors.as(in_.quick_.state());
                for (Index k : named("lane", range(count)))
                    lane.store(k,
                               in_.quick_.combined(lane.load(k), in_.element(in_.quick_, begin + k), true));
                for (int v = 0; v < wide_states::vectors; ++v) states_.set(v, vectors.load(v));
            }
        }
        void take_states(const lanes_in_vectors& later) const { states_.take(later.states_); }
        values reduced() const { return states_.reduced(); }

    private:
        const recorder& in_;
        wide_states states_;
    };

    /// The states of all lanes in private memory, for everything else.
    class lanes_in_memory {
    public:
        lanes_in_memory(std::string_view word, const recorder& in)
            : in_(in), states_(word, in.quick_.state(), lanes, space::private_) {
            each_lane([&](const Index& k) { states_.store(k, in_.quick_.identity()); });
        }
        void take_row(const Index& row) const {
            if (!is_cheaper_in_fours(in_.values_.p))
                return each_lane([&](const Index& k) { take(k, in_.element(in_.quick_, row + k)); });
            Index first = named("first_four", row >> 2);
            for (Index four : named("four", range(Index(lanes / 4))))
                for (int k = 0; k < 4; ++k)
                    take(four * 4 + k, in_.element(in_.quick_, (first + four) * 4 + k));
        }
        void take_rest(const Index& begin, const Index& count) const {
            for (Index k : named("lane", range(count))) take(k, in_.element(in_.quick_, begin + k));
        }
        void take_states(const lanes_in_memory& later) const {
            each_lane([&](const Index& k) { take(k, later.states_.load(k)); });
        }
        values reduced() const {
            block::reduce_array(in_.group_, in_.quick_.operation(false), states_, Int(lanes));
            return states_.load(0);
        }

    private:
        template <class F>
        static void each_lane(F&& f) {
            for (Index k : named("lane", range(Index(lanes)))) f(k);
        }
        void take(const Index& k, const values& later) const {
            states_.store(k, in_.quick_.combined(states_.load(k), later, true));
        }

        const recorder& in_;
        block::arrays states_;
    };

    template <class Lanes>
    values of_piece(const Index& begin, const Index& end) const {
        const Lanes total("total", *this);
        if (in_pieces_.depend_on_order())
            for (Index from : named("block", range(begin, end, run_block)))
                record_block(total, from, named("block_end", min(from + run_block, end)));
        else
            record_rows(total, begin, end);
        return total.reduced();
    }
    template <class Lanes>
    void record_block(const Lanes& total, const Index& begin, const Index& end) const {
        const Lanes sum("of_block", *this);
        for (Index from : named("run", range(begin, end, run))) {
            const Lanes own("of_run", *this);
            record_rows(own, from, named("run_end", min(from + run, end)));
            sum.take_states(own);
        }
        total.take_states(sum);
    }
    template <class Lanes>
    void record_rows(const Lanes& into, const Index& begin, const Index& end) const {
        Index whole = named("whole", begin + (end - begin) / lanes * lanes);
        for (Index row : named("row", range(begin, whole, std::int64_t{lanes}))) into.take_row(row);
        into.take_rest(whole, end - whole);
    }

    // ---- a work-item has a lane

    void record_pieces_of_group(const slots& partials) const {
        const Index n = given("n"), piece = given("piece"), count = given("partial_count");
        Index k = named("k", global_id(0) / lanes);
        Index begin = named("begin", k * piece), end = named("end", min(begin + piece, n));
        const values total = variables("total", does_.identity());
        for (Index from : named("block", range(begin, end, run_block))) {
            const values sum = variables("of_block", does_.identity());
            Index block_end = named("block_end", min(from + run_block, end));
            for (Index first : named("run", range(from, block_end, run))) {
                const values own = variables("of_run", does_.identity());
                record_run_of_lane(own, first, block_end);
                accumulate(in_order_, sum, read(own));
            }
            accumulate(in_order_, total, read(sum));
        }
        const values partial = block::sub_group_reduce(group_, in_any_order_, read(total), shared_);
        IF (group_.lane() == 0 && k < count) {
            partials.store(k, partial);
        }
    }
    void record_run_of_lane(const values& own, const Index& first, const Index& end) const {
        const auto rows = static_cast<std::int64_t>(plan_.at_once);
        IF (first + run <= end) {
            for (Index row : named("row", range(first + group_.lane(), first + run, rows * lanes)))
                for (std::int64_t k = 0; k < rows; ++k) accumulate(in_order_, own, element(row + k * lanes));
        }
        ELSE {
            for (Index i : named("i", range(first + group_.lane(), end, std::int64_t{lanes})))
                accumulate(in_order_, own, element(i));
        }
    }

    // ---- a grid-stride loop over short vectors or single elements

    void record_grid(const slots& partials) const {
        const Index n = given("n"), whole = named("whole", n / Index(plan_.lanes));
        Index i = named("i", global_id(0)), stride = named("stride", global_size(0));
        const block::strided_walk how{static_cast<int>(plan_.at_once) / plan_.lanes,
                                      does_.depend_on_order() ? grid_run : 0};
        const values total = variables("total", does_.identity());
        accumulate(in_order_, total, i, whole, stride, how,
                   [&](std::span<const Index> numbers) { return vectors_of(numbers); });
        if (plan_.lanes > 1) {
            Index last = named("last", whole * plan_.lanes + i);
            IF (last < n) {
                accumulate(in_order_, total, element(last));
            }
        }
        const values partial = block::reduce(group_, in_any_order_, read(total), shared_);
        IF (group_.item() == 0) {
            partials.store(group_id(0), partial);
        }
    }
    /// The elements of short vectors. What is stored follows all loads, which therefore need not wait for it.
    elements vectors_of(std::span<const Index> numbers) const {
        std::vector<coordinates> places;
        elements computed;
        for (const Index& number : numbers)
            for (int k = 0; k < plan_.lanes; ++k) {
                places.push_back(element_of_run(number, k, plan_.lanes, plan_.loads_vectors));
                computed.push_back(recorded(places.back(), 1));
            }
        const auto lanes_of_vector = static_cast<std::size_t>(plan_.lanes);
        for (std::size_t first = 0; first < places.size(); first += lanes_of_vector)
            store_vector({&places[first], lanes_of_vector}, {&computed[first], lanes_of_vector});
        elements made;
        for (std::size_t k = 0; k < places.size(); ++k)
            made.push_back(does_.of_element(operands_of(std::move(computed[k])), places[k].flat));
        return made;
    }
    void store_vector(std::span<const coordinates> at, std::span<const values> computed) const {
        for (std::size_t s = 0; s < values_.stored.size(); ++s) {
            const trace::node out = given_[*values_.stored[s].vector];
            values lanes_of_value;
            for (const values& each : computed) lanes_of_value.push_back(each[s]);
            if (is_in_short_vectors(values_.stored[s].vector->type(), at[0]))
                store_in_short_vector(out, lanes_of_value, at[0]);
            else
                for (std::size_t k = 0; k < at.size(); ++k)
                    trace::store(out, at[k].flat, lanes_of_value[k], {});
        }
    }

    // ---- the partial results

    /// Whether the partial results and stored elements of all groups are visible to this one, which is the
    /// last to ask. The counter is in the last slot, 0 before the launch and after it.
    Bool is_last_group() const {
        const Ptr<std::uint32_t> counter(
            trace::reinterpret(given_["slots"], trace::pointer_to(scalar::u32, space::global)));
        const Index place = given("counter") * 2;
        Int is_last = named("is_last", 0);
        barrier();
        IF (group_.item() == 0) {
            device_fence();
            is_last = select(cast<std::int64_t>(atomic_add(counter[place], 1u)) == group_count(0) - 1, 1, 0);
        }
        Bool all_see = barrier_or(is_last != 0);
        IF (all_see) {
            device_fence();
            IF (group_.item() == 0) {
                counter[place] = 0u;
            }
        }
        return all_see;
    }

    /// A lane combines the partial results that are `lane_count` apart; then the lanes are combined as a
    /// tree.
    void record_finish(const slots& partials) const {
        const Int count = named("count", cast<int>(given("partial_count")));
        const Int lane_count = named("lane_count", cast<int>(given("lanes")));
        for (Int lane : named("lane", range(group_.item(), lane_count, group_.items()))) {
            const values own = variables("own", does_.identity());
            const block::strided_walk how{.at_once = plan_.on_cpu() ? 1 : loads_of_finish,
                                          .is_sequential = true};
            accumulate(in_any_order_, own, lane, count, lane_count, how, [&](std::span<const Int> positions) {
                elements all;
                for (const Int& k : positions) all.push_back(partials.load(k));
                return all;
            });
            shared_.store(lane, read(own));
        }
        block::reduce_array(group_, in_any_order_, shared_, lane_count);
        IF (group_.item() == 0) {
            give(plan_.locates ? located(shared_.load(0)) : shared_.load(0));
            record_then();
        }
    }
    /// What the same work-item computes with the results.
    void record_then() const {
        if (values_.stored_then.empty()) return;
        const trace::node first = node_of(Index(0));
        expression_recorder then(values_.p, values_.leaves, given_, first);
        then.skip_until(values_.end_of_elements);
        const values all = then.record_until(values_.p.steps.size());
        for (std::size_t k = 0; k < values_.stored_then.size(); ++k)
            trace::store(given_[*values_.stored_then[k].vector], first, all[k], {});
    }
    /// The state with the first element that equals each extreme, whose position is that of its piece's
    /// begin.
    values located(const values& state) const {
        const Index n = given("n"), piece = given("piece");
        const values result = variables("result", state);
        const std::vector<bool> has_position = does_.have_positions();
        for (std::size_t v = 0; v < state.size(); ++v) {
            if (!has_position[v]) continue;
            Index begin = named("begin", Index(state[v + 1])), end = named("end", min(begin + piece, n));
            for (Index i : named("i", range(begin, end))) {
                const trace::node value = element(i)[v];
                IF (Bool(trace::apply(builtin::equal, value, state[v]))) {
                    trace::write(result[v], value);  // the sign of a zero may be another one
                    trace::write(result[v + 1], node_of(i));
                    break_();
                }
            }
        }
        return read(result);
    }
    void give(const values& state) const {
        const values results = does_.result(state);
        if (!plan_.into_vectors) return slots(given_["slots"], does_.results(), 0).store(0, results);
        for (std::size_t k = 0; k < results.size(); ++k)
            trace::store(given_[{"result", k}], node_of(0), results[k], {});
    }

    const reduction_plan plan_;
    const operations& does_;
    const operations in_pieces_;
    const operations quick_;  ///< in pieces on CPUs, where each comparison costs time
    const bool has_vector_functions_;
    const block::operation in_order_, in_any_order_;
    const reduction_values& values_;
    mutable std::uint32_t next_number_ = std::uint32_t{1}
                                         << 16;  ///< of a statement, beyond those of operands
    trace::recording& r_;
    const parameter_list& given_;
    const block::group group_;
    const block::arrays shared_;  ///< a state for each work-item of a group, or lane of the finish
};

}  // namespace

std::shared_ptr<const ir::function> trace_reduction(trace::recording& r, const parameter_list& given,
                                                    const reduction_plan& plan, const operations& does,
                                                    const reduction_values& values) {
    return recorder(r, given, plan, does, values).traced();
}

}  // namespace balm::array
