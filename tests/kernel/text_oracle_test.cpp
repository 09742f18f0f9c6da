// What the CUDA backend makes of a text, against what an OpenCL compiler makes of it: the rewritten text is
// compiled as host C++, beside a few stand-ins for what CUDA provides, and its results are compared with
// those of the text itself on the OpenCL devices.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/system.hpp"
#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/run.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
namespace fs = std::filesystem;
using bytes = host_array<std::uint8_t>;

constexpr std::size_t oracle_items = 64;

std::string text_folder() { return BALM_TEST_SOURCE_DIR "/tests/kernel/text/"; }

/// The kernel as host code; null, with a failure, where it does not compile.
using host_kernel = std::function<void(const std::uint8_t* in, std::uint8_t* out)>;
class host_program {
public:
    host_program() : folder_(fs::temp_directory_path() / ("balm_text_" + std::to_string(getpid()))) {
        fs::create_directories(folder_);
    }
    ~host_program() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    host_kernel compile(const ir::function& kernel) {
        const std::string name = kernel.name + std::to_string(++count_);
        const fs::path source = folder_ / (name + ".cpp"), library = folder_ / (name + ".so");
        std::ofstream(source)
            << "#include \"" << text_folder() << "cuda_on_host.hpp\"\n"
            << emit::print(kernel, runtime::dialect::cuda_cpp)
            << "extern \"C\" void balm_host_run(const unsigned char* in, unsigned char* out) {\n"
               "    gridDim.x = "
            << oracle_items << ";\n    for (unsigned i = 0; i < gridDim.x; ++i) {\n"
            << "        blockIdx.x = i;\n        balm_cl::balm_entries::" << kernel.name
            << "(in, out);\n    }\n}\n";
        const std::string command =
            std::string(BALM_TEST_COMPILER) +
            " -shared -fPIC -O0 -w -std=c++17 -ffp-contract=off -fno-strict-aliasing -o " + library.string() +
            " " + source.string() + " 2> " + (folder_ / "log").string();
        if (std::system(command.c_str()) != 0) {
            std::ifstream log(folder_ / "log");
            std::string words((std::istreambuf_iterator<char>(log)), {});
            ADD_FAILURE() << words.substr(0, 4000);
            return nullptr;
        }
        const std::string path = library.string();
        auto opened = runtime::shared_library::open_first({&path, 1});
        opened.keep_loaded();
        return opened.function<void(const std::uint8_t*, std::uint8_t*)>("balm_host_run");
    }

private:
    fs::path folder_;
    static inline int count_ = 0;  // a library of the same name would not be opened again
};

/// Compares one element of a result; `where` is its byte.
using comparison =
    std::function<void(std::size_t where, const std::uint8_t* host, const std::uint8_t* device)>;

void compare(const text_source& source, const std::string& name, std::size_t out_size, const bytes& input,
             std::size_t element, const comparison& same) {
    const auto kernel = balm::source_kernel<1, void(In<std::uint8_t>, Out<std::uint8_t>)>(name, source);
    host_program program;
    const host_kernel host = program.compile(*kernel.function());
    if (!host) return;
    auto* aligned_in = static_cast<std::uint8_t*>(std::aligned_alloc(128, (input.size() + 127) / 128 * 128));
    auto* aligned_out = static_cast<std::uint8_t*>(std::aligned_alloc(128, (out_size + 127) / 128 * 128));
    std::memcpy(aligned_in, input.data(), input.size());
    std::memset(aligned_out, 0, out_size);
    host(aligned_in, aligned_out);
    int tried = 0;
    for (const device& on : present_devices()) {
        // NVIDIA's OpenCL rounds some of these as it likes (and loses sign(-0)): a CPU's is the judge.
        if (on.info().api != backend::opencl || on.info().type != device_type::cpu) continue;
        SCOPED_TRACE(words(on));
        ++tried;
        auto out = on.mixed_buffer<std::uint8_t>(out_size);
        out.write(std::vector<std::uint8_t>(out_size, 0));
        on.execute(kernel(in(on, input), out), {oracle_items});
        const auto got = out.read();
        for (std::size_t at = 0; at + element <= out_size && !testing::Test::HasFailure(); at += element)
            same(at, aligned_out + at, got.data() + at);
    }
    std::free(aligned_in);
    std::free(aligned_out);
    if (tried == 0) GTEST_SKIP() << "no OpenCL device that is a CPU";
}

bytes random_bytes(std::size_t n) {
    auto random = seeded_random();
    bytes list(n);
    for (auto& each : list) each = static_cast<std::uint8_t>(random());
    return list;
}
/// Floating values of all kinds: small whole ones, fractions, special ones, any bits.
template <class T>
bytes random_floats(std::size_t count, double largest) {
    auto random = seeded_random();
    bytes list(count * sizeof(T));
    const T special[] = {T(0),
                         -T(0),
                         T(1),
                         T(-1),
                         std::numeric_limits<T>::infinity(),
                         -std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN(),
                         std::numeric_limits<T>::max(),
                         std::numeric_limits<T>::min(),
                         T(0.5),
                         T(2.5),
                         T(-3.5)};
    std::uniform_real_distribution<double> spread(-largest, largest);
    for (std::size_t k = 0; k < count; ++k) {
        T value = static_cast<T>(spread(random));
        const auto kind = random() % 4;
        if (kind == 0) value = std::round(value);
        if (kind == 1 && largest > 100) value = special[random() % std::size(special)];
        std::memcpy(list.data() + k * sizeof(T), &value, sizeof(T));
    }
    return list;
}

