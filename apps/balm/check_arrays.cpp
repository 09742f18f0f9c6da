// Checks the floating-point rows of builtins.def in array expressions, where a CPU computes many elements
// with one vector built-in: no result may depend on neighbouring elements. One kernel per row, on shuffled
// operands.

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "array/vector_state.hpp"
#include "balm/context.hpp"
#include "balm/error.hpp"
#include "balm/vector.hpp"
#include "check.hpp"
#include "ir/ir.hpp"

namespace balm::tool {

namespace {

using array::vector_state;

/// Shuffles the operands, so that special and ordinary values are neighbours.
void mix(operands& given, std::mt19937_64& random) {
    std::vector<std::size_t> order(given.a.bits.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    for (column* each : {&given.a, &given.b, &given.c, &given.integer}) {
        std::vector<std::uint64_t> mixed;
        mixed.reserve(order.size());
        for (std::size_t k : order) mixed.push_back(each->bits[k]);
        each->bits = std::move(mixed);
    }
}

/// Columns as vectors on a device.
class vectors {
public:
    vectors(const device& on, const operands& given) : context_({on}) {
        for (const column* each : {&given.a, &given.b, &given.c, &given.integer}) {
            const std::vector<std::byte> bytes = packed(*each);
            states_.push_back(array::make_vector(context_, each->type, each->bits.size()));
            array::write(*states_.back(), 0, bytes.data(), each->bits.size());
        }
    }

    column apply(builtin what) const {
        const std::size_t arity = static_cast<std::size_t>(ir::info(what).arity);
        array::tape expression;
        scalar types[3];
        for (std::size_t k = 0; k < arity; ++k) {
            const auto& operand = takes_integer(what) && k == 1 ? states_[3] : states_[k];
            types[k] = operand->type().element;
            expression.push_vector(operand);
        }
        array::step last;
        last.what = array::step::kind::apply;
        last.type = balm::detail::resolve(what, types, static_cast<int>(arity)).result;
        last.detail = static_cast<std::uint16_t>(what);
        last.arity = static_cast<std::uint16_t>(arity);
        expression.push(last);
        const auto result = array::make_vector(context_, last.type, states_[0]->size());
        array::assign(*result, std::move(expression));
        std::vector<std::byte> bytes(result->size() * size_of(last.type.element));
        array::read(*result, 0, bytes.data(), result->size());
        return unpacked(last.type.element, bytes.data(), result->size());
    }

private:
    context context_;
    std::vector<std::shared_ptr<vector_state>> states_;
};

}  // namespace

std::vector<check> check_arrays(const device& on, const settings& how) {
    std::mt19937_64 random(how.seed);
    std::vector<check> outcomes;
    if (on.info().type != device_type::cpu || how.is_quick)
        return outcomes;  // elsewhere work-items are the lanes
    for (scalar type : {scalar::f32, scalar::f64}) {
        if (type == scalar::f64 && !on.info().has_double) continue;
        operands given(type, how.values, random);
        mix(given, random);
        const vectors columns(on, given);
        for (builtin what : rows_of(type, on.info())) {
            check outcome = new_check(what, type, on.info());
            try {
                outcome = compare_builtin(what, columns.apply(what), given, on.info(), how);
            } catch (const build_error& fault) {
                outcome.fault = fault.what();
            }
            outcome.kind = "array built-in";
            outcomes.push_back(std::move(outcome));
            how.on_steps(steps_of_a_kernel);
        }
    }
    return outcomes;
}

}  // namespace balm::tool
