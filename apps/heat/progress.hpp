#pragma once
// How far a run is, on stderr. Steps done come in, a bar goes out where stderr is a terminal. Here because a
// world of millions of cells and steps takes minutes, and nobody should wonder.

#include <chrono>
#include <string>

namespace heat {

/// `label [#####     ]  50 %, 1.23 Gcell/s, 12 s left`: after `seconds`, `done` of `steps` steps of a world
/// of `cells`.
std::string progress_text(const std::string& label, unsigned done, unsigned steps, double cells,
                          double seconds);

/// Shows how far a run of `steps` steps of a world of `cells` cells is. The clock starts with the object.
class progress {
public:
    /// What happens where stderr is no terminal: a line for each tenth, or nothing.
    enum class elsewhere { lines, nothing };

    progress(std::string label, unsigned steps, double cells, elsewhere else_what);
    /// Ends the bar's line.
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Whether `show` shows anything.
    bool is_shown() const noexcept { return is_terminal_ || elsewhere_ == elsewhere::lines; }

    void show(unsigned done);

private:
    std::string label_;
    unsigned steps_;
    double cells_;
    elsewhere elsewhere_;
    bool is_terminal_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    unsigned tenth_ = 0;         // the last that has a line
    std::size_t text_size_ = 0;  // of what the bar's line holds
};

}  // namespace heat