template <class T>
T value_at(const std::uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

// ---- integers ---------------------------------------------------------------------------------------

/// The fourth element of a vector of three is anything.
bool is_unused(std::size_t where, std::size_t element) {
    const std::size_t per_item = where / element % (40 * 36);
    return per_item >= 40 * 8 && per_item < 40 * 12 && per_item % 4 == 3;
}

void compare_integers(const char* type, std::size_t size) {
    const auto source = text_source::from_string(std::string("#define T ") + type, "type") +
                        text_source::from_file(text_folder() + "integers.cl");
    compare(source, "integers", oracle_items * 40 * 36 * size, random_bytes(oracle_items * 3 * 16 * size),
            size, [size](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                if (is_unused(at, size)) return;
                const std::size_t per_item = at / size % (40 * 36);
                EXPECT_EQ(std::memcmp(host, device, size), 0)
                    << "element " << per_item << " of work-item " << at / size / (40 * 36);
            });
}
#define BALM_TEST_INTEGERS(type, size) \
    TEST(C11_text_integers, of_##type##_compute_what_opencl_does) { compare_integers(#type, size); }
BALM_TEST_INTEGERS(char, 1)
BALM_TEST_INTEGERS(uchar, 1)
BALM_TEST_INTEGERS(short, 2)
BALM_TEST_INTEGERS(ushort, 2)
BALM_TEST_INTEGERS(int, 4)
BALM_TEST_INTEGERS(uint, 4)
BALM_TEST_INTEGERS(long, 8)
BALM_TEST_INTEGERS(ulong, 8)
#undef BALM_TEST_INTEGERS

TEST(C11_text_integers, of_mixed_sizes_compute_what_opencl_does) {
    compare(text_source::from_file(text_folder() + "mixed_integers.cl"), "mixed_integers", oracle_items * 320,
            random_bytes(oracle_items * 32), 4,
            [](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                EXPECT_EQ(value_at<std::int32_t>(host), value_at<std::int32_t>(device))
                    << "word " << at % 320 / 4 << " of work-item " << at / 320;
            });
}

// ---- floating point ---------------------------------------------------------------------------------

template <class T>
void expect_same_number(const std::uint8_t* host, const std::uint8_t* device, std::size_t element) {
    const T a = value_at<T>(host), b = value_at<T>(device);
    EXPECT_TRUE(is_same(a, b)) << "element " << element << ": " << a << " on the host, " << b
                               << " on the device";
}

template <class T>
void compare_floats(const char* name) {
    const auto source = text_source::from_string(std::string("#define T ") + name, "type") +
                        text_source::from_file(text_folder() + "floats.cl");
    compare(source, "floats", oracle_items * 40 * 36 * sizeof(T),
            random_floats<T>(oracle_items * 3 * 16, 1000), sizeof(T),
            [](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                if (!is_unused(at, sizeof(T)))
                    expect_same_number<T>(host, device, at / sizeof(T) % (40 * 36));
            });
}
TEST(C11_text_floats, f32_compute_what_opencl_does) { compare_floats<float>("float"); }
TEST(C11_text_floats, f64_compute_what_opencl_does) { compare_floats<double>("double"); }

TEST(C11_text_floats, literals_and_components_are_those_of_opencl) {
    compare(text_source::from_file(text_folder() + "components.cl"), "components", oracle_items * 640,
            random_floats<float>(oracle_items * 16, 90), 4,
            [](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                expect_same_number<float>(host, device, at % 640 / 4);
            });
}

TEST(C11_text_floats, elementary_functions_are_near_those_of_opencl) {
    compare(text_source::from_file(text_folder() + "near.cl"), "near", oracle_items * 640,
            random_floats<float>(oracle_items * 16, 90), 4,
            [](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                const double a = value_at<float>(host), b = value_at<float>(device);
                EXPECT_NEAR(a, b, 1e-4 * std::max(1.0, std::fabs(b))) << "element " << at % 640 / 4;
            });
}

// ---- conversions ------------------------------------------------------------------------------------

void compare_conversions(const std::string& type, std::size_t size) {
    const auto source = text_source::from_string("#define F " + type, "type") +
                        text_source::from_file(text_folder() + "conversions.cl");
    const bytes input = type == "float"    ? random_floats<float>(oracle_items * 4, 70000)
                        : type == "double" ? random_floats<double>(oracle_items * 4, 70000)
                                           : random_bytes(oracle_items * 4 * size);
    compare(source, "conversions", oracle_items * 1344, input, 4,
            [](std::size_t at, const std::uint8_t* host, const std::uint8_t* device) {
                const std::size_t part = at % 1344;
                if (part >= 960 && part < 1088) return expect_same_number<float>(host, device, part);
                if (part < 1088) {
                    EXPECT_EQ(std::memcmp(host, device, 4), 0)
                        << "byte " << part << " of work-item " << at / 1344;
                    return;
                }
                if (part % 8 == 0) expect_same_number<double>(host, device, part);
            });
}
#define BALM_TEST_CONVERSIONS(type, size) \
    TEST(C11_text_conversions, of_##type##_give_what_opencl_gives) { compare_conversions(#type, size); }
BALM_TEST_CONVERSIONS(char, 1)
BALM_TEST_CONVERSIONS(uchar, 1)
BALM_TEST_CONVERSIONS(short, 2)
BALM_TEST_CONVERSIONS(ushort, 2)
BALM_TEST_CONVERSIONS(int, 4)
BALM_TEST_CONVERSIONS(uint, 4)
BALM_TEST_CONVERSIONS(long, 8)
BALM_TEST_CONVERSIONS(ulong, 8)
BALM_TEST_CONVERSIONS(float, 4)
BALM_TEST_CONVERSIONS(double, 8)
#undef BALM_TEST_CONVERSIONS

}  // namespace

}  // namespace balm::test
