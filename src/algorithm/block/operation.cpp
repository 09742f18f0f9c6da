#include "algorithm/block/operation.hpp"

#include "balm/dsl/control.hpp"

namespace balm::block {

operation sums(scalar type, std::size_t count) {
    const auto combined = [](const values& first, const values& second) {
        values made;
        for (std::size_t k = 0; k < first.size(); ++k)
            made.push_back(trace::apply(builtin::add, first[k], second[k]));
        return made;
    };
    return {combined, [type, count] { return values(count, trace::constant(type, 0)); }};
}

void accumulate(const operation& does, const values& variables, const values& more) {
    write(variables, does.combined(read(variables), more));
}

operation segmented(const operation& does) {
    const auto combined = [does](const values& first, const values& second) {
        const values own(second.begin() + 1, second.end());
        const values result = variables("of_segment", own);
        IF (!Bool(trace::read(second[0]))) {
            write(result, does.combined(values(first.begin() + 1, first.end()), own));
        }
        return joined({trace::apply(builtin::bit_or, first[0], second[0])}, read(result));
    };
    const auto identity = [does] { return joined({trace::constant(scalar::boolean, 0)}, does.identity()); };
    return {combined, identity};
}

}  // namespace balm::block
