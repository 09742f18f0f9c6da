// The bar. In: steps done. Out: text on stderr.

#include "terminal/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <utility>

#include "terminal/terminal.hpp"

namespace balm::terminal {

namespace {

std::string duration_text(double seconds) {
    const auto whole = static_cast<unsigned long long>(std::min(seconds + 0.5, 1e15));
    if (whole < 120) return fmt::format("{} s", whole);
    if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace

std::string rate_text(double per_second, const char* unit) {
    constexpr std::array<std::pair<double, const char*>, 4> prefixes{
        {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
    for (const auto& [factor, prefix] : prefixes)
        if (per_second >= factor) return fmt::format("{:.3g} {}{}/s", per_second / factor, prefix, unit);
    return fmt::format("{:.3g} {}/s", per_second, unit);
}

std::string progress_text(const std::string& label, std::size_t done, std::size_t steps, const work& each,
                          double seconds, std::size_t width) {
    const auto part = static_cast<double>(done), whole = static_cast<double>(steps);
    const double share = steps > 0 ? part / whole : 1.0;
    const auto filled = static_cast<std::size_t>(static_cast<double>(width) * share);
    std::string text = fmt::format("{:<17} [{:<{}}] {:3} %", label, std::string(filled, '#'), width,
                                   static_cast<int>(100 * share));
    if (done == 0 || !(seconds > 0)) return text;
    if (each.per_step > 0) text += fmt::format(", {}", rate_text(each.per_step * part / seconds, each.unit));
    return text + (done < steps ? fmt::format(", {} left", duration_text(seconds / part * (whole - part)))
                                : fmt::format(", {}", duration_text(seconds)));
}

progress::options progress::for_long_runs() {
    return {.each = {}, .after = std::chrono::seconds(2), .stays = false};
}

progress::progress(std::string label, std::size_t steps, const options& how)
    : label_(std::move(label)), steps_(steps), options_(how), is_terminal_(is_terminal(stderr)) {
    show(0);
}

progress::~progress() {
    if (!options_.stays)
        hide();
    else if (is_terminal_)
        std::cerr << '\n';
}

void progress::draw(std::size_t done) {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
    if (taken < options_.after) return;
    std::string text = progress_text(label_, done, steps_, options_.each, taken.count());
    const std::size_t columns = columns_of(stderr);
    if (text.size() >= columns) {  // a wrapped line cannot be overwritten
        const std::size_t narrower = std::min(text.size() - columns + 1, widest_bar - 1);
        text = progress_text(label_, done, steps_, options_.each, taken.count(), widest_bar - narrower);
    }
    const std::size_t size = text.size();
    text.resize(std::max(size, text_size_), ' ');  // overwrites the rest of a longer line
    text_size_ = size;
    std::cerr << '\r' << text << std::flush;
}

void progress::hide() {
    if (text_size_ == 0) return;
    std::cerr << '\r' << std::string(text_size_, ' ') << '\r' << std::flush;
    text_size_ = 0;
}

void progress::show(std::size_t done) {
    if (is_terminal_) {
        draw(done);
    } else if (options_.else_what == elsewhere::lines) {
        const auto tenth =
            steps_ > 0 ? static_cast<unsigned>(10.0 * static_cast<double>(done) / static_cast<double>(steps_))
                       : 10u;
        if (tenth > tenth_ || done == 0) std::cerr << fmt::format("{} {} %\n", label_, 10 * tenth);
        tenth_ = tenth;
    }
}

}  // namespace balm::terminal
