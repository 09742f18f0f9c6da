#pragma once
// The destination of the text that a device's kernels print.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace balm::runtime {

/// The output of a context, which its devices share: the texts of launches, written one at a time in the
/// order in which they were added. The user's function is called without locks, so it may use Balm and wait
/// for launches that print: their text is written after the text that the function was called for.
class print_outlet {
public:
    using function = std::function<void(std::string_view)>;

    explicit print_outlet(function write) : write_(std::make_shared<const function>(std::move(write))) {}

    /// Sets the function for the text from the next launch on. Waits while another thread is writing.
    void write_to(function);
    /// Adds the text of a launch. The thread that adds it writes it out.
    void add(std::vector<std::string> prints);
    /// Writes the texts that this thread has added; throws the first exception of the function, which does
    /// not get the rest of that launch's text. A call from within the function returns, and its caller
    /// continues with the texts.
    void write_out();
    /// Whether the calling thread is within an outlet's function.
    static bool is_writing() noexcept;

    /// The bytes for the records of one launch.
    std::atomic<std::size_t> buffer_bytes = std::size_t{1} << 20;

private:
    struct launch {
        std::uint64_t owner;  ///< the number of the thread
        std::vector<std::string> prints;
    };

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<launch> launches_;
    std::uint64_t writer_ = 0;  // the thread that is writing the first of them, else 0
    std::shared_ptr<const function> write_;
};

/// An outlet to std::cout, for devices without another outlet.
std::shared_ptr<print_outlet> make_standard_outlet();

}  // namespace balm::runtime
