#include "algorithm/block/tile.hpp"

#include <bit>

#include "balm/dsl/control.hpp"

namespace balm::block {

using namespace dsl;

namespace {

/// The global indices of a work-item's elements.
class indices {
public:
    indices(const group& g, arrangement how, int each, const Index& begin)
        : at_(g, how, each), base_(named("base", begin + at_.first)) {}
    Index operator[](int k) const { return base_ + k * at_.stride; }

private:
    positions at_;
    Index base_;
};

Bool is_whole(const group& g, int each, const Index& begin, const Index& end) {
    return named("is_whole", begin + g.items() * each <= end);
}

}  // namespace

elements load(const group& g, arrangement how, int each, const Index& begin,
              const std::function<values(const Index&)>& at) {
    const indices index(g, how, each, begin);
    elements made;
    for (int k = 0; k < each; ++k) made.push_back(at(index[k]));
    return made;
}

elements load(const group& g, arrangement how, int each, const Index& begin, const Index& end,
              const std::function<values(const Index&)>& at, const values& otherwise) {
    const indices index(g, how, each, begin);
    elements made;
    for (int k = 0; k < each; ++k) made.push_back(variables("element", otherwise));
    IF (is_whole(g, each, begin, end)) {
        for (int k = 0; k < each; ++k) write(made[static_cast<std::size_t>(k)], at(index[k]));
    }
    ELSE {
        for (int k = 0; k < each; ++k) {
            const Index i = index[k];
            IF (i < end) {
                write(made[static_cast<std::size_t>(k)], at(i));
            }
        }
    }
    for (values& each_made : made) each_made = read(each_made);
    return made;
}

void store(const group& g, arrangement how, const elements& list, const Index& begin, const Index& end,
           const std::function<void(const Index&, const values&)>& give) {
    const auto each = static_cast<int>(list.size());
    const indices index(g, how, each, begin);
    IF (is_whole(g, each, begin, end)) {
        for (int k = 0; k < each; ++k) give(index[k], list[static_cast<std::size_t>(k)]);
    }
    ELSE {
        for (int k = 0; k < each; ++k) {
            const Index i = index[k];
            IF (i < end) {
                give(i, list[static_cast<std::size_t>(k)]);
            }
        }
    }
}

run_numbers::run_numbers(const group& g, runs how, const Index& begin)
    : at_(g, arrangement::sub_group_striped, how.count),
      base_(named("base", (begin >> std::countr_zero(static_cast<unsigned>(how.length))) + at_.first)) {}

void visit(const group& g, runs how, const Index& begin, const Index& end,
           const std::function<void(const run_numbers&)>& whole,
           const std::function<void(const Index&, int)>& one) {
    const run_numbers numbers(g, how, begin);
    IF (is_whole(g, how.elements(), begin, end)) {
        whole(numbers);
    }
    ELSE {
        for (int e = 0; e < how.elements(); ++e) {
            const Index i = numbers[e / how.length] * how.length + e % how.length;
            IF (i < end) {
                one(i, e);
            }
        }
    }
}

namespace {

/// Calls of_run(run number, r) for whole runs and one(index, e) for the other elements, where r and e count
/// the work-item's runs and elements.
template <class Run, class One>
void visit_as(end_test test, const group& g, runs how, const Index& begin, const Index& end,
              const Run& of_run, const One& one) {
    if (test == end_test::of_tile) {
        const auto all = [&](const run_numbers& run) {
            for (int r = 0; r < how.count; ++r) of_run(run[r], r);
        };
        return visit(g, how, begin, end, all, one);
    }
    const run_numbers run(g, how, begin);
    for (int r = 0; r < how.count; ++r) {
        const Index first = run[r] * how.length;
        IF (first + how.length <= end) {
            of_run(run[r], r);
        }
        ELSE {
            for (int k = 0; k < how.length; ++k) {
                IF (first + k < end) {
                    one(first + k, r * how.length + k);
                }
            }
        }
    }
}

}  // namespace

elements load(const group& g, runs how, const Index& begin, const Index& end,
              const std::function<values(const Index&, int)>& at_run,
              const std::function<values(const Index&)>& at, const values& otherwise, end_test test) {
    elements made;
    for (int k = 0; k < how.elements(); ++k) made.push_back(variables("element", otherwise));
    const auto set = [&](int e, const values& now) { write(made[static_cast<std::size_t>(e)], now); };
    const auto load_run = [&](const Index& number, int r) {
        for (int k = 0; k < how.length; ++k) set(r * how.length + k, at_run(number, k));
    };
    visit_as(test, g, how, begin, end, load_run, [&](const Index& i, int e) { set(e, at(i)); });
    for (values& each_made : made) each_made = read(each_made);
    return made;
}

void store(const group& g, runs how, const elements& list, const Index& begin, const Index& end,
           const std::function<void(const Index&, const elements&)>& give_run,
           const std::function<void(const Index&, const values&)>& give, end_test test) {
    const auto store_run = [&](const Index& number, int r) {
        const auto from = list.begin() + r * how.length;
        give_run(number, elements(from, from + how.length));
    };
    visit_as(test, g, how, begin, end, store_run,
             [&](const Index& i, int e) { give(i, list[static_cast<std::size_t>(e)]); });
}

void store_vector(const trace::node& pointer, const Index& number, const elements& run, std::size_t value) {
    values scalars;
    for (const values& each : run) scalars.push_back(each[value]);
    if (scalars.size() == 1) return trace::store(pointer, node_of(number), scalars[0], {});
    const trace::type vector(trace::pointee(pointer.type).element, static_cast<std::uint8_t>(scalars.size()));
    const trace::node vectors = trace::reinterpret(pointer, trace::pointer_to(vector, space::global));
    trace::store(vectors, node_of(number), trace::compose(vector, scalars.data(), scalars.size()), {});
}

}  // namespace balm::block
