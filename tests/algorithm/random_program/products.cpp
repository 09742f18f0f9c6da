// Products of sparse matrices inside expressions: exact ones of small numbers, and of real numbers within a
// bound.

#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>

#include "algorithm/random_program/program.hpp"
#include "support/sparse_matrices.hpp"

namespace balm::test::random_algorithms {

namespace {

/// A kind of matrices that are not too large.
matrix_kind any_matrix_kind(generator& random, std::size_t rows, std::size_t columns) {
    constexpr matrix_kind sparse[] = {matrix_kind::nothing,    matrix_kind::banded,
                                      matrix_kind::scattered,  matrix_kind::some_empty,
                                      matrix_kind::ends_empty, matrix_kind::dense_column};
    if (rows > 5000 || columns > 5000) return sparse[below(random, std::size(sparse))];
    const matrix_kind made = all_matrix_kinds[below(random, std::size(all_matrix_kinds))];
    return made == matrix_kind::long_rows && rows > 300 ? matrix_kind::scattered : made;
}
/// A storage that takes such matrices.
storage any_storage(generator& random, matrix_kind kind) {
    constexpr storage any[] = {storage::automatic, storage::slices, storage::rows, storage::balanced};
    const bool has_few_diagonals = kind == matrix_kind::banded || kind == matrix_kind::nothing;
    return has_few_diagonals && is_drawn(random) ? storage::diagonals : any[below(random, std::size(any))];
}

template <class T>
struct matrix_twin {
    matrix_twin(const context& ctx, generator& random, std::size_t rows, std::size_t columns)
        : kind(any_matrix_kind(random, rows, columns)),
          on_host(random_matrix<T>(random, kind, rows, columns)) {
        store(ctx, random);
    }
    void store(const context& ctx, generator& random) {
        on_device = sparse_matrix<T>(ctx, on_host.rows, on_host.columns, on_host.pointers,
                                     on_host.column_indices, on_host.values, any_storage(random, kind));
    }
    std::string words() const {
        return " A (" + std::to_string(on_host.rows) + " x " + std::to_string(on_host.columns) + ", " +
               words_of(kind) + ", " + describe(on_device) + ") *";
    }

