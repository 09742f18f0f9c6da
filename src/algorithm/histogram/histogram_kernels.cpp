// Traces the kernel of histograms.

#include "algorithm/histogram/histogram_kernels.hpp"

#include <fmt/format.h>

#include <vector>

#include "algorithm/element_of_run.hpp"
#include "algorithm/histogram/even_bins.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/conversion.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/sync.hpp"
#include "ir/ir.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using block::values;
using trace::node;

class recorder {
public:
    recorder(trace::recording& r, const parameter_list& given, const histogram_plan& plan, const tape& p,
             const layout& leaves)
        : plan_(plan), p_(p), leaves_(leaves), r_(r), given_(given), g_({plan.group, true}) {}

    std::shared_ptr<const ir::function> traced() {
        r_.describe(fmt::format("{}", fmt::join(describe(p_, leaves_, given_), ", ")));
        if (plan_.place == table_place::own)
            record_chunk_of_item();
        else
            record_chunk_of_group();
        return r_.finish(nullptr);
    }

private:
    Index given(parameter_name name) const { return Index(given_[name]); }
    node zero() const { return trace::constant(plan_.sum.element, 0); }

    /// Counts an element in a table: calls add(counter, weight) for each channel whose bin exists.
    template <class Add>
    void count(const values& element, const Add& add) const {
        const node weight = plan_.has_weights
                                ? as_element(element[plan_.channels], plan_.sum)
                                : trace::convert(trace::constant(scalar::i32, 1), plan_.sum.element);
        if (plan_.even != scalar::nothing) return count_number(element[0], weight, add);
        for (std::size_t c = 0; c < plan_.channels; ++c) {
            const Index first = c == 0 ? Index(0) : given("bins") * static_cast<std::int64_t>(c);
            const auto add_in = [&](const Bool& is_there, const Index& bin) {
                if (!plan_.are_checked) return add(first + bin, weight);
                IF (is_there) {
                    add(first + bin, weight);
                }
            };
            // As unsigned numbers, negative ones are beyond all bins, too.
            if (trace::size_of(element[c].type) == 8) {
                const ULong bin(trace::convert(element[c], scalar::u64));
                add_in(bin < cast<std::uint64_t>(given("bins")), cast<std::int64_t>(bin));
            } else {
                const UInt bin(trace::convert(element[c], scalar::u32));
                add_in(is_bin(bin), cast<std::int64_t>(bin));
            }
        }
    }
    Bool is_bin(const UInt& bin) const { return Bool(bin < cast<unsigned>(given("bins"))); }
    /// The exact bin is computed only where the approximate one is not certain, which few elements need.
    template <class Add>
    void count_number(node number, node weight, const Add& add) const {
        with_floating(plan_.even, [&]<class T>(std::type_identity<T>) {
            const Var<T> x(trace::convert(number, plan_.even));
            const approximate_bin found = bin_near<T>(given_, x);
            IF (is_bin(found.bin) && found.is_certain) {
                add(Index(cast<std::int64_t>(found.bin)), weight);
            }
            ELIF (!found.is_certain) {
                const UInt exact = cast<unsigned>(exact_bin<T>(given_, x));
                IF (is_bin(exact)) {
                    add(Index(cast<std::int64_t>(exact)), weight);
                }
            }
        });
    }
    values recorded(const coordinates& place) const { return record(p_, leaves_, given_, place); }
    values recorded(const Index& i) const { return recorded(coordinates(block::node_of(i))); }
    values recorded(const Index& run, int k) const {
        return recorded(element_of_run(run, k, plan_.tile.length, plan_.loads_vectors));
    }

    // ---- CPUs

