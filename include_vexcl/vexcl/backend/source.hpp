#pragma once
// A generator of OpenCL C source for functions and kernels.

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "vexcl/backend/context.hpp"
#include "vexcl/backend/program_header.hpp"
#include "vexcl/types.hpp"

namespace vex {
namespace backend {

/// The source that precedes a program: none is needed.
inline std::string standard_kernel_header(const command_queue&) { return {}; }

/// A stream of OpenCL C with helpers for functions, kernels and loops.
///
///     vex::backend::source_generator src(queue);
///     src.begin_kernel("scale");
///     src.begin_kernel_parameters();
///     src.parameter<size_t>("n");
///     src.parameter<vex::global_ptr<double>>("x");
///     src.end_kernel_parameters();
///     src.grid_stride_loop().open("{").new_line() << "x[idx] *= 2;";
///     src.close("}");
///     src.end_kernel();
class source_generator {
public:
    source_generator() = default;
    explicit source_generator(const command_queue& queue, bool = true) : on_cpu_(is_cpu(queue)) {}

    source_generator& new_line() {
        text_ << '\n' << std::string(2 * depth_, ' ');
        return *this;
    }
    /// Writes a bracket on its own line, and indents the following lines by one level more or less.
    source_generator& open(const char* bracket) {
        new_line() << bracket;
        ++depth_;
        return *this;
    }
    source_generator& close(const char* bracket) {
        --depth_;
        new_line() << bracket;
        return *this;
    }

    source_generator& begin_function(const std::string& result, const std::string& name) {
        new_line() << result << ' ' << name;
        return *this;
    }
    template <class Result>
    source_generator& begin_function(const std::string& name) {
        return begin_function(type_name<Result>(), name);
    }
    source_generator& begin_function_parameters() {
        has_parameters_ = false;
        return open("(");
    }
    source_generator& end_function_parameters() { return close(")").open("{"); }
    source_generator& end_function() {
        close("}");
        end_unit();
        return *this;
    }

    source_generator& begin_kernel(const std::string& name) { return begin_function("kernel void", name); }
    source_generator& begin_kernel_parameters() { return begin_function_parameters(); }
    source_generator& end_kernel_parameters() { return end_function_parameters(); }
    source_generator& end_kernel() { return close("}"); }

    source_generator& parameter(const std::string& type, const std::string& name) {
        if (has_parameters_) text_ << ',';
        has_parameters_ = true;
        new_line() << type << ' ' << name;
        return *this;
    }
    template <class P>
    source_generator& parameter(const std::string& name) {
        return parameter(type_name<std::decay_t<P>>(), name);
    }
    /// Local memory whose size is set at launch; see kernel::set_smem.
    template <class T>
    source_generator& smem_parameter(const std::string& name = "smem") {
        return parameter<vex::shared_ptr<T>>(name);
    }
    template <class T>
    source_generator& smem_declaration(const std::string& = "smem") {  // in OpenCL C it is a parameter
        return *this;
    }
    source_generator& smem_static_var(const std::string& type, const std::string& name) {
        new_line() << "local " << type << ' ' << name << ';';
        return *this;
    }

    /// The header of a loop over the work-item's share of n elements: on a CPU one after the other, which its
    /// compiler vectorises, elsewhere in strides of the number of work-items.
    source_generator& grid_stride_loop(const std::string& index = "idx", const std::string& n = "n") {
        if (on_cpu_) {
            new_line() << "ulong chunk_size = (" << n << " + get_global_size(0) - 1) / get_global_size(0);";
            new_line() << "ulong chunk_start = get_global_id(0) * chunk_size;";
            new_line() << "ulong chunk_end = chunk_start + chunk_size;";
            new_line() << "if (" << n << " < chunk_end) chunk_end = " << n << ';';
            new_line() << "for (ulong " << index << " = chunk_start; " << index << " < chunk_end; ++" << index
                       << ')';
            return *this;
        }
        new_line() << "for (ulong " << index << " = get_global_id(0); " << index << " < " << n << "; "
                   << index << " += get_global_size(0))";
        return *this;
    }
    /// A work-group barrier with a fence for local memory, or for global memory.
    source_generator& barrier(bool global = false) {
        text_ << "barrier(" << (global ? "CLK_GLOBAL_MEM_FENCE" : "CLK_LOCAL_MEM_FENCE") << ");";
        return *this;
    }
    static std::string global_id(int d) { return call("get_global_id", d); }
    static std::string global_size(int d) { return call("get_global_size", d); }
    static std::string local_id(int d) { return call("get_local_id", d); }
    static std::string local_size(int d) { return call("get_local_size", d); }
    static std::string group_id(int d) { return call("get_group_id", d); }
    static std::string num_groups(int d) { return call("get_num_groups", d); }

    std::string str() const { return text_.str(); }
    template <class T>
    friend source_generator& operator<<(source_generator& to, const T& piece) {
        to.text_ << piece;
        return to;
    }

    /// Ends a unit of source. A program that combines several generators contains equal units only once.
    void end_unit() { ends_.push_back(str().size()); }
    std::vector<std::string> units() const {
        const std::string all = str();
        std::vector<std::string> each;
        std::size_t first = 0;
        const auto add = [&](std::size_t end) {
            std::string unit = all.substr(first, end - first);
            if (unit.find_first_not_of(" \n\t") != std::string::npos) each.push_back(std::move(unit));
            first = end;
        };
        for (const std::size_t end : ends_) add(end);
        add(all.size());
        return each;
    }

private:
    static std::string call(const char* function, int d) {
        return std::string(function) + "(" + std::to_string(d) + ")";
    }

    std::ostringstream text_;
    std::vector<std::size_t> ends_;
    unsigned depth_ = 0;
    bool has_parameters_ = false;
    bool on_cpu_ = false;
};

}  // namespace backend
}  // namespace vex