    matrix_kind kind;
    host_matrix<T> on_host;
    sparse_matrix<T> on_device;
};

/// What keeps later sums exact.
template <class T>
expr<T> modulo_7(const expr<T>& x) {
    return cast<T>(cast<std::int64_t>(x) % std::int64_t{7});
}
template <class T>
std::vector<T> modulo_7(std::vector<T> x) {
    for (T& each : x) each = static_cast<T>(static_cast<std::int64_t>(each) % 7);
    return x;
}

}  // namespace

template <class T>
operand<T> program<T>::product(int depth) {
    if constexpr (is_matrix_entry) {
        const matrix_twin<T> matrix(ctx_, random_, n_, n_);
        say(matrix.words());
        const operand<T> of = values(depth + 1);
        say(" % 7");
        return {modulo_7(matrix.on_device * of.values), modulo_7(matrix.on_host.times(of.on_host))};
    } else {
        return values(depth + 1);
    }
}

template <class T>
void program<T>::multiply() {
    if constexpr (is_matrix_entry) {
        const matrix_twin<T> matrix(ctx_, random_, n_, n_);
        const auto& A = matrix.on_device;
        switch (below(4)) {
            case 0: {
                say("y = (x - " + matrix.words());
                const operand<T> of = values();
                say(") % 7");
                std::vector<T> wanted = matrix.on_host.times(of.on_host);
                for (std::size_t k = 0; k < n_; ++k) wanted[k] = static_cast<T>(x_.on_host[k] - wanted[k]);
                y_.on_device = modulo_7(expr<T>(x_.on_device - A * of.values));
                y_.on_host = modulo_7(wanted);
                return;
            }
            case 1:
                say("x =" + matrix.words() + " x, x %= 7");
                x_.on_device = A * x_.on_device;
                x_.on_host = matrix.on_host.times(x_.on_host);
                same(x_.on_device, x_.on_host, "x", true);
                x_.on_device = modulo_7(expr<T>(x_.on_device));
                x_.on_host = modulo_7(x_.on_host);
                return;
            case 2: {
                say("a view of base =" + matrix.words() + " another, % 7");
                const std::size_t from = below(margin + 1), to = below(margin + 1);
                const std::vector<T> wanted = modulo_7(matrix.on_host.times(host_part(from)));
                part_of_base(to) = modulo_7(expr<T>(A * part_of_base(from)));
                std::copy(wanted.begin(), wanted.end(),
                          base_.on_host.begin() + static_cast<std::ptrdiff_t>(to));
                return;
            }
            default: {
                say("scan of" + matrix.words());
                const operand<T> of = values();
                const std::vector<T> product = matrix.on_host.times(of.on_host);
                yields<T>(inclusive_scan(max_of(A * of.values)),
                          scanned_on_host<T>(product, true, std::numeric_limits<T>::lowest(),
                                             [](T a, T b) { return std::max(a, b); }));
            }
        }
    }
}

template <class T>
void program<T>::multiply_rectangular() {
    if constexpr (is_matrix_entry) {
        const std::size_t rows = drawn_size(random_, true);
        const matrix_twin<T> down(ctx_, random_, rows, n_), up(ctx_, random_, n_, rows);
        say("product of" + up.words() + down.words());
        const operand<T> of = values();
        const std::vector<T> between = down.on_host.times(of.on_host);
        same(vector<T>(down.on_device * of.values), between, "product", true);
        yields<T>(up.on_device * modulo_7(expr<T>(down.on_device * of.values)),
                  up.on_host.times(modulo_7(between)));
    }
}

/// A sum of n products in any order is off by at most n u / (1 - n u) times the sum of their magnitudes
/// (Higham, Accuracy and Stability of Numerical Algorithms, 2002, (3.5)); the host's own sums have 64 bits.
template <class T>
void program<T>::multiply_reals() {
    if constexpr (std::is_floating_point_v<T>) {
        matrix_twin<T> matrix(ctx_, random_, n_, n_);
        std::uniform_real_distribution<T> real(-1, 1);
        for (T& each : matrix.on_host.values) each = std::ldexp(real(random_), static_cast<int>(below(20)));
        matrix.store(ctx_, random_);
        say("real numbers:" + matrix.words() + " z");
        std::vector<T> z(n_);
        for (T& each : z) each = real(random_);
        const host_array<T> got = vector<T>(matrix.on_device * vector<T>(ctx_, z)).to_host();
        const host_matrix<T>& A = matrix.on_host;
        for (std::size_t r = 0; r < n_; ++r) {
            long double wanted = 0, magnitude = 0;
            const auto begin = static_cast<std::size_t>(A.pointers[r]),
                       end = static_cast<std::size_t>(A.pointers[r + 1]);
            for (std::size_t k = begin; k < end; ++k) {
                const auto term =
                    static_cast<long double>(A.values[k]) * z[static_cast<std::size_t>(A.column_indices[k])];
                wanted += term;
                magnitude += std::abs(term);
            }
            const auto n = static_cast<long double>(end - begin) + 1;
            const long double u = std::numeric_limits<T>::epsilon() / 2.0L;
            const long double bound = n * u / (1 - n * u) * magnitude;
            if (std::abs(got.begin()[r] - wanted) <= bound) continue;
            ADD_FAILURE() << "row " << r << " is " << +got.begin()[r] << ", not " << wanted << " within "
                          << bound;
            return;
        }
    }
}

#define BALM_INSTANTIATE(T)                           \
    template operand<T> program<T>::product(int);     \
    template void program<T>::multiply();             \
    template void program<T>::multiply_rectangular(); \
    template void program<T>::multiply_reals();
BALM_FOR_PROGRAM_ELEMENTS(BALM_INSTANTIATE)
#undef BALM_INSTANTIATE

}  // namespace balm::test::random_algorithms
