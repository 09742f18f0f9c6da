#pragma once
// Where the text of a device's prints goes.

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

/// The output of a context, which its devices share: texts of launches, which come out in the order in which
/// they were added, one after the other. The user's function is called with no lock held, so that it may use
/// Balm, and wait for what prints itself: that comes out behind the text that it is called for.
class print_outlet {
public:
    using function = std::function<void(std::string_view)>;

    explicit print_outlet(function write) : write_(std::make_shared<const function>(std::move(write))) {}

    /// What is written from the next launch on goes there. Waits for what another thread is writing.
    void write_to(function);
    /// Adds the text of a launch. The thread that adds it writes it out.
    void add(std::vector<std::string> prints);
    /// Writes what this thread has added, and throws the first that the function throws, which is then not
    /// given the rest of that launch. Where the function itself comes here, its caller goes on with it.
    void write_out();
    /// Whether the calling thread is in an outlet's function.
    static bool is_writing() noexcept;

    /// For the records of one launch.
    std::atomic<std::size_t> buffer_bytes = std::size_t{1} << 20;

private:
    struct launch {
        std::uint64_t owner;  ///< the number of the thread
        std::vector<std::string> prints;
    };

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<launch> launches_;
    std::uint64_t writer_ = 0;  // of the first of them, where it is being written
    std::shared_ptr<const function> write_;
};

/// What writes to std::cout; for devices that no context has told otherwise.
std::shared_ptr<print_outlet> make_standard_outlet();

}  // namespace balm::runtime
