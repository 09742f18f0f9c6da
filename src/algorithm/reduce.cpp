// sum, min, max: one kernel reduces parts of the expression, the host the parts' results. On a GPU a grid
// that fills the device walks the elements with several loads in flight, and each work-group reduces in local
// memory; on a CPU a work-item takes one contiguous chunk with several accumulators, which the compiler makes
// a vector of.

#include "balm/reduce.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <span>

#include "array/kernel_cache.hpp"
#include "array/layout.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/error.hpp"
#include "ir/with_type.hpp"
#include "kernel/launch.hpp"
#include "kernel/print_records.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;

template <class T>
T identity(reduction how) {
    using limits = std::numeric_limits<T>;
    if (how == reduction::sum) return T{};
    if constexpr (std::floating_point<T>)
        return limits::quiet_NaN();  // passed over, unless there is nothing else
    else
        return how == reduction::min ? limits::max() : limits::lowest();
}

template <class T>
Var<T> combine(reduction how, const Var<T>& a, const Var<T>& b) {
    if (how == reduction::sum) return cast<T>(a + b);
    return how == reduction::min ? cast<T>(min(a, b)) : cast<T>(max(a, b));
}

template <class T>
T combine_on_host(reduction how, T a, T b) {
    if (how == reduction::sum) return static_cast<T>(a + b);
    if constexpr (std::floating_point<T>)
        return how == reduction::min ? std::fmin(a, b) : std::fmax(a, b);
    else
        return how == reduction::min ? std::min(a, b) : std::max(a, b);
}

/// How a device kind shares out a reduction. Measured where the figures in docs/performance.md are from.
struct strategy {
    bool on_cpu;
    std::size_t local_size;
    std::size_t accumulators;  ///< a work-item: loads in flight on a GPU, vector lanes on a CPU
};
constexpr strategy gpu_strategy{false, 256, 4};
constexpr strategy cpu_strategy{true, 1, 16};
constexpr std::size_t groups_per_compute_unit = 8;  // of 256 work-items: the H100's 2,048 a multiprocessor
constexpr std::size_t chunk_elements = 32768;  // 36 GB/s at two cores (PoCL 3.1); 2 % less at 8 k and 128 k
constexpr std::size_t most_parts = 4096;

std::size_t parts_for(const strategy& s, const device_info& device, std::size_t n) {
    if (s.on_cpu) return std::min(most_parts, (n - 1) / chunk_elements + 1);
    const std::size_t groups = std::max<std::size_t>(device.compute_units, 1) * groups_per_compute_unit;
    return std::min({most_parts, groups, (n - 1) / (s.local_size * s.accumulators) + 1});
}

/// The state of one work-item: accumulators, and how an element enters one.
template <class T>
class accumulation {
public:
    accumulation(reduction how, std::size_t count, std::function<Var<T>(const Index&)> element)
        : how_(how), element_(std::move(element)) {
        sums_.reserve(count);  // growing would copy device variables, which is recorded
        for (std::size_t k = 0; k < count; ++k)
            sums_.emplace_back(named(names[static_cast<int>(how)], identity<T>(how)).node());
    }
    std::size_t count() const { return sums_.size(); }
    void take(std::size_t k, const Index& i) { sums_[k] = combine(how_, sums_[k], element_(i)); }
    /// All accumulators in one, pairwise.
    Var<T> total() const { return total(0, count()); }

private:
    static constexpr const char* names[] = {"sum", "least", "most"};

    Var<T> total(std::size_t first, std::size_t count) const {
        if (count == 1) return sums_[first];
        return combine(how_, total(first, count / 2), total(first + count / 2, count / 2));
    }

    reduction how_;
    std::function<Var<T>(const Index&)> element_;
    std::vector<Var<T>> sums_;
};

/// One work-item, one chunk of consecutive elements.
template <class T>
void record_chunk(const Index& n, accumulation<T>& sums, const Out<T>& parts) {
    const auto width = static_cast<std::int64_t>(sums.count());
    Index chunk = named("chunk", (n + group_count(0) - 1) / group_count(0));
    Index begin = named("begin", group_id(0) * chunk), end = named("end", min(begin + chunk, n));
    Index whole = named("whole", begin + max(end - begin, 0) / width * width);
    for (Index i : range(begin, whole, width))
        for (std::int64_t k = 0; k < width; ++k) sums.take(static_cast<std::size_t>(k), i + k);
    for (Index i : range(whole, end)) sums.take(0, i);
    parts[group_id(0)] = sums.total();
}

