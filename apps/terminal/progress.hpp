#pragma once
// The progress of a run, on stderr, since some runs take minutes. In: steps done. Out: a bar, if stderr is a
// terminal.

#include <chrono>
#include <cstdint>
#include <string>

namespace balm::terminal {

/// The work of a step, for the rate: {1e6, "cell"} is a million cells. 0: no rate is shown.
struct work {
    double per_step = 0;
    const char* unit = "";
};

/// `1.23 Gcell/s`.
std::string rate_text(double per_second, const char* unit);

inline constexpr std::size_t widest_bar = 50;

/// `label [#####     ]  50 %, 1.23 Gcell/s, 12 s left`: after `seconds`, `done` of `steps` steps. The bar has
/// at most `width` columns.
std::string progress_text(const std::string& label, std::size_t done, std::size_t steps, const work& each,
                          double seconds, std::size_t width = widest_bar);

/// Shows the progress of a run. The clock starts when the object is constructed.
class progress {
public:
    /// The output if stderr is not a terminal: a line for each tenth, or nothing.
    enum class elsewhere : std::uint8_t { lines, nothing };

    struct options {
        work each;  ///< step
        elsewhere else_what = elsewhere::nothing;
        std::chrono::duration<double> after{0};  ///< a bar appears only in runs that take longer
        bool stays = true;                       ///< the bar's line, after the run
    };

    /// For runs that may be short: the bar appears after two seconds, and is erased at the end.
    static options for_long_runs();

    progress(std::string label, std::size_t steps, const options&);
    /// Ends or erases the bar's line.
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Whether `show` shows anything.
    bool is_shown() const noexcept { return is_terminal_ || options_.else_what == elsewhere::lines; }

    void show(std::size_t done);
    /// Erases the bar, before something else is written to the terminal. The next `show` draws it again.
    void hide();

private:
    void draw(std::size_t done);

    std::string label_;
    std::size_t steps_;
    options options_;
    bool is_terminal_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    unsigned tenth_ = 0;         // the last with a line
    std::size_t text_size_ = 0;  // of the text on the bar's line
};

}  // namespace balm::terminal