    void record_chunk_of_item() const {
        const Index chunk = named("chunk", group_id(0)), size = given("size");
        const auto copies = static_cast<std::int64_t>(plan_.copies);
        const Index first = named("first", chunk * (size * copies));
        for (Index k : named("k", range(first, first + size * copies)))
            trace::store(given_["tables"], block::node_of(k), zero(), {});
        const Index begin = named("begin", chunk * given("chunk_size")),
                    end = named("end", min(begin + given("chunk_size"), given("n")));
        const auto add_to = [&](const Index& table) {
            return [this, table](const Index& counter, const node& weight) {
                const node at = block::node_of(table + counter);
                const node sum = trace::apply(builtin::add, trace::load(given_["tables"], at, {}), weight);
                trace::store(given_["tables"], at, as_element(sum, plan_.sum), {});
            };
        };
        const Index whole = named("whole", begin + (end - begin) / copies * copies);
        for (Index i : named("i", range(begin, whole, copies)))
            count_run(i, [&](std::int64_t k) { return add_to(first + size * k); });
        for (Index i : named("i", range(whole, end))) count(recorded(i), add_to(first));
    }

    /// Loads and places all elements before it counts the first one: in vectors, if the compiler can.
    template <class AddTo>
    void count_run(const Index& i, const AddTo& add_to) const {
        std::vector<values> elements;
        elements.reserve(plan_.copies);
        for (std::size_t k = 0; k < plan_.copies; ++k)
            elements.push_back(recorded(i + static_cast<std::int64_t>(k)));
        for (std::size_t k = 0; k < plan_.copies; ++k)
            count(elements[k], add_to(static_cast<std::int64_t>(k)));
    }

    // ---- GPUs

    void record_chunk_of_group() const {
        const bool is_local = plan_.place == table_place::local;
        const std::size_t counters = is_local ? plan_.copies * plan_.room : 1;
        const node table =
            is_local ? trace::object(plan_.sum, counters, space::local, false, {}) : given_["tables"];
        const Int copy =
            plan_.copies > 1 ? named("copy", (g_.item() >> 5) & static_cast<int>(plan_.copies - 1)) : Int(0);
        if (is_local) {
            g_.share_out(static_cast<int>(counters),
                         [&](const Int& k) { trace::store(table, block::node_of(k), zero(), {}); });
            g_.barrier();
        }
        const auto add = [&](const Index& counter, const node& weight) {
            node at = block::node_of(counter);
            if (is_local) at = block::node_of(cast<int>(counter) + copy * static_cast<int>(plan_.room));
            trace::atomic(trace::atomic_op::add, table, at, &weight, 1, {});
        };
        const Index end = given("n"), tile = Index(g_.items()) * plan_.tile.elements();
        Index begin = named("begin", group_id(0) * tile);
        WHILE (begin < end) {
            count_tile(begin, end, add);
            begin += group_count(0) * tile;
        }
        if (!is_local) return;
        g_.barrier();
        const Index size = given("size"), first = named("first", group_id(0) * size);
        for (Int k : named("k", range(g_.item(), cast<int>(size), g_.items()))) {
            node sum = trace::load(table, block::node_of(k), {});
            for (std::size_t c = 1; c < plan_.copies; ++c)
                sum = trace::apply(
                    builtin::add, sum,
                    trace::load(table, block::node_of(k + static_cast<int>(c * plan_.room)), {}));
            trace::store(given_["tables"], block::node_of(first + k), as_element(sum, plan_.sum), {});
        }
    }
    /// Loads all elements of a whole tile before it counts the first one.
    template <class Add>
    void count_tile(const Index& begin, const Index& end, const Add& add) const {
        const auto count_runs = [&](const block::run_numbers& run) {
            block::elements list;
            for (int r = 0; r < plan_.tile.count; ++r)
                for (int k = 0; k < plan_.tile.length; ++k) list.push_back(recorded(run[r], k));
            for (const values& each : list) count(each, add);
        };
        block::visit(g_, plan_.tile, begin, end, count_runs,
                     [&](const Index& i, int) { count(recorded(i), add); });
    }

    const histogram_plan plan_;
    const tape& p_;
    const layout& leaves_;
    trace::recording& r_;
    const parameter_list& given_;
    const block::group g_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_histogram(trace::recording& r, const parameter_list& given,
                                                    const histogram_plan& plan, const tape& p,
                                                    const layout& leaves) {
    return recorder(r, given, plan, p, leaves).traced();
}

}  // namespace balm::array
