// One table for the process. A look-up takes a shared lock and compares the structure; nothing is printed or
// hashed as text.

#include "array/kernel_cache.hpp"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "kernel/launch.hpp"
#include "kernel/print_records.hpp"

namespace balm::array {

namespace {

struct entry {
    std::weak_ptr<runtime::device_state> device;
    const runtime::device_state* device_address;
    purpose what;
    scalar into;
    bool is_tight;               ///< as launch_facts has it
    std::int32_t target_number;  ///< of the target among the expression's vectors; -1: it is none of them
    program structure;           ///< without its vectors
    detail::inline_vector<std::uint16_t, 20> number_of_leaf;
    detail::inline_vector<scalar, 10> types;
    cached_kernel kernel;
};

struct table {
    std::shared_mutex mutex;
    std::unordered_multimap<std::uint64_t, std::unique_ptr<entry>> entries;
};
table& the_table() {
    static table& t = *new table;  // outlives every vector, static ones too
    return t;
}

std::int32_t number_of(const vector_state* target, const layout& leaves) {
    const auto found = std::find(leaves.vectors.begin(), leaves.vectors.end(), target);
    return found == leaves.vectors.end() ? -1 : static_cast<std::int32_t>(found - leaves.vectors.begin());
}

bool is_for(const entry& e, const runtime::device_state& device, purpose what, scalar into,
            std::int32_t target, const program& p, const layout& leaves, bool is_tight) {
    return e.device_address == &device && e.what == what && e.into == into && e.target_number == target &&
           e.is_tight == is_tight &&
           std::equal(e.number_of_leaf.begin(), e.number_of_leaf.end(), leaves.number_of_leaf.begin(),
                      leaves.number_of_leaf.end()) &&
           same_structure(e.structure, p) && !e.device.expired();
}

}  // namespace

const cached_kernel* kernel_for(runtime::device_state& device, purpose what, scalar into,
                                const vector_state* target, const program& p, const layout& leaves,
                                ir::launch_facts facts,
                                const std::function<std::shared_ptr<const ir::function>()>& trace) {
    const std::int32_t target_number = number_of(target, leaves);
    const std::uint64_t hash =
        leaves.hash(p.hash) ^ reinterpret_cast<std::uintptr_t>(&device) ^
        (static_cast<std::uint64_t>(what) << 56 | static_cast<std::uint64_t>(into) << 48);
    table& t = the_table();
    {
        const std::shared_lock lock(t.mutex);
        const auto [first, last] = t.entries.equal_range(hash);
        for (auto e = first; e != last; ++e)
            if (is_for(*e->second, device, what, into, target_number, p, leaves, facts.is_tight))
                return &e->second->kernel;
    }
    const std::shared_ptr<const ir::function> traced = trace();
    auto made = std::make_unique<entry>();
    made->device = device.weak_from_this();
    made->device_address = &device;
    made->what = what;
    made->into = into;
    made->is_tight = facts.is_tight;
    made->target_number = target_number;
    made->structure = p;
    made->structure.vectors = {};
    made->number_of_leaf = leaves.number_of_leaf;
    const ir::lowered plan = ir::lower(kernels::write_out_prints(*traced), facts);
    made->kernel = {kernels::program_for(device, *traced, facts), plan.elements_per_item, plan.local_size};
    if (traced->has_output) made->kernel.printing = traced;
    const std::unique_lock lock(t.mutex);
    return &t.entries.emplace(hash, std::move(made))->second->kernel;
}

}  // namespace balm::array
