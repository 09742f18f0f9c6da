// Scans into vectors. Checks the targets. If targets or operands are on several devices, or the expression
// reads a target at positions other than those written, computes in temporary vectors.

#include "balm/scan_into.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "algorithm/scan/scan_request.hpp"
#include "array/map/overlap.hpp"
#include "array/spread/parts.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

constexpr const char* name = "a scan into vectors";

using pointers = std::span<vector_state* const>;

void check_pair(const vector_state& a, const vector_state& b) {
    if (&a == &b || a.overlaps(b))
        throw usage_error(fmt::format(
            "{} has the same vector twice among its targets and carries; use a different one for each",
            name));
}
void check(pointers into, pointers carry, const tape& p, std::size_t n) {
    for (std::size_t k = 0; k < into.size(); ++k) {
        if (into[k]->size() != n)
            throw usage_error(fmt::format("{} of {} elements has a target of {}; the sizes must be equal",
                                          name, n, into[k]->size()));
        check_same_devices(*into[k], *into[0]);
        for (std::size_t j = 0; j < k; ++j) check_pair(*into[j], *into[k]);
    }
    for (std::size_t k = 0; k < carry.size(); ++k) {
        if (carry[k] == nullptr || carry[k]->size() != 1)
            throw usage_error(
                fmt::format("the carry of {} has {} elements; it must be a vector of one element, the value "
                            "that precedes the first one",
                            name, carry[k] == nullptr ? 0 : carry[k]->size()));
        for (std::size_t j = 0; j < k; ++j) check_pair(*carry[j], *carry[k]);
        for (const vector_state* each : into) check_pair(*each, *carry[k]);
        for (const auto& each : p.vectors)
            if (each->overlaps(*carry[k]))
                throw usage_error(fmt::format("{} also reads its carry; use another vector", name));
    }
}

/// Temporary vectors on one device in place of others.
class temporaries {
public:
    temporaries(pointers of, const std::shared_ptr<runtime::device_state>& on) : of_(of) {
        for (const vector_state* each : of) {
            made_.push_back(std::make_shared<vector_state>(on, each->type(), each->size()));
            all_.push_back(made_.back().get());
        }
    }
    pointers all() const { return all_; }
    void fetch() const {
        for (std::size_t k = 0; k < of_.size(); ++k) copy_elements(*all_[k], 0, *of_[k], 0, of_[k]->size());
    }
    void give() const {
        for (std::size_t k = 0; k < of_.size(); ++k) copy_elements(*of_[k], 0, *all_[k], 0, of_[k]->size());
    }

private:
    pointers of_;
    std::vector<std::shared_ptr<vector_state>> made_;
    std::vector<vector_state*> all_;
};

}  // namespace

void scan_into(vector_state* const* into, vector_state* const* carry, tape&& p, const reduction* first,
               std::size_t count, bool is_inclusive) {
    materialise(p);
    store_slow_values(p);
    const std::size_t n = element_count(p);
    const pointers targets(into, count), carries(carry, carry != nullptr ? count : 0);
    check(targets, carries, p, n);
    if (n == 0) return;
    const tape here = on_first_device(p);
    const std::shared_ptr<runtime::device_state>& device = device_of(here);
    const auto is_here = [&](const vector_state* each) {
        return !each->is_spread() && &each->device() == device.get();
    };
    for (const vector_state* each : targets)
        if (!is_spread(p) && !is_here(each))
            throw usage_error(
                fmt::format("{} of elements on {} has a target on {}; both must be on the same device", name,
                            device->words(), each->device().words()));
    std::vector<target> places;
    for (vector_state* each : targets) places.push_back({each});
    const bool is_elsewhere = !std::all_of(targets.begin(), targets.end(), is_here);
    const bool is_aside = is_elsewhere || needs_temporary(here, places, box_of(here));
    const bool is_carry_aside = !std::all_of(carries.begin(), carries.end(), is_here);
    const temporaries made(is_aside ? targets : pointers(), device),
        carried(is_carry_aside ? carries : pointers(), device);
    carried.fetch();
    run({here,
         {first, count},
         is_aside ? made.all() : targets,
         is_inclusive,
         {},
         0,
         is_carry_aside ? carried.all() : carries});
    made.give();
    carried.give();
}

}  // namespace balm::array
