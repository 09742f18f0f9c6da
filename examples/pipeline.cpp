// A stream of numbers in pieces: while one piece is computed, the next is being written to the device and the
// previous one read back. Pinned memory lets transfers overlap with the program.

#include <array>
#include <balm/balm.hpp>
#include <iostream>

int main() {
    using namespace balm::dsl;

    auto polynomial = balm::kernel<1>("polynomial(in, out)", [](In<double> in, Out<double> out) {
        Index i = global_id(0);
        Double x = in[i];
        out[i] = (2.0 * x - 3.0) * x + 0.5;
    });

    balm::context ctx;
    balm::device dev = ctx.device(0);

    const size_t piece = 1 << 14, pieces = 64;
    struct slot {
        balm::pinned_array<double> in, out;
        balm::in_buffer<double> from;
        balm::out_buffer<double> to;
        balm::event done;
        bool is_busy = false;
    };
    const auto make_slot = [&] {
        return slot{dev.pinned_array<double>(piece),
                    dev.pinned_array<double>(piece),
                    dev.in_buffer<double>(piece),
                    dev.out_buffer<double>(piece),
                    {}};
    };
    std::array<slot, 2> slots{make_slot(), make_slot()};

    double sum = 0, expected = 0;
    const auto take_results = [&](slot& s) {
        if (!s.is_busy) return;
        s.done.wait();
        for (double value : s.out) sum += value;
        s.is_busy = false;
    };
    for (size_t k = 0; k < pieces; ++k) {
        slot& s = slots[k % 2];
        take_results(s);  // its memory is free again
        for (size_t i = 0; i < piece; ++i) {
            const double x = static_cast<double>((k * piece + i) % 1000);
            s.in[i] = x;
            expected += (2.0 * x - 3.0) * x + 0.5;
        }
        balm::event sent = s.from.write(s.in);
        balm::event computed = dev.execute(polynomial(s.from, s.to), {piece}, sent);
        s.done = s.to.read_into(s.out, computed);
        s.is_busy = true;
    }
    for (slot& s : slots) take_results(s);
    std::cout << pieces * piece << " numbers in pieces of " << piece << ": the sum is "
              << (sum == expected ? "right" : "wrong") << '\n';
}
