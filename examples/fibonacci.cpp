// Many Fibonacci numbers at once. Devices have no recursion; a loop that carries the last two numbers
// replaces it.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    using namespace balm::dsl;

    auto fibonacci = balm::function("fibonacci(n)", [](Int n) {
        Long current = named("current", Long(0)), next = named("next", Long(1));
        for (Int k : range(n)) {
            static_cast<void>(k);
            Long sum = current + next;
            current = next;
            next = sum;
        }
        return current;
    });

    auto numbers = balm::kernel<1>("numbers(out)", [&](Out<long> out) {
        Index i = global_id(0);
        out[i] = fibonacci(cast<int>(i));
    });

    // A function that calls itself is refused while it is traced; the message says so.
    try {
        struct recursive {
            static Long fibonacci(Int n) {
                return if_else(
                    n < 2, [&] { return cast<long>(n); },
                    [&] { return fibonacci(n - 1) + fibonacci(n - 2); });
            }
        };
        balm::function("recursive(n)", [](Int n) { return recursive::fibonacci(n); });
        std::cout << "recursion was accepted\n";
    } catch (const balm::trace_error& refusal) {
        std::cerr << refusal.what() << '\n';
        std::cout << "recursion is refused\n";
    }

    balm::context ctx;
    balm::device dev = ctx.device(0);
    const size_t n = 93;  // the last that fits 64 bits is number 92
    auto out = dev.out_buffer<long>(n);
    dev.execute(numbers(out), {n});
    const auto got = out.read();
    for (size_t i : {0, 1, 2, 10, 50, 92}) std::cout << i << ": " << got[i] << '\n';
}
