// Traces the kernels of reductions.

#include "algorithm/reduce/reduce_kernels.hpp"

#include <algorithm>
#include <optional>

#include "algorithm/reduce/reduce_states.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

slot_layout::slot_layout(const std::vector<trace::type>& types) {
    std::size_t widest = 1;
    for (const trace::type& each : types) {
        const std::size_t slots = std::max<std::size_t>(trace::size_of(each) / 8, 1);
        const std::size_t aligned = std::max<std::size_t>(trace::alignment_of(each) / 8, 1);
        count = (count + aligned - 1) / aligned * aligned;
        first.push_back(count);
        count += slots;
        widest = std::max(widest, aligned);
    }
    count = (count + widest - 1) / widest * widest;
}

namespace {

using namespace balm::dsl;

static_assert(finish_lanes <= reduction_group);
constexpr std::int64_t lanes = reduction_lanes;
constexpr std::int64_t run = run_elements;
constexpr std::int64_t block = 32 * run;
/// Terms that a work-item of a grid adds one after the other, each of as many elements as it loads at once.
constexpr std::int64_t grid_run = 64;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const reduction_plan& plan,
             const operations& does, const tape& p, const layout& leaves)
        : plan_(plan), does_(does), quick_(quick_in(1)), p_(p), leaves_(leaves), r_(r), given_(given) {}

    std::shared_ptr<const ir::function> traced() {
        const slots parts(given_["slots"], does_.state(), slot_layout(does_.results()).count);
        if (!plan_.on_cpu())
            shared_.emplace("shared", does_, reduction_group, space::local);
        else if (plan_.has_finish())
            shared_.emplace("lanes", does_, finish_lanes, space::private_);
        if (plan_.has_parts()) {
            std::string words;
            for (const std::string& each : describe(p_, leaves_, given_))
                words += (words.empty() ? "" : ", ") + each;
            r_.describe(words);
            switch (plan_.shape) {
                case reduction_shape::pieces_an_item: record_pieces_of_item(parts); break;
                case reduction_shape::pieces_a_group: record_pieces_of_group(parts); break;
                case reduction_shape::grid: record_grid(parts); break;
            }
        }
        if (plan_.stage == reduction_stage::whole && !plan_.on_cpu()) barrier();
        if (plan_.has_finish()) record_finish(parts);
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }

    operations quick_in(int lanes_there) const {
        return does_.with({does_.style().exact_order, true, lanes_there});
    }
    /// The state of element i, or of the elements from i on in lanes.
    nodes element(const operations& does, const Index& i) const {
        const trace::node at = index_of(i);
        return does.of_element(record(p_, leaves_, given_, at, does.style().lanes), at);
    }
    nodes element(const Index& i) const { return element(does_, i); }

    // ---- a work-item has all lanes

    void record_pieces_of_item(const slots& parts) {
        const Index n = given("n"), piece = given("piece"), count = given("part_count");
        const Index own = given("pieces_an_item");
        Index first = named("first", group_id(0) * own), last = named("last", min(first + own, count));
        for (Index part : named("part", range(first, last))) {
            Index begin = named("begin", part * piece), end = named("end", min(begin + piece, n));
            const nodes found =
                plan_.in_vectors ? of_piece<vectors>(begin, end) : of_piece<arrays>(begin, end);
            parts.store(part, does_.have_extremes() ? without_doubt(found, begin, end) : found);
        }
    }
    /// Extremes that may be of nothing but NaN are found anew, as slowly as it takes.
    nodes without_doubt(const nodes& found, const Index& begin, const Index& end) const {
        const nodes result = variables("result", found);
        IF (Bool(quick_.is_doubtful(found))) {
            const nodes sure = variables("sure", does_.identity());
            for (Index i : named("i", range(begin, end)))
                write(sure, does_.combined(read(sure), element(does_, i), true));
            const std::vector<bool> extreme = does_.are_extremes();
            for (std::size_t v = 0; v < sure.size(); ++v)
                if (extreme[v]) trace::write(result[v], trace::read(sure[v]));
        }
        return read(result);
    }

    /// The states of all lanes in two variables of 16 each, for what can be computed in lanes.
    class vectors {
    public:
        static constexpr int width = reduction_lanes / 2;
        vectors(const char* word, const recorder& in) : in_(in), does_(in.quick_in(width)) {
            for (nodes& half : halves_) half = variables(word, does_.identity());
        }
        void take_row(const Index& row) const {
            for (int h = 0; h < 2; ++h) take(h, in_.element(does_, row + width * h));
        }
        /// The first lanes take an element each.
        void take_rest(const Index& begin, const Index& count) const {
            IF (count > 0) {
                nodes memory, pointers;
                for (std::size_t v = 0; v < does_.state().size(); ++v) {
                    const trace::type own = does_.state()[v];
                    memory.push_back(trace::object(own, 2, space::private_, false, {}));
                    pointers.push_back(
                        trace::reinterpret(memory[v], trace::pointer_to(own.element, space::private_)));
                    for (int h = 0; h < 2; ++h)
                        trace::store(memory[v], half(h), trace::read(halves_[h][v]), {});
                }
                const state_array lane(pointers);
                for (Index k : named("lane", range(count)))
                    lane.store(k,
                               in_.quick_.combined(lane.load(k), in_.element(in_.quick_, begin + k), true));
                for (std::size_t v = 0; v < memory.size(); ++v)
                    for (int h = 0; h < 2; ++h)
                        trace::write(halves_[h][v], trace::load(memory[v], half(h), {}));
            }
        }
        void take_states(const vectors& later) const {
            for (int h = 0; h < 2; ++h) take(h, read(later.halves_[h]));
        }
        nodes halved() const {
            nodes state = does_.combined(read(halves_[0]), read(halves_[1]), false);
            for (int lanes_left = width / 2; lanes_left > 0; lanes_left /= 2)
                state = in_.quick_in(lanes_left)
                            .combined(part(state, 0, lanes_left), part(state, lanes_left, lanes_left), false);
            return state;
        }

    private:
        static trace::node half(int h) { return trace::constant(scalar::i32, static_cast<std::uint64_t>(h)); }
        static nodes part(const nodes& state, int first, int count) {
            std::uint64_t order = 0;
            for (int k = count; k-- > 0;) order = order << 4 | static_cast<std::uint64_t>(first + k);
            nodes made;
            for (const trace::node& each : state) made.push_back(trace::swizzle(each, order, count));
            return made;
        }
        void take(int h, const nodes& values) const {
            write(halves_[h], does_.combined(read(halves_[h]), values, true));
        }

        const recorder& in_;
        operations does_;
        nodes halves_[2];
    };

    /// The states of all lanes in arrays, for everything else.
    class arrays {
    public:
        arrays(const char* word, const recorder& in)
            : in_(in), states_(word, in.quick_, reduction_lanes, space::private_) {
            each_lane([&](const Index& k) { states_.store(k, in_.quick_.identity()); });
        }
        void take_row(const Index& row) const {
            if (!is_cheaper_in_fours(in_.p_))
                return each_lane([&](const Index& k) { take(k, in_.element(in_.quick_, row + k)); });
            Index first = named("first_four", row >> 2);
            for (Index four : named("four", range(Index(lanes / 4))))
                for (std::int64_t k = 0; k < 4; ++k)
                    take(four * 4 + k, in_.element(in_.quick_, (first + four) * 4 + k));
        }
        void take_rest(const Index& begin, const Index& count) const {
            for (Index k : named("lane", range(count))) take(k, in_.element(in_.quick_, begin + k));
        }
        void take_states(const arrays& later) const {
            each_lane([&](const Index& k) { take(k, later.states_.load(k)); });
        }
        nodes halved() const {
            for (std::int64_t width = lanes / 2; width > 0; width /= 2)
                for (Index k : named("lane", range(Index(width))))
                    states_.store(k, in_.quick_.combined(states_.load(k), states_.load(k + width), false));
            return states_.load(0);
        }

    private:
        template <class F>
        static void each_lane(F&& f) {
            for (Index k : named("lane", range(Index(lanes)))) f(k);
        }
        void take(const Index& k, const nodes& values) const {
            states_.store(k, in_.quick_.combined(states_.load(k), values, true));
        }

        const recorder& in_;
        state_array states_;
    };

    template <class States>
    nodes of_piece(const Index& begin, const Index& end) const {
        const States total("total", *this);
        if (does_.depend_on_order())
            for (Index from : named("block", range(begin, end, block)))
                record_block(total, from, named("block_end", min(from + block, end)));
        else
            record_rows(total, begin, end);
        return total.halved();
    }
    template <class States>
    void record_block(const States& total, const Index& begin, const Index& end) const {
        const States sum("of_block", *this);
        for (Index from : named("run", range(begin, end, run))) {
            const States own("of_run", *this);
            record_rows(own, from, named("run_end", min(from + run, end)));
            sum.take_states(own);
        }
        total.take_states(sum);
    }
    template <class States>
    void record_rows(const States& into, const Index& begin, const Index& end) const {
        Index whole = named("whole", begin + (end - begin) / lanes * lanes);
        for (Index row : named("row", range(begin, whole, lanes))) into.take_row(row);
        into.take_rest(whole, end - whole);
    }

    // ---- a work-item has a lane

    static constexpr std::int64_t rows_at_once = 8;  // loads in flight

    void record_pieces_of_group(const slots& parts) {
        const state_array& shared = *shared_;
        const Index n = given("n"), piece = given("piece"), count = given("part_count");
        Index item = named("item", local_id(0)), lane = named("lane", item & (lanes - 1));
        Index part = named("part", global_id(0) / lanes);
        Index begin = named("begin", part * piece), end = named("end", min(begin + piece, n));
        const nodes total = variables("total", does_.identity());
        for (Index from : named("block", range(begin, end, block))) {
            const nodes sum = variables("of_block", does_.identity());
            Index block_end = named("block_end", min(from + block, end));
            for (Index first : named("run", range(from, block_end, run))) {
                const nodes own = variables("of_run", does_.identity());
                record_run_of_lane(own, lane, first, block_end);
                write(sum, does_.combined(read(sum), read(own), true));
            }
            write(total, does_.combined(read(total), read(sum), true));
        }
        halve(shared, item, lane, read(total), Index(lanes / 2));
        IF (lane == 0 && part < count) {
            parts.store(part, shared.load(item));
        }
    }
    void record_run_of_lane(const nodes& own, const Index& lane, const Index& first, const Index& end) const {
        const auto take_row = [&](const Index& i) {
            write(own, does_.combined(read(own), element(i), true));
        };
        IF (first + run <= end) {
            for (Index row : named("row", range(first + lane, first + run, rows_at_once * lanes)))
                for (std::int64_t k = 0; k < rows_at_once; ++k) take_row(row + k * lanes);
        }
        ELSE {
            for (Index i : named("i", range(first + lane, end, lanes))) take_row(i);
        }
    }
    /// The work-items' values become one, in shared[item] of each whose number `among` others is 0.
    void halve(const state_array& shared, const Index& item, const Index& among, const nodes& own,
               const Index& half) const {
        shared.store(item, own);
        Index width = named("width", half);
        WHILE (width > 0) {
            local_barrier();
            IF (among < width) {
                shared.store(item, does_.combined(shared.load(item), shared.load(item + width), false));
            }
            width /= 2;
        }
    }

    // ---- work-items take short vectors a grid apart, or single elements

    void record_grid(const slots& parts) {
        const state_array& shared = *shared_;
        const Index n = given("n");
        const auto at_once = static_cast<std::int64_t>(plan_.at_once) / plan_.lanes;
        Index item = named("item", local_id(0)), stride = named("stride", global_size(0));
        Index i = named("i", global_id(0)), reach = named("reach", (at_once - 1) * stride);
        Index whole = named("whole", n / Index(plan_.lanes));
        const nodes total = variables("total", does_.identity());
        const auto take = [&](const nodes& into, std::size_t count) {
            write(into, does_.combined(read(into), several(i, stride, 0, count), true));
        };
        const auto take_several = [&](const nodes& into) {
            take(into, plan_.at_once);
            i += at_once * stride;
        };
        if (does_.depend_on_order()) {
            WHILE (i + reach < whole) {
                const nodes own = variables("of_run", does_.identity());
                Index end = named("run_end", min(i + grid_run * at_once * stride, whole));
                WHILE (i + reach < end) take_several(own);
                write(total, does_.combined(read(total), read(own), true));
            }
        } else {
            WHILE (i + reach < whole) take_several(total);
        }
        WHILE (i < whole) {
            take(total, static_cast<std::size_t>(plan_.lanes));
            i += stride;
        }
        if (plan_.lanes > 1) {
            Index last = named("last", whole * plan_.lanes + Index(global_id(0)));
            IF (last < n) {
                write(total, does_.combined(read(total), element(last), true));
            }
        }
        halve(shared, item, item, read(total), local_size(0) / 2);
        IF (item == 0) {
            parts.store(group_id(0), shared.load(0));
        }
    }
    /// The elements of vectors i + k stride, pairwise.
    nodes several(const Index& i, const Index& stride, std::size_t first, std::size_t count) const {
        if (count == 1) return lane(i, stride, static_cast<std::int64_t>(first));
        const nodes a = several(i, stride, first, count / 2);
        return does_.combined(a, several(i, stride, first + count / 2, count / 2), true);
    }

    nodes lane(const Index& i, const Index& stride, std::int64_t k) const {
        const std::int64_t width = plan_.lanes;
        const Index number = i + k / width * stride;
        coordinates at(index_of(number * width + k % width));
        if (plan_.loads_vectors) at.vector = {index_of(number), static_cast<int>(k % width), plan_.lanes};
        return does_.of_element(record(p_, leaves_, given_, at), at.flat);
    }

    // ---- the parts

    /// Lanes take the parts that are as many as they apart, and are halved.
    void record_finish(const slots& parts) {
        const state_array& states = *shared_;
        const Index count = given("part_count"), lanes_there = given("lanes");
        Index item = named("item", local_id(0)), items = named("items", local_size(0));
        for (Index lane : named("lane", range(item, lanes_there, items))) {
            const nodes own = variables("own", does_.identity());
            Index part(lane);
            WHILE (part < count) {
                write(own, does_.combined(read(own), parts.load(part), false));
                part += lanes_there;
            }
            states.store(lane, read(own));
        }
        Index width = named("width", lanes_there / 2);
        WHILE (width > 0) {
            if (!plan_.on_cpu()) local_barrier();
            for (Index lane : named("lane", range(item, width, items)))
                states.store(lane, does_.combined(states.load(lane), states.load(lane + width), false));
            width /= 2;
        }
        IF (item == 0) {
            give(states.load(0));
        }
    }
    void give(const nodes& state) {
        const nodes results = does_.result(state);
        if (!plan_.into_vectors) return slots(given_["slots"], does_.results(), 0).store(0, results);
        for (std::size_t k = 0; k < results.size(); ++k)
            trace::store(given_[{"result", k}], trace::constant(scalar::i32, 0), results[k], {});
    }

    const reduction_plan plan_;
    const operations& does_;
    const operations quick_;  ///< for CPUs, where each comparison shows
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    std::optional<state_array> shared_;  ///< a state for each work-item of a group, or lane of the finish
};

}  // namespace

std::shared_ptr<const ir::function> trace_reduction(trace::recording& r, const parameter_list& given,
                                                    const reduction_plan& plan, const operations& does,
                                                    const tape& p, const layout& leaves) {
    return recorder(r, given, plan, does, p, leaves).traced();
}

}  // namespace balm::array
