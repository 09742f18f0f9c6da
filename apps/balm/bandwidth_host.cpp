// The bandwidth of host memory, measured by plain loops over arrays.

#include <fmt/format.h>

#include <memory>
#include <new>
#include <thread>

#include "balm/error.hpp"
#include "bandwidth.hpp"
#include "command.hpp"

namespace balm::tool {

namespace {

/// Splits [0, n) among one thread per processor; each calls body(first, last) on its range.
template <class F>
void in_parallel(std::size_t n, F&& body) {
    const std::size_t count = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> threads;
    for (std::size_t k = 1; k < count; ++k)
        threads.emplace_back([&body, n, count, k] { body(n * k / count, n * (k + 1) / count); });
    body(0, n / count);
}

}  // namespace

std::vector<measurement> measure_host(std::size_t bytes, measurements made) {
    const std::size_t n = bytes / sizeof(float);
    const auto uninitialised = [n] {
        try {
            return std::unique_ptr<float[]>(new float[n]);
        } catch (const std::bad_alloc&) {
            throw out_of_memory_error(fmt::format(
                "The host does not have enough memory for three arrays of {}; use a smaller --size.",
                in_bytes(n * sizeof(float))));
        }
    };
    const auto a = uninitialised(), b = uninitialised(), c = uninitialised();
    in_parallel(n, [&](std::size_t first, std::size_t last) {  // first touch by the thread that uses it
        std::fill(&a[first], &a[last], 0.f);
        std::fill(&b[first], &b[last], 1.f);
        std::fill(&c[first], &c[last], 2.f);
    });
    const auto repeat = [n](auto&& body) {
        return measure([&](std::size_t times) {
            for (std::size_t k = 0; k < times; ++k) in_parallel(n, body);
        });
    };
    made.add({"copy", 2 * bytes, repeat([from = b.get(), to = a.get()](std::size_t first, std::size_t last) {
                  std::copy(from + first, from + last, to + first);
              })});
    // STREAM's triad (McCalpin 1995).
    made.add({"triad", 3 * bytes,
              repeat([x = b.get(), y = c.get(), to = a.get()](std::size_t first, std::size_t last) {
                  for (std::size_t i = first; i < last; ++i) to[i] = x[i] + 3.f * y[i];
              })});
    return made.take();
}

}  // namespace balm::tool
