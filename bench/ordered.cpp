// Merges, set operations and top-k selections: on GPUs against Thrust, CUB and a copy; on CPUs against std::
// with OpenMP. Merges and set operations write to existing vectors.

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "balm/merge.hpp"
#include "balm/set_operations.hpp"
#include "balm/top_k.hpp"
#include "peer_cuda.hpp"
#include "peer_ordered.hpp"
#include "support/compare_work.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;
using peer::ordered;

constexpr double bar = 1.0;
constexpr int calls = 10;
constexpr std::size_t first_elements = 100;

/// Element i of sorted array 0 or 1, as in peer::sorted_element.
auto sorted_elements(std::size_t n, std::uint32_t array) {
    const auto i = balm::cast<std::uint32_t>(balm::element_index(0, n));
    return 2u * i + (((i ^ array * 0x55555555u) * 2654435769u) >> 31u);
}

struct problem {
    ordered what;
    std::size_t n;
    balm::vector<std::uint32_t> a, b, to;
    balm::vector<float> x, y, z;
    balm::vector<std::int64_t> count;
    balm::top_elements<float> first;

    problem(const balm::context& where, std::size_t size, ordered asked)
        : what(asked), n(size), x(where, has_floats() ? n : 0), count(where, 1) {
        if (has_floats()) {
            const auto hash = balm::cast<std::uint32_t>(balm::element_index()) * 2654435769u;
            x = balm::cast<float>(hash) * 2.3283064e-10f;
        }
        if (what == ordered::top_k) return;
        for (balm::vector<std::uint32_t>* each : {&a, &b}) *each = balm::vector<std::uint32_t>(where, n);
        to = balm::vector<std::uint32_t>(where, 2 * n);
        a = sorted_elements(n, 0);
        b = sorted_elements(n, 1);
        if (what != ordered::merge_by_key) return;
        y = balm::vector<float>(where, n);
        z = balm::vector<float>(where, 2 * n);
        y = -x;
    }
    bool has_floats() const { return what == ordered::merge_by_key || what == ordered::top_k; }
    void run() {
        switch (what) {
            case ordered::merge: return balm::merge_into(to, a, b);
            case ordered::merge_by_key: return balm::merge_by_key_into(std::tie(to, z), a, x, b, y);
            case ordered::set_union: return balm::set_union_into(to, count, a, b);
            case ordered::set_intersection: return balm::set_intersection_into(to, count, a, b);
            case ordered::top_k: first = balm::top_k(x, first_elements);
        }
    }
    bool is_right() {
        run();
        std::vector<std::uint32_t> wanted(2 * n);
        const auto p = a.to_host(), q = b.to_host();
        auto end = wanted.begin();
        switch (what) {
            case ordered::merge:
            case ordered::merge_by_key:
                end = std::merge(p.begin(), p.end(), q.begin(), q.end(), wanted.begin());
                break;
            case ordered::set_union:
                end = std::set_union(p.begin(), p.end(), q.begin(), q.end(), wanted.begin());
                break;
            case ordered::set_intersection:
                end = std::set_intersection(p.begin(), p.end(), q.begin(), q.end(), wanted.begin());
                break;
            case ordered::top_k: return has_first();
        }
        const bool is_set = what == ordered::set_union || what == ordered::set_intersection;
        if (is_set && count[0] != end - wanted.begin()) return false;
        const auto got = to.to_host();
        return std::equal(wanted.begin(), end, got.begin());
    }

private:
    bool has_first() const {
        const auto all = x.to_host(), got = first.values.to_host();
        std::vector<float> wanted(first_elements);
        std::partial_sort_copy(all.begin(), all.end(), wanted.begin(), wanted.end(), std::greater<>());
        return std::equal(wanted.begin(), wanted.end(), got.begin());
    }
};

comparison compare_on_cpu(const balm::device& on, problem& p) {
    const auto a = p.a.to_host(), b = p.b.to_host();
    const auto x = p.x.to_host(), y = p.y.to_host();
    std::vector<std::uint32_t> to(p.to.size());
    std::vector<float> z(std::max(p.z.size(), first_elements));
    const auto theirs = [&] {
        switch (p.what) {
            case ordered::merge: return peer::openmp::merge(a.data(), b.data(), to.data(), p.n);
            case ordered::merge_by_key:
                return peer::openmp::merge_by_key(a.data(), x.data(), b.data(), y.data(), to.data(), z.data(),
                                                  p.n);
            case ordered::set_union:
                benchmark::DoNotOptimize(peer::openmp::set_union(a.data(), b.data(), to.data(), p.n));
                return;
            case ordered::set_intersection:
                benchmark::DoNotOptimize(peer::openmp::set_intersection(a.data(), b.data(), to.data(), p.n));
                return;
            case ordered::top_k: return peer::openmp::top_k(x.data(), p.n, first_elements, z.data());
        }
    };
    return compare_in_pairs(
        [&] {
            p.run();
            on.finish();
        },
        theirs, 15);
}

void measure(benchmark::State& state, const balm::device& on, std::size_t n, ordered what) {
    problem p(balm::context({on}), n, what);
    if (!p.is_right()) return state.SkipWithError("the result is wrong");
    measure_work<peer::cuda_ordered_functions>(
        state, on, {"peer_cuda_ordered_functions", calls, bar, bar}, [&] { p.run(); },
        [&](const auto& cuda) { return cuda.make(what, n, first_elements); },
        [&] { return compare_on_cpu(on, p); });
    state.SetItemsProcessed(static_cast<std::int64_t>(what == ordered::top_k ? n : 2 * n));
}

void register_task(const std::string& name, ordered what) {
    on_every_device(name, [what](benchmark::State& state, const balm::device& on) {
        measure(state, on, is_cpu(on) ? large(on) / 2 : large(on), what);
    });
}

void register_all() {
    register_task("merge of u32", ordered::merge);
    register_task("merge_by_key of u32 and f32", ordered::merge_by_key);
    register_task("set_union of u32", ordered::set_union);
    register_task("set_intersection of u32", ordered::set_intersection);
    register_task("top_k of f32, 100", ordered::top_k);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
