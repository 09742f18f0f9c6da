// expect nothing: the programs of docs/fft.md, as they stand there.
#include <balm/balm.hpp>
#include <balm/fft.hpp>
#include <complex>

using complex_numbers = balm::vector<std::complex<double>>;
using numbers = balm::vector<double>;

void overview(complex_numbers& x, complex_numbers& y, complex_numbers& u, const numbers& K, const numbers& f);
void overview(complex_numbers& x, complex_numbers& y, complex_numbers& u, const numbers& K,
              const numbers& f) {
    y = balm::fft(x);
    x = balm::fft(x);                  // in place
    u = balm::ifft(K * balm::fft(f));  // the product is part of the inverse transform's first pass
}

void dimensions(complex_numbers& x, complex_numbers& y, int rows, int columns);
void dimensions(complex_numbers& x, complex_numbers& y, int rows, int columns) {
    const auto M = balm::view(x, {rows, columns});
    y = balm::fft(M);                  // both dimensions
    y = balm::fft(M, balm::along(1));  // each row
    y = balm::fft(M, balm::along(0));  // each column
}

void real_numbers(complex_numbers& spectrum, numbers& signal, const numbers& gain, std::size_t n);
void real_numbers(complex_numbers& spectrum, numbers& signal, const numbers& gain, std::size_t n) {
    spectrum = balm::rfft(signal);
    signal = balm::irfft(gain * spectrum, n);
}

void frequencies(numbers& k, complex_numbers& derivative, numbers& power, const complex_numbers& x,
                 double spacing, std::size_t n);
void frequencies(numbers& k, complex_numbers& derivative, numbers& power, const complex_numbers& x,
                 double spacing, std::size_t n) {
    constexpr double pi = 3.14159265358979323846;
    constexpr std::complex<double> i(0, 1);
    k = 2 * pi * balm::fftfreq(n, spacing);  // 0, 1, …, then the negative ones
    derivative = balm::ifft(i * k * balm::fft(x));
    power = norm(balm::fftshift(balm::fft(x)));
}
