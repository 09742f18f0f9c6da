// expect nothing: the programs of docs/fft.md, as they stand there.
#include <balm/balm.hpp>
#include <balm/fft.hpp>
#include <balm/spectral.hpp>
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

void convolutions(numbers& y, numbers& near, numbers& score, numbers& blurred, const numbers& x,
                  const numbers& h, const numbers& pattern, const numbers& image, const numbers& kernel,
                  int rows, int columns);
void convolutions(numbers& y, numbers& near, numbers& score, numbers& blurred, const numbers& x,
                  const numbers& h, const numbers& pattern, const numbers& image, const numbers& kernel,
                  int rows, int columns) {
    y = balm::convolve(x, h);                                            // n + m - 1 elements
    near = balm::convolve(x, h, balm::convolution_mode::same);           // as many as x
    score = balm::correlate(x, pattern, balm::convolution_mode::valid);  // score[k]: how well it fits at k
    blurred = balm::convolve(balm::view(image, {rows, columns}), balm::view(kernel, {9, 9}),
                             balm::convolution_mode::same);
}

void filters(complex_numbers& u, const complex_numbers& H, const complex_numbers& x, numbers& signal,
             const numbers& gain, std::size_t n);
void filters(complex_numbers& u, const complex_numbers& H, const complex_numbers& x, numbers& signal,
             const numbers& gain, std::size_t n) {
    u = balm::ifft(H * balm::fft(x));                    // complex: 2 p passes
    signal = balm::irfft(gain * balm::rfft(signal), n);  // real: 2 p + 1 over half of the size
}

void cosines(numbers& c, numbers& x, numbers& blocks, numbers& u, const numbers& image, const numbers& f,
             const numbers& eigenvalues, int count);
void cosines(numbers& c, numbers& x, numbers& blocks, numbers& u, const numbers& image, const numbers& f,
             const numbers& eigenvalues, int count) {
    c = balm::dct(x);  // type 2
    x = balm::idct(c);
    blocks = balm::dct(balm::view(image, {count, 8, 8}), 2, balm::along(1, 2));
    u = balm::idst(balm::dst(f, 1) / eigenvalues, 1);  // zero beyond both ends
}
