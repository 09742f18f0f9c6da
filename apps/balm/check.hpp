#pragma once
// Shared by the parts of `balm selftest`: columns of values, a kernel assembled from them at run time, and
// the outcome of comparing a device's column with the host's.

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

/// Operands for the rows of one type: all pairs of special values, then random ones.
struct operands {
    column a, b, c;
    column integer;  ///< i32: shift counts, exponents
    operands(scalar type, std::size_t count, std::mt19937_64&);
};

/// A value as text; floating-point values with enough digits to read them back exactly.
std::string to_text(scalar, std::uint64_t bits);

/// Converts a column to its layout in memory, and back.
std::vector<std::byte> packed(const column&);
column unpacked(scalar type, const std::byte* bytes, std::size_t count);

/// Whether the values have the same bits or are both NaN.
bool is_same(scalar, std::uint64_t, std::uint64_t);

/// A result that disagrees with the host's.
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
    int bound = 0;                          ///< ulp allowed; -1: any result is accepted
    bool is_floating = false;               ///< the results are, and errors are measured
    double worst_ulp = 0;                   ///< the largest error
    std::vector<std::string> worst_inputs;  ///< of the largest error
    std::vector<wrong_value> examples;
    std::string fault;  ///< why it could not be run

    bool passed() const { return wrong == 0 && fault.empty(); }
    /// "f32 sin", "f32 to i8", "reduction".
    std::string words() const;
};

/// Options of a run.
struct settings {
    std::uint64_t seed = 0;
    std::size_t most_examples = 5;  ///< kept per check
    std::size_t values = 8192;      ///< per built-in: all pairs of about 80 special values, then random ones
    bool is_quick = false;          ///< built-ins of two types, only the first path, no arrays
    /// Called after each piece of work, for a progress bar: steps take about the same time.
    std::function<void(std::size_t steps)> on_steps = [](std::size_t) {};
};

/// A row in a kernel of all rows counts as one step, a separate kernel as this many (PoCL 3.1 on two cores of
/// an EPYC, nothing cached: 0.02 s and 0.4 s).
inline constexpr std::size_t steps_of_a_kernel = 20;

/// Counts a wrong value, and keeps it as an example if there are fewer than `most_examples`.
void note_wrong(check&, const settings&, wrong_value);

/// A kernel on columns, assembled while it is traced: operands in, results out.
///
///     column_kernel k(device, "square", n);
///     const trace::node x = k.operand(xs), both[] = {x, x};
///     k.result(trace::apply(builtin::mul, both, 2));
///     column squares = k.run()[0];
class column_kernel {
public:
    column_kernel(const device&, std::string_view name, std::size_t rows);
    /// The work-item's element of a column; valid until run(). All columns have the same number of elements.
    trace::node operand(const column&);
    /// Stores a value as the next column that run() returns.
    void result(trace::node);
    std::vector<column> run();

private:
    /// Columns of one type, consecutive in one buffer.
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

/// Whether the second operand is an i32: a shift count or an exponent.
bool takes_integer(builtin);
/// The rows that compute in this type, without conversion.
std::vector<builtin> rows_of(scalar type, const device_info& on);
/// An empty outcome for a row's check.
check new_check(builtin, scalar type, const device_info& on);
/// Compares a row's results on a device, one for each of the first operands, with the host oracle.
check compare_builtin(builtin, const column& got, const operands&, const device_info& on, const settings&);

/// The types whose rows are checked: those that the device supports; two in a quick run, since each costs
/// compile time.
std::vector<scalar> types_of_builtins(const device_info& on, const settings&);

/// Checks every row of builtins.def, for every type that it takes, on `settings::values` operands against the
/// host oracle.
std::vector<check> check_builtins(const device&, const settings&);
/// The worst errors of these checks as a text table: one line per function, its types side by side.
std::string ulp_table(const std::vector<check>&);
/// Checks every floating-point row in array expressions, on CPUs only, which compute them on vectors.
std::vector<check> check_arrays(const device&, const settings&);
/// Checks the conversion of every scalar type to every other.
std::vector<check> check_conversions(const device&, const settings&);
/// Checks an array expression, reductions, a kernel with local memory, a program through a disk cache, and
/// look-back where algorithms use it.
std::vector<check> check_paths(const device&, const settings&);
/// Whether algorithms on the device use look-back: groups that wait for values which others announce.
bool takes_look_back(const device&);
struct look_back_rounds {
    std::size_t launches = 64, groups = 4096;
    int loads = 1 << 22;  ///< of a word before a group gives up; they take seconds on GPUs
};
/// Numbers of announcements that did not arrive in time, were seen in part, or were of another launch.
struct look_back_faults {
    std::int64_t missing = 0, torn = 0, stale = 0;
};
/// Runs one launch. `words`, which must be 0, holds two words per group. The
/// first `absent` groups are not launched, and announce nothing.
look_back_faults run_look_back(const device&, vector<std::uint64_t>& words, unsigned seed, int loads,
                               std::size_t absent = 0);
/// Checks that announcements arrive whole and in time, and are those of the launch.
check check_look_back(const device&, const settings&, const look_back_rounds& = {});

}  // namespace balm::tool
