// Views against the same accesses written by hand: in CUDA on GPUs, in OpenMP on CPUs.

#include <cmath>
#include <cstdint>
#include <memory>

#include "peer_cuda.hpp"
#include "peer_openmp.hpp"
#include "peer_views.hpp"
#include "support/devices.hpp"
#include "support/measure.hpp"

namespace {

using namespace balm::bench;

constexpr double bar = 0.95;
constexpr int launches = 20;
constexpr std::int64_t stride = 4;

enum class access { strided, reversed, neighbours, transpose, gather };

using memory = std::unique_ptr<double, void (*)(double*)>;

/// The vectors of a measurement, the same for Balm and for the peer: from[i] = 1 + 1e-6 (i mod 1,000,003).
struct problem {
    access what;
    std::size_t m;  ///< rows and columns of the matrices
    std::size_t n;  ///< elements of the result
    balm::vector<double> from, to;
    balm::vector<std::int32_t> at;

    problem(access which, const balm::context& where, std::size_t elements)
        : what(which),
          m(std::size_t{1} << static_cast<unsigned>(std::log2(std::sqrt(static_cast<double>(elements))))),
          n(which == access::strided ? elements / stride : m * m),
          from(where, which == access::strided ? elements : m * m),
          to(where, n, 0.0),
          at(where, n) {
        from = 1 + 1e-6 * balm::cast<double>(balm::element_index() % 1000003);
        const auto i = balm::element_index();
        at = balm::cast<std::int32_t>(i / 8192 * 8192 + i * 2731 % 8192);
    }
    void run() {
        const bool is_matrix = what == access::neighbours || what == access::transpose;
        const std::size_t rows = is_matrix ? m : 1;
        const auto a = balm::view(from, {rows, from.size() / rows});
        auto b = balm::view(to, {rows, n / rows});
        const auto last = static_cast<std::int64_t>(m) - 1;
        const auto inner = balm::slice(1, last), before = balm::slice(0, last - 1),
                   after = balm::slice(2, last + 1);
        switch (what) {
            case access::strided:
                to = from(balm::slice(0, static_cast<std::int64_t>(from.size()), stride));
                break;
            case access::reversed: to = from[static_cast<std::int64_t>(n) - 1 - balm::element_index()]; break;
            case access::neighbours:
                b(inner, inner) = a(before, inner) + a(after, inner) + a(inner, before) + a(inner, after);
                break;
            case access::transpose: b = a.transpose(); break;
            case access::gather: to = from[at]; break;
        }
    }
    /// Bytes that must be moved.
    std::size_t bytes() const {
        const std::size_t elements = n * sizeof(double);
        if (what == access::strided) return elements + from.size_bytes();  // whole cache lines
        return 2 * elements + (what == access::gather ? at.size_bytes() : 0);
    }
};

/// The peer's arrays, equal to Balm's, and the access that is measured.
class by_hand {
public:
    template <class Allocate>
    by_hand(const peer::view_functions& functions, const problem& p, Allocate&& allocate,
            void (*release)(double*))
        : does_(functions),
          p_(p),
          from_(allocate(p.from.size(), 1), release),
          to_(allocate(p.n, 0), release),
          at_(allocate(p.n / 2 + 1, 0), release) {
        does_.positions(positions(), p.n);
    }
    void run() const {
        switch (p_.what) {
            case access::strided: return does_.strided(to_.get(), from_.get(), p_.n, stride);
            case access::reversed: return does_.reversed(to_.get(), from_.get(), p_.n);
            case access::neighbours: return does_.neighbours(to_.get(), from_.get(), p_.m);
            case access::transpose: return does_.transpose(to_.get(), from_.get(), p_.m);
            case access::gather: return does_.gather(to_.get(), from_.get(), positions(), p_.n);
        }
    }

private:
    std::int32_t* positions() const { return reinterpret_cast<std::int32_t*>(at_.get()); }

    const peer::view_functions& does_;
    const problem& p_;
    memory from_, to_, at_;
};

/// Compares some elements with the host's arithmetic.
bool is_right(const problem& p) {
    const auto value = [](std::size_t k) { return std::fma(1e-6, static_cast<double>(k % 1000003), 1); };
    const std::size_t m = p.m;
    for (std::size_t i = 1; i < p.n; i += p.n / 17 + 1) {
        const std::size_t row = i / m, column = i % m;
        const bool is_inner = row > 0 && row < m - 1 && column > 0 && column < m - 1;
        double expected = 0;
        switch (p.what) {
            case access::strided: expected = value(i * stride); break;
            case access::reversed: expected = value(p.n - 1 - i); break;
            case access::neighbours:
                if (is_inner) expected = value(i - m) + value(i + m) + value(i - 1) + value(i + 1);
                break;
            case access::transpose: expected = value(column * m + row); break;
            case access::gather: expected = value(i / 8192 * 8192 + i * 2731 % 8192); break;
        }
        if (!(std::abs(p.to[i] - expected) <= 1e-14 * expected)) return false;
    }
    return true;
}

comparison compare(problem& p, const balm::device& on, const char*& why) {
    if (is_cpu(on)) {
        const by_hand peer(peer::openmp::views, p, peer::openmp::allocate, peer::openmp::release);
        return compare_in_pairs(
            [&] {
                p.run();
                on.finish();
            },
            [&] { peer.run(); });
    }
    const char* const address = on.info().pci_address.c_str();
    const peer::cuda_functions* const cuda = peer::cuda_on(address, why);
    if (cuda == nullptr) return {};
    const auto* const kernels =
        peer::cuda_functions_on<peer::view_functions>(address, "peer_cuda_views", why);
    if (kernels == nullptr) return {};
    const by_hand peer(*kernels, p, cuda->allocate, cuda->release);
    return compare_samples(
        [&](int count) {
            for (int k = 0; k < count; ++k) p.run();
            on.finish();
        },
        [&](int count) {
            for (int k = 0; k < count; ++k) peer.run();
            cuda->finish();
        },
        launches);
}

void measure(benchmark::State& state, const balm::device& on, access what) {
    problem p(what, balm::context({on}), large(on));
    p.run();
    if (!is_right(p)) return state.SkipWithError("the result is wrong");
    for (auto iteration : state) {
        static_cast<void>(iteration);
        const char* why = nullptr;
        const comparison made = compare(p, on, why);
        if (why != nullptr && made.ratio == 0) return state.SkipWithError(why);
        report(state, made, bar);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(p.bytes()));
}

void register_all() {
    const auto one = [](const char* words, access what) {
        on_every_device(
            words, [what](benchmark::State& state, const balm::device& on) { measure(state, on, what); });
    };
    one("y = x(slice(0, n, 4))", access::strided);
    one("y = x[n - 1 - i]", access::reversed);
    one("inner elements = sum of four neighbours", access::neighbours);
    one("B = A.transpose()", access::transpose);
    one("y = x[positions]", access::gather);
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv, register_all); }
