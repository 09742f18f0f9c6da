#pragma once
// The exceptions that Balm throws. Every message is a sentence that says what was tried, on what, and
// what to do about it.

#include <iosfwd>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace balm {

/// The base of everything that Balm throws.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;

    /// The message.
    friend std::ostream& operator<<(std::ostream& to, const error& fault) { return write(to, fault); }

private:
    static std::ostream& write(std::ostream&, const error&);
};

/// Wrong use of the library: a size, an index, a device or a name that does not fit.
class usage_error : public error {
public:
    using error::error;
};

/// A fault in a kernel or function while it was traced (a C++ `break` out of a traced block, a recursion,
/// a device value that left its kernel). The message names the C++ line.
class trace_error : public usage_error {
public:
    using usage_error::usage_error;
};

/// No device fits what was asked for. The message says of each device why it was passed over.
class no_device_error : public error {
public:
    using error::error;
};

/// A driver call failed.
class device_error : public error {
public:
    using error::error;
};

/// What a callback given to on_complete threw. Thrown by the next call of the thread that called on_complete
/// which touches the event's device.
class callback_error : public error {
public:
    using error::error;
};

/// The device's memory is exhausted.
class out_of_memory_error : public device_error {
public:
    using device_error::device_error;
};

/// The device's compiler refused a program. The message holds the compiler's log and the numbered source; of
/// long ones it holds the beginning and the end, and log() and source() hold all of it.
///
///     catch (const balm::build_error& failure) {
///         std::ofstream("build.log") << failure.log();
///     }
class build_error : public device_error {
public:
    using device_error::device_error;
    build_error(const std::string& message, std::string log, std::string source)
        : device_error(message),
          details_(std::make_shared<const details>(details{std::move(log), std::move(source)})) {}

    /// The compiler's log, however long. Empty where no compiler has run.
    const std::string& log() const noexcept { return all().log; }
    /// The source that the compiler was given. Empty where it was given none.
    const std::string& source() const noexcept { return all().source; }

private:
    struct details {
        std::string log, source;
    };
    const details& all() const noexcept {
        alignas(details) static unsigned char never_destroyed[sizeof(details)];
        static const details& none = *::new (never_destroyed) details;  // errors are caught at exit, too
        return details_ ? *details_ : none;
    }

    std::shared_ptr<const details> details_;  // exceptions are copied without throwing
};

/// A check() in a kernel failed: thrown by what waits for the launch. The message holds the C++ line, what
/// check() was told to say, and the work-item. Memory that the launch wrote cannot be read until it is
/// written again.
class check_error : public error {
public:
    using error::error;
};

}  // namespace balm
