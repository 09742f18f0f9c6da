// A shared library that contains Balm, and a static object that uses it.

#include <exception>

#include "balm/balm.hpp"

namespace {

using namespace balm::dsl;

constexpr std::size_t n = 500;

/// Its fault is thrown when it is first launched, not where the library is loaded.
const auto faulty = balm::kernel<1>("faulty(x)", [](Out<int> x) { x[global_id(7)] = 1; });
const auto add = balm::kernel<1>("add(x, by)", [](Mixed<int> x, Int by) { x[global_id(0)] += by; });

struct state {
    balm::context where;
    balm::vector<int> values{where, n, 0};
    int expected = 0;
    ~state() { values = values + 1; }
};

}  // namespace

/// 0 where all was right.
extern "C" __attribute__((visibility("default"))) int use_balm(int times) {
    try {
        static state own;
        const balm::device on = own.where.device(0);
        for (int k = 0; k < times; ++k) {
            own.values = own.values + 1;
            on.execute(add(own.values, BALM_TEST_PLUGIN), {n});
            own.expected += 1 + BALM_TEST_PLUGIN;
        }
        if (balm::sum(own.values) != static_cast<int>(n) * own.expected) return 1;
        try {
            on.execute(faulty(own.values), {n});
            return 2;
        } catch (const balm::trace_error&) {
        }
        own.values = own.values * 1;  // in flight
        return 0;
    } catch (const std::exception&) {
        return 3;
    }
}
