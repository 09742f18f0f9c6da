#pragma once
// The exceptions that Balm throws. Every message is a sentence that names the operation and its object, and
// says what to do.

#include <iosfwd>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace balm {

/// The base class of all exceptions that Balm throws.
class error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;

    /// The message.
    friend std::ostream& operator<<(std::ostream& to, const error& fault) { return write(to, fault); }

private:
    static std::ostream& write(std::ostream&, const error&);
};

/// Wrong use of the library: an invalid size, index, device or name.
class usage_error : public error {
public:
    using error::error;
};

/// An error found while a kernel or function is traced (a C++ `break` out of a traced block, a recursion, a
/// device value used outside its kernel). The message names the C++ line.
class trace_error : public usage_error {
public:
    using usage_error::usage_error;
};

/// No device satisfies the filter or the environment. The message lists each device with the reason why it
/// was rejected.
class no_device_error : public error {
public:
    using error::error;
};

/// A driver call failed.
class device_error : public error {
public:
    using error::error;
};

/// A callback of on_complete threw an exception. The next call on the event's device by the thread that
/// called on_complete throws this.
class callback_error : public error {
public:
    using error::error;
};

/// The device's memory is exhausted.
class out_of_memory_error : public device_error {
public:
    using device_error::device_error;
};

/// The device's compiler refused a program. The message contains the compiler's log and the numbered source,
/// abbreviated to beginning and end if they are long; log() and source() return all of them.
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

    /// The compiler's complete log. Empty if no compiler has run.
    const std::string& log() const noexcept { return all().log; }
    /// The source passed to the compiler. Empty if there was none.
    const std::string& source() const noexcept { return all().source; }

private:
    struct details {
        std::string log, source;
    };
    const details& all() const noexcept {
        alignas(details) static unsigned char never_destroyed[sizeof(details)];
        static const details& none = *::new (never_destroyed) details;  // errors may be caught at exit, too
        return details_ ? *details_ : none;
    }

    std::shared_ptr<const details> details_;  // so that copying the exception does not throw
};

/// A check() in a kernel failed. Waiting for the launch throws it. The message contains the C++ line, the
/// message of check() and the work-item. Memory that the launch wrote cannot be read until it is written
/// again.
class check_error : public error {
public:
    using error::error;
};

}  // namespace balm
