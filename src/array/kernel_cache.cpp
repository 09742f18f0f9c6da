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
    bool is_tight;      ///< as launch_facts has it
    program structure;  ///< without its vectors
    layout leaves;
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

/// What no kernel in the table has, of those that are for the expression but for one thing.
std::string what_is_new(const table& t, const runtime::device_state& device, purpose what, const program& p,
                        const layout& leaves) {
    const char* words = "its operations and types are new";
    int nearest = 0;
    for (const auto& [hash, e] : t.entries) {
        if (e->what != what || !same_structure(e->structure, p)) continue;
        const bool is_here = e->device_address == &device;
        const auto say = [&](int how_near, const char* what_differs) {
            if (how_near > nearest) words = what_differs;
            nearest = std::max(nearest, how_near);
        };
        if (!e->leaves.repeats_like(leaves))
            say(1, "what it has twice is in other places: a + a is not a + b");
        else if (e->leaves.places.structure() != leaves.places.structure())
            say(2, "its views have other dimensions, or strides of another kind");
        else if (!e->leaves.is_like(leaves))
            say(3, "its targets, or what becomes of its values, differ");
        else if (!is_here)
            say(4, "only other devices have had it");
        else
            say(5, "memory that is not a vector's own, or is, lets it do other things");
    }
    return words;
}

bool is_for(const entry& e, const runtime::device_state& device, purpose what, const program& p,
            const layout& leaves, bool is_tight) {
    return e.device_address == &device && e.what == what && e.is_tight == is_tight &&
           e.leaves.is_like(leaves) && same_structure(e.structure, p) && !e.device.expired();
}

}  // namespace

const cached_kernel* kernel_for(runtime::device_state& device, purpose what, const program& p,
                                const layout& leaves, ir::launch_facts facts,
                                const std::function<std::shared_ptr<const ir::function>()>& trace) {
    const std::uint64_t hash = leaves.hash(structure_hash(p)) ^ reinterpret_cast<std::uintptr_t>(&device) ^
                               static_cast<std::uint64_t>(what) << 56;
    table& t = the_table();
    {
        const std::shared_lock lock(t.mutex);
        const auto [first, last] = t.entries.equal_range(hash);
        for (auto e = first; e != last; ++e)
            if (is_for(*e->second, device, what, p, leaves, facts.is_tight)) return &e->second->kernel;
    }
    const std::string why = [&] {
        const std::shared_lock lock(t.mutex);
        return what_is_new(t, device, what, p, leaves);
    }();
    const std::shared_ptr<const ir::function> traced = trace();
    auto made =
        std::make_unique<entry>(entry{device.weak_from_this(), &device, what, facts.is_tight, p, leaves, {}});
    made->structure.vectors = {};
    made->leaves.vectors = {};
    const ir::lowered plan = ir::lower(kernels::write_out_prints(*traced), facts);
    made->kernel = {kernels::program_for(device, *traced, facts, nullptr, why), plan.elements_per_item,
                    plan.local_size};
    if (traced->has_output) made->kernel.printing = traced;
    const std::unique_lock lock(t.mutex);
    return &t.entries.emplace(hash, std::move(made))->second->kernel;
}

void enqueue(const cached_kernel& kernel, runtime::device_state& device, const runtime::grid& g,
             std::span<const runtime::argument> arguments, std::span<runtime::storage* const> reads,
             std::span<runtime::storage* const> writes) {
    runtime::kernel_lease lease = kernel.program->lease_kernel();
    if (kernel.printing != nullptr) [[unlikely]]
        kernels::enqueue_printing(device.default_queue(), kernel.printing, lease, g, arguments, reads,
                                  writes);
    else
        device.default_queue().enqueue_launch(lease, g, arguments, reads, writes);
}

}  // namespace balm::array
