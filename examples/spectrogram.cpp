// The spectrogram of a sound as a PNG: overlapping windows of the signal, the real transform of each, and the
// logarithm of their power as colours. Time runs to the right, frequency upwards. The picture shows a chirp
// that rises from 200 to 3600 Hz, one that falls from 5000 to 500 Hz and is mirrored at half the sampling
// rate while it is beyond it, a steady tone of 1000 Hz with two overtones, and two clicks, which have all
// frequencies at once. `spectrogram [file.png]`

#include <balm/balm.hpp>
#include <balm/fft.hpp>
#include <balm/png.hpp>
#include <cmath>
#include <complex>
#include <cstdio>
#include <string>

namespace {

using floats = balm::vector<float>;
using spectra = balm::vector<std::complex<float>>;

constexpr double pi = 3.14159265358979323846;
constexpr std::size_t rate = 8192;  // samples per second
constexpr std::size_t window = 512, hop = 64, frames = 640;
constexpr std::size_t samples = (frames - 1) * hop + window;
constexpr std::size_t bins = window / 2 + 1;

/// A sound of five seconds.
floats sound(const balm::context& ctx) {
    floats made(ctx, samples);
    const double seconds = static_cast<double>(samples) / static_cast<double>(rate);
    const auto t = balm::cast<double>(balm::element_index(0, samples)) / static_cast<double>(rate);
    // The phase is the integral of the frequency.
    const auto rising = sin(2 * pi * (200 * t + 3400 / (2 * seconds) * t * t));
    const auto falling = 0.5 * sin(2 * pi * (5000 * t - 4500 / (2 * seconds) * t * t));
    const auto tone =
        0.3 * sin(2 * pi * 1000 * t) + 0.1 * sin(2 * pi * 2000 * t) + 0.05 * sin(2 * pi * 3000 * t);
    const auto at = balm::element_index(0, samples);
    const auto clicks = balm::select(
        at == static_cast<std::int64_t>(rate) || at == static_cast<std::int64_t>(3 * rate), 4.0, 0.0);
    made = balm::cast<float>(rising + falling + tone + clicks);
    return made;
}

/// Dark violet, red, orange, light yellow, in even steps of brightness; `x` is from 0 to 1.
template <class X>
auto colour(const X& x) {
    const auto channel = [](auto value) {
        return balm::cast<unsigned char>(255 * balm::min(balm::max(value, 0.0f), 1.0f));
    };
    return balm::compose<balm::uchar4>(
        channel(1.6f * x - 0.05f + 0.35f * sin(static_cast<float>(pi) * x) * x), channel(1.15f * x * x),
        channel(0.55f * sin(5.2f * x + 0.3f) * (1 - x) + 0.75f * x * x * x), std::uint8_t{255});
}

}  // namespace

int main(int argc, char** argv) {
    const std::string file = argc > 1 ? argv[1] : "spectrogram.png";
    const balm::context ctx;
    const floats x = sound(ctx);

    // Frame r has the samples from r * hop on, under a Hann window; it is fused into the transform's first
    // load.
    const auto at = balm::element_index(0, frames * window);
    const auto place = at % static_cast<std::int64_t>(window);
    const auto hann = 0.5f - 0.5f * cos(static_cast<float>(2 * pi / window) * balm::cast<float>(place));
    const auto frame =
        hann * x[at / static_cast<std::int64_t>(window) * static_cast<std::int64_t>(hop) + place];
    const spectra spectrum =
        balm::rfft(balm::view(balm::expr<float>(frame), {frames, window}), balm::along(1));

    // Levels 80 decibels below the loudest are dark.
    const float loudest = balm::max(norm(spectrum));
    floats level(ctx, frames * bins);
    level = balm::max(0.0f, 1 + log10(norm(spectrum) / loudest + 1e-12f) / 8);
    balm::vector<balm::uchar4> picture(ctx, frames * bins);
    picture =
        colour(balm::expr<float>(balm::view(level, {frames, bins}).transpose()(balm::reversed, balm::all)));
    balm::write_png(file, balm::view(picture, {bins, frames}));

    // Times at which the rising chirp is the loudest.
    std::printf("%zu windows of %zu samples, %zu frequencies each\n", frames, window, bins);
    balm::vector<std::int64_t> strongest(ctx, frames);
    strongest = balm::arg_max(balm::view(level, {frames, bins}), balm::along(1));
    const auto bin = strongest.to_host();
    for (const std::size_t second : {2, 3, 4}) {
        const std::size_t r = (second * rate + rate / 4 - window / 2) / hop;
        std::printf("after %zu.25 s the loudest frequency is about %.0f Hz\n", second,
                    std::round(static_cast<double>(bin[r]) * static_cast<double>(rate) /
                               static_cast<double>(window) / 100) *
                        100);
    }
}
