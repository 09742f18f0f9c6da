// The bar. In: steps done. Out: text on stderr.

#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "command.hpp"

namespace heat {
namespace {

std::string rate_text(double cells_per_second) {
    constexpr std::array<std::pair<double, const char*>, 3> prefixes{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
    for (const auto& [factor, prefix] : prefixes)
        if (cells_per_second >= factor)
            return fmt::format("{:.3g} {}cell/s", cells_per_second / factor, prefix);
    return fmt::format("{:.3g} cell/s", cells_per_second);
}

std::string duration_text(double seconds) {
    const auto whole = static_cast<unsigned long long>(std::min(seconds + 0.5, 1e15));
    if (whole < 120) return fmt::format("{} s", whole);
    if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string progress_text(const std::string& label, unsigned done, unsigned steps, double cells,
                          double seconds) {
    const double share = steps > 0 ? static_cast<double>(done) / steps : 1.0;
    std::string text =
        fmt::format("{:<17} [{:<50}] {:3} %", label, std::string(static_cast<unsigned>(50 * share), '#'),
                    static_cast<int>(100 * share));
    if (done == 0 || !(seconds > 0)) return text;
    text += fmt::format(", {}", rate_text(cells * done / seconds));
    return text + (done < steps ? fmt::format(", {} left", duration_text(seconds / done * (steps - done)))
                                : fmt::format(", {}", duration_text(seconds)));
}

progress::progress(std::string label, unsigned steps, double cells, elsewhere else_what)
    : label_(std::move(label)),
      steps_(steps),
      cells_(cells),
      elsewhere_(else_what),
      is_terminal_(stderr_is_terminal()) {
    show(0);
}

progress::~progress() {
    if (is_terminal_) std::cerr << '\n';
}

void progress::show(unsigned done) {
    if (is_terminal_) {
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
        std::string text = progress_text(label_, done, steps_, cells_, seconds);
        const std::size_t size = text.size();
        text.resize(std::max(size, text_size_), ' ');  // over what a longer line left
        text_size_ = size;
        std::cerr << '\r' << text << std::flush;
    } else if (elsewhere_ == elsewhere::lines) {
        const auto tenth = steps_ > 0 ? static_cast<unsigned>(10.0 * done / steps_) : 10u;
        if (tenth > tenth_ || done == 0) std::cerr << fmt::format("{} {} %\n", label_, 10 * tenth);
        tenth_ = tenth;
    }
}

}  // namespace heat