/// A grid of work-items, each taking elements a grid apart; then a tree in local memory.
template <class T>
void record_grid(reduction how, const Index& n, accumulation<T>& sums, const Out<T>& parts,
                 const Local<T>& shared) {
    const auto turns = static_cast<std::int64_t>(sums.count());
    Index stride = named("stride", global_size(0)), i = named("i", global_id(0));
    WHILE (i + (turns - 1) * stride < n) {
        for (std::int64_t k = 0; k < turns; ++k) sums.take(static_cast<std::size_t>(k), i + k * stride);
        i += turns * stride;
    }
    WHILE (i < n) {
        sums.take(0, i);
        i += stride;
    }
    Index lid = named("lid", local_id(0)), width = named("width", local_size(0) / 2);
    shared[lid] = sums.total();
    WHILE (width > 0) {
        local_barrier();
        IF (lid < width) {
            shared[lid] = combine(how, Var<T>(shared[lid]), Var<T>(shared[lid + width]));
        }
        width /= 2;
    }
    IF (lid == 0) {
        parts[group_id(0)] = shared[0];
    }
}

template <class T>
std::shared_ptr<const ir::function> trace_reduction(reduction how, const strategy& s, const program& p,
                                                    const layout& leaves) {
    constexpr const char* names[] = {"sum", "min", "max"};
    const std::string name = std::string("reduce_") + names[static_cast<int>(how)];
    trace::recording r(
        name + "(n, parts" + (s.on_cpu ? "" : ", shared") + parameter_names(p, leaves, nullptr) + ")", 1, {});
    r.describe(std::string(names[static_cast<int>(how)]) + "(" + describe(p, leaves, nullptr) + ")");
    const Index n(r.parameter(scalar::i64, trace::access::value));
    const Out<T> parts(r.parameter(scalar_of<T>, trace::access::out));
    const trace::node shared = s.on_cpu ? trace::node{} : r.parameter(scalar_of<T>, trace::access::local);
    const bound_leaves nodes = declare(r, p, leaves, nullptr, {});
    accumulation<T> sums(how, s.accumulators, [&](const Index& i) {
        return Var<T>(trace::convert(record(p, leaves, nodes, trace::read(i.node())), scalar_of<T>));
    });
    if (s.on_cpu)
        record_chunk(n, sums, parts);
    else
        record_grid(how, n, sums, parts, Local<T>(shared));
    return r.finish(nullptr);
}

template <class T>
std::uint64_t reduce_as(reduction how, const program& p) {
    const std::size_t n = element_count(p);
    if (n == 0) {
        if (how != reduction::sum) throw usage_error("the smallest or largest of no elements is asked for");
        return 0;
    }
    const std::shared_ptr<runtime::device_state>& device = device_of(p);
    const layout leaves(p);
    const ir::launch_facts facts = kernels::facts_for(*device);
    const strategy& s = facts.on_cpu ? cpu_strategy : gpu_strategy;
    constexpr purpose purposes[] = {purpose::sum, purpose::min, purpose::max};
    const cached_kernel& kernel =
        *kernel_for(*device, purposes[static_cast<int>(how)], scalar_of<T>, nullptr, p, leaves, facts, [&] {
            if (facts.on_cpu && kernels::compilations_are_observed())
                kernels::report_compilation(*trace_reduction<T>(how, gpu_strategy, p, leaves), {});
            return trace_reduction<T>(how, s, p, leaves);
        });

    const std::size_t parts = parts_for(s, device->info(), n);
    runtime::grid g;
    g.local[0] =
        std::bit_floor(std::min(s.local_size, kernel.program->max_work_group_size()));  // the tree halves it
    g.global[0] = parts * g.local[0];
    const std::shared_ptr<runtime::storage> results =
        device->allocate(most_parts * sizeof(T), {"reduction parts"});
    std::vector<runtime::argument> arguments{argument_of(scalar::i64, n), argument_of(*results)};
    if (!s.on_cpu) {
        runtime::argument local;
        local.what = runtime::argument::kind::local;
        local.size = static_cast<std::uint32_t>(g.local[0] * sizeof(T));
        arguments.push_back(local);
    }
    append_arguments(p, leaves, nullptr, arguments);
    std::vector<runtime::storage*> reads;
    append_reads(p, leaves, reads);
    runtime::storage* const writes[] = {results.get()};
    {
        runtime::kernel_lease lease = kernel.program->lease_kernel();
        if (kernel.printing != nullptr) [[unlikely]]
            kernels::enqueue_printing(device->default_queue(), kernel.printing, lease, g, arguments, reads,
                                      writes);
        else
            device->default_queue().enqueue_launch(lease, g, arguments, reads, writes);
    }
    T values[most_parts];
    device->default_queue().read(values, *results, 0, parts * sizeof(T));
    for (std::size_t count = parts; count > 1; count = (count + 1) / 2)
        for (std::size_t k = 0; k < count / 2; ++k)
            values[k] = combine_on_host(how, values[k], values[count - 1 - k]);
    return dsl::detail::bits_of(values[0]);
}

}  // namespace

std::uint64_t reduce(reduction how, program&& p, scalar result) {
    return ir::with_type(result, [&]<class T>(std::type_identity<T>) { return reduce_as<T>(how, p); });
}

}  // namespace balm::array
