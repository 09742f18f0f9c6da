#pragma once
// Timing of sections of a program.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iomanip>
#include <memory>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vexcl/backend/context.hpp"

namespace vex {

/// A stopwatch that records the time of each pass.
///
///     vex::stopwatch<> watch;
///     for (int i = 0; i < 100; ++i) { watch.tic(); step(); watch.toc(); }
///     std::cout << watch.average();
template <class Clock = std::chrono::high_resolution_clock>
class stopwatch {
public:
    stopwatch() { tic(); }
    void tic() { start_ = Clock::now(); }
    /// Records and returns the seconds since tic().
    double toc() {
        times_.push_back(std::chrono::duration<double>(Clock::now() - start_).count());
        return times_.back();
    }
    /// The median of the recorded times, which a slow first pass does not distort. Seconds.
    double average() const {
        if (times_.empty()) return 0;
        std::vector<double> sorted = times_;
        const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
        std::nth_element(sorted.begin(), middle, sorted.end());
        if (sorted.size() % 2 == 1) return *middle;
        return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
    }
    double total() const { return std::accumulate(times_.begin(), times_.end(), 0.0); }
    /// The number of calls of toc().
    std::size_t tics() const { return times_.size(); }

private:
    typename Clock::time_point start_;
    std::vector<double> times_;
};

/// Measures the times of named sections, which nest. Sections of tic_cl() wait for the queues at both ends.
///
///     vex::profiler<> prof(ctx);
///     prof.tic_cl("step");
///     x = 2 * y;
///     prof.toc("step");
///     std::cout << prof << std::endl;
template <class Clock = std::chrono::high_resolution_clock>
class profiler {
public:
    explicit profiler(const std::vector<command_queue>& queues = {}, const std::string& name = "Profile")
        : queues_(queues), root_(name) {
        open_.push_back(&root_);
    }
    profiler(const profiler&) = delete;
    profiler& operator=(const profiler&) = delete;

    void tic_cpu(const std::string& name) { begin(name, false); }
    void tic_cl(const std::string& name) { begin(name, true); }
    /// Ends the innermost open section and returns its duration in seconds. Throws std::logic_error if none
    /// is open.
    double toc(const std::string& = "") {
        if (open_.size() == 1) throw std::logic_error("vex::profiler: toc() without tic()");
        section& last = *open_.back();
        if (last.waits) finish();
        open_.pop_back();
        return last.watch.toc();
    }
    /// Ends a section when it is destroyed.
    class scoped {
    public:
        explicit scoped(profiler& of) : of_(&of) {}
        scoped(scoped&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
        scoped& operator=(scoped&&) = delete;
        ~scoped() {
            if (of_ != nullptr) of_->toc();
        }

    private:
        profiler* of_;
    };
    [[nodiscard]] scoped scoped_tic_cpu(const std::string& name) {
        tic_cpu(name);
        return scoped(*this);
    }
    [[nodiscard]] scoped scoped_tic_cl(const std::string& name) {
        tic_cl(name);
        return scoped(*this);
    }
    /// Removes all sections.
    void reset() {
        root_.parts.clear();
        root_.watch = {};
        open_.assign(1, &root_);
    }

    /// The same as operator<<.
    void print(std::ostream& to) { to << *this; }

    /// Prints a line for each section: its total time in seconds and as a percentage of the profiler's; if it
    /// ran several times, also how often, and the median.
    friend std::ostream& operator<<(std::ostream& to, profiler& p) {
        const stopwatch<Clock> begun = p.root_.watch;
        p.root_.watch.toc();
        const std::ios_base::fmtflags flags = to.flags();
        const std::streamsize precision = to.precision();
        to << '\n';
        p.root_.print(to, 0, p.root_.width(0), p.root_.watch.total());
        to.flags(flags);
        to.precision(precision);
        p.root_.watch = begun;
        return to;
    }

private:
    struct section {
        explicit section(std::string called, bool on_devices = false)
            : name(std::move(called)), waits(on_devices) {}

        std::string name;
        bool waits;
        stopwatch<Clock> watch;
        std::vector<std::unique_ptr<section>> parts;

        std::size_t width(std::size_t indent) const {
            std::size_t widest = indent + name.size();
            for (const auto& each : parts) widest = std::max(widest, each->width(indent + 2));
            return widest;
        }
        void print(std::ostream& to, std::size_t indent, std::size_t widest, double whole) const {
            to << '[' << std::string(indent, ' ') << name << ':'
               << std::string(widest - indent - name.size(), ' ') << std::fixed << std::setprecision(3)
               << std::setw(11) << watch.total() << " sec.] (" << std::setprecision(2) << std::setw(6)
               << (whole > 0 ? 100 * watch.total() / whole : 100.0) << "%)";
            if (watch.tics() > 1)
                to << " (" << watch.tics() << "x; median " << std::scientific << watch.average() << ')';
            to << '\n';
            for (const auto& each : parts) each->print(to, indent + 2, widest, whole);
        }
    };

    void finish() const {
        for (const command_queue& each : queues_) each.finish();
    }
    void begin(const std::string& name, bool waits) {
        auto& parts = open_.back()->parts;
        auto found = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p->name == name; });
        if (found == parts.end()) found = parts.insert(parts.end(), std::make_unique<section>(name, waits));
        (*found)->waits = waits;
        open_.push_back(found->get());
        if (waits) finish();
        (*found)->watch.tic();
    }

    std::vector<command_queue> queues_;
    section root_;
    std::vector<section*> open_;
};

}  // namespace vex
