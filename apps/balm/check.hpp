#pragma once
// What the parts of `balm selftest` share: columns of values, a kernel put together from them at run time,
// and the outcome of checking a column that a device gave against the host's.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/device.hpp"
#include "balm/trace.hpp"
#include "balm/types.hpp"
#include "balm/vector.hpp"

namespace balm::tool {

/// Values of one type, as bit patterns in the low bits.
struct column {
    scalar type = scalar::nothing;
    std::vector<std::uint64_t> bits;
};

/// What rows of one type are applied to: all pairs of special values, then random ones.
struct operands {
    column a, b, c;
    column integer;  ///< i32: shift counts, exponents
    operands(scalar type, std::size_t count, std::mt19937_64&);
};

/// A value as C++ would write it, exactly.
std::string to_text(scalar, std::uint64_t bits);

/// A column as it lies in memory, and back.
std::vector<std::byte> packed(const column&);
column unpacked(scalar type, const std::byte* bytes, std::size_t count);

/// The same bits, or two NaNs.
bool is_same(scalar, std::uint64_t, std::uint64_t);

/// A result that the host does not agree with.
struct wrong_value {
    std::vector<std::string> inputs;
    std::string got, expected;
    double ulp = 0;
};

/// The outcome for one row and type, one conversion, or one whole path.
struct check {
    std::string kind;  ///< "built-in", "array built-in", "conversion" or "path"
    std::string name;  ///< "sin"; "i64 to f32"; "reduction"
    std::string type;  ///< of the operands; empty for a path
    std::size_t values = 0, wrong = 0;
    int bound = 0;                          ///< ulp allowed; -1: none is asked for
    bool is_floating = false;               ///< the results are, so that errors are measured:
    double worst_ulp = 0;                   ///< the largest one
    std::vector<std::string> worst_inputs;  ///< where that was
    std::vector<wrong_value> examples;
    std::string fault;  ///< why it could not be run

    bool passed() const { return wrong == 0 && fault.empty(); }
    /// "f32 sin", "f32 to i8", "reduction".
    std::string words() const;
};

/// How a run is made.
struct settings {
    std::uint64_t seed = 0;
    std::size_t most_examples = 5;  ///< of each check
    std::size_t values = 8192;  ///< of each built-in: all pairs of about 80 special values, and random ones
    bool is_quick = false;      ///< of the built-ins two types, of the paths the first, no arrays
    /// Called after each piece of work, for a progress bar: steps take about the same time.
    std::function<void(std::size_t steps)> on_steps = [](std::size_t) {};
};

/// A row of a kernel that has all rows is a step; a kernel of its own takes so many (PoCL 3.1 on two cores of
/// an EPYC, nothing cached: 0.02 s and 0.4 s).
inline constexpr std::size_t steps_of_a_kernel = 20;

/// Notes a wrong value, with its inputs while there are few.
void note_wrong(check&, const settings&, wrong_value);

/// One kernel that works on columns, put together while it is traced: operands in, results out.
///
///     column_kernel k(device, "square", n);
///     const trace::node x = k.operand(xs), both[] = {x, x};
///     k.result(trace::apply(builtin::mul, both, 2));
///     column squares = k.run()[0];
class column_kernel {
public:
    column_kernel(const device&, std::string_view name, std::size_t rows);
    /// The element of a column, which lives until run(). All columns have the same number of elements.
    trace::node operand(const column&);
    /// Keeps a value as the next column of what run() gives.
    void result(trace::node);
    std::vector<column> run();

private:
    /// Columns of one type, one after the other in one buffer.
    struct output {
        scalar type;
        trace::node pointer;
        std::size_t columns = 0;
    };
    struct place {
        std::size_t output, position;
    };
    output& output_of(scalar);

    const device& device_;
    std::size_t rows_;
    trace::recording recording_;
    trace::node index_;
    std::vector<bound_argument> arguments_;
    std::vector<output> outputs_;
    std::vector<std::size_t> output_arguments_;
    std::vector<place> results_;
};

/// The second operand is an i32: a shift count or an exponent.
bool takes_integer(builtin);
/// The rows that compute in this type, without conversion.
std::vector<builtin> rows_of(scalar type, const device_info& on);
/// The outcome, still empty, of a row's check.
check new_check(builtin, scalar type, const device_info& on);
/// What a device gave for a row on the first operands of each kind, against the host oracle.
check compare_builtin(builtin, const column& got, const operands&, const device_info& on, const settings&);

/// The types whose rows are checked: those that the device has; of a quick run two, as each costs compile
/// time.
std::vector<scalar> types_of_builtins(const device_info& on, const settings&);

/// Every row of builtins.def for every type that it takes, on `settings::values` operands, against the host
/// oracle.
std::vector<check> check_builtins(const device&, const settings&);
/// The worst errors of these checks in a table for people: a line a function, its types side by side.
std::string ulp_table(const std::vector<check>&);
/// Every floating row in array expressions, on CPUs, where they are computed on vectors.
std::vector<check> check_arrays(const device&, const settings&);
/// Every scalar type to every other.
std::vector<check> check_conversions(const device&, const settings&);
/// An array expression, a reduction, a kernel with local memory, a program through a disk cache; look-back,
/// where algorithms take it.
std::vector<check> check_paths(const device&, const settings&);
/// Whether kernels on the device have groups that wait for what others announce.
bool takes_look_back(const device&);
struct look_back_rounds {
    std::size_t launches = 64, groups = 4096;
    int loads = 1 << 22;  ///< of a word before a group gives up: seconds on GPUs
};
/// Announcements that groups did not see in time, saw in part, or saw though they are of another launch.
struct look_back_faults {
    std::int64_t missing = 0, torn = 0, stale = 0;
};
/// One launch, for which the words are 0: the number of groups that have started, and two for each group. The
/// first groups may be absent, so that they announce nothing.
look_back_faults run_look_back(const device&, vector<std::uint64_t>& words, unsigned seed, int loads,
                               std::size_t absent = 0);
/// Whether announcements arrive whole, in time, and are those of the launch.
check check_look_back(const device&, const settings&, const look_back_rounds& = {});

}  // namespace balm::tool
