// Traces the kernels that search for splitters.

#include "algorithm/sort/splitter_kernels.hpp"

#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/dsl/pointer.hpp"
#include "ir/ir.hpp"

namespace balm::array {

namespace {

using block::values;
using dsl::Bool;
using dsl::global_id;
using dsl::Index;
using dsl::named;
using dsl::Ptr;

class splitter_recorder {
public:
    splitter_recorder(trace::recording& r, const parameter_list& given, const splitter_plan& plan,
                      const comparison& is_ahead)
        : plan_(plan), order_(plan_.keys, is_ahead), r_(r), given_(given) {}

    std::shared_ptr<const ir::function> traced() {
        const Index k = named("k", global_id(0));
        IF (k < Index(given_["count"])) {
            if (plan_.stage == splitter_stage::pick)
                arrays("pivots").store(k, arrays("keys").load(Index(table()[k])));
            else
                rank(k);
        }
        return r_.finish(nullptr);
    }

private:
    block::arrays arrays(const char* word) const {
        values pointers;
        for (std::size_t k = 0; k < plan_.keys.types.size(); ++k) pointers.push_back(given_[{word, k}]);
        return block::arrays(std::move(pointers));
    }
    Ptr<std::int64_t> table() const { return Ptr<std::int64_t>(given_["table"]); }

    void rank(const Index& k) const {
        const Ptr<std::int64_t> own = table() + k * numbers_of_pivot;
        const values pivot = order_.numbers_of(arrays("pivots").load(k));
        const Bool takes_equal = named("takes_equal", own[2] != std::int64_t{0});
        Index low = named("low", Index(own[0])), high = named("high", Index(own[1]));
        WHILE (low < high) {
            const Index middle = named("middle", (low + high) >> 1);
            const values element = order_.numbers_of(arrays("keys").load(middle));
            const Bool is_ahead =
                dsl::select(takes_equal, !order_.are_ahead(pivot, element), order_.are_ahead(element, pivot));
            IF (is_ahead) {
                low = middle + 1;
            }
            ELSE { high = middle; }
        }
        own[0] = low;
    }

    const splitter_plan plan_;
    const key_comparison order_;
    trace::recording& r_;
    const parameter_list& given_;
};

}  // namespace

std::shared_ptr<const ir::function> trace_splitters(trace::recording& r, const parameter_list& given,
                                                    const splitter_plan& plan, const comparison& is_ahead) {
    return splitter_recorder(r, given, plan, is_ahead).traced();
}

}  // namespace balm::array
