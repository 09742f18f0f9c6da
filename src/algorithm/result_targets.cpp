#include "algorithm/result_targets.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "balm/error.hpp"

namespace balm::array {

namespace {

void check_one(const vector_state* target, const result_targets& all) {
    if (target == nullptr)
        throw usage_error(fmt::format(
            "{} got a target that has no device; make it with an element for each possible result",
            all.name));
    if (target->is_spread() || &target->device() != &all.device)
        throw usage_error(
            fmt::format("{} of elements on {} has a target on {}; both must be on the same device", all.name,
                        all.device.words(), target->device().words()));
    for (const vector_state* each : all.read)
        if (each->overlaps(*target))
            throw usage_error(
                fmt::format("{} has a target that it also reads; use another vector", all.name));
}
void check_apart(const vector_state& a, const vector_state& b, const char* name) {
    if (&a == &b || a.overlaps(b)) throw usage_error(fmt::format("{} has the same target twice", name));
}

}  // namespace

void check(const result_targets& all) {
    for (std::size_t k = 0; k < all.into.size(); ++k) {
        check_one(all.into[k], all);
        const vector_state& each = *all.into[k];
        if (each.size() != all.into[0]->size())
            throw usage_error(fmt::format("{} has targets of {} and {} elements; their sizes must be equal",
                                          all.name, all.into[0]->size(), each.size()));
        for (std::size_t j = 0; j < k; ++j) check_apart(*all.into[j], each, all.name);
    }
}

void check_count(const vector_state* count, const result_targets& all) {
    check_one(count, all);
    if (count->size() != 1)
        throw usage_error(
            fmt::format("the target for the count of {} has {} elements; it must be a vector of one element",
                        all.name, count->size()));
    for (const vector_state* each : all.into) check_apart(*count, *each, all.name);
}

}  // namespace balm::array
