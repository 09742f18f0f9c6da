// Kernels drawn at random leave on every device what the same tree leaves when C++ executes it on host
// numbers; and so do they when the IR is interpreted, as it was traced and as the printers get it. On devices
// some of their functions are given as text.

#include <algorithm>
#include <cstring>
#include <deque>
#include <iostream>
#include <span>
#include <sstream>

#include "emit/printer.hpp"
#include "ir/lower/lower.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/run.hpp"
#include "kernel/sub_groups.hpp"
#include "support/c_serial/batch.hpp"
#include "support/c_serial/dialect.hpp"
#include "support/case_count.hpp"
#include "support/interpreter.hpp"
#include "support/kernel_tree.hpp"

namespace balm::test {

namespace {

/// Case k has the seed BALM_TEST_SEED + k.
const std::size_t kernel_cases = case_count(4), cases_without_devices = case_count(100),
                  serial_kernels = case_count(30);

tree::data run_on(const device& on, const tree::recorded& recorded, const tree::data& before) {
    tree::data d = before;
    auto in_ints = on.in_buffer<std::int32_t>(d.in_ints.size());
    auto in_floats = on.in_buffer<float>(d.in_floats.size() / tree::in_columns, tree::in_columns);
    auto in_halves = on.in_buffer<half4>(d.in_halves.size());
    auto ints = on.mixed_buffer<std::int32_t>(d.ints.size());
    auto floats = on.mixed_buffer<float>(d.floats.size());
    auto halves = on.mixed_buffer<half>(d.halves.size());
    auto half_vectors = on.mixed_buffer<half3>(d.half_vectors.size());
    auto records = on.mixed_buffer<tree::record>(d.records.size());
    auto spread = on.mixed_buffer<std::int32_t>(d.spread.size());
    auto image = on.image<uint4>(tree::image_height, tree::image_width);
    auto sampled = on.image<float>(tree::sampled_size, tree::sampled_size);
    auto out_image = on.image<std::int32_t>(tree::items, tree::window);
    auto out = on.out_buffer<std::uint32_t>(d.out.size());
    std::vector<uint4> elements;
    for (const auto& lanes : d.image) elements.push_back({lanes[0], lanes[1], lanes[2], lanes[3]});
    const wait_list written{in_ints.write(d.in_ints),
                            in_floats.write(d.in_floats),
                            in_halves.write(d.in_halves),
                            ints.write(d.ints),
                            floats.write(d.floats),
                            halves.write(d.halves),
                            half_vectors.write(d.half_vectors),
                            records.write(d.records),
                            spread.write(d.spread),
                            image.write(elements),
                            sampled.write(d.sampled),
                            out_image.write(d.out_image)};
    const auto bound =
        recorded.kernel(d.s, d.u, d.t, in_ints, in_floats, in_halves, ints, floats, halves, half_vectors,
                        records, spread, image, sampled.sampled(recorded.through), out_image,
                        balm::local<std::int32_t>(tree::items * tree::window), out);
    const event done = recorded.launch.on(on)(bound, d, written);
    ints.read_into(d.ints, done);
    floats.read_into(d.floats, done);
    halves.read_into(d.halves, done);
    half_vectors.read_into(d.half_vectors, done);
    records.read_into(d.records, done);
    spread.read_into(d.spread, done);
    out_image.read_into(d.out_image, done);
    out.read_into(d.out, done);
    return d;
}

/// The first element that differs, and its bytes where they do first; "" for none.
template <class T>
std::string first_element_that_differs(const char* name, const std::vector<T>& got,
                                       const std::vector<T>& expected) {
    const std::size_t at = static_cast<std::size_t>(
        std::mismatch(got.begin(), got.end(), expected.begin(), expected.end()).first - got.begin());
    if (at == got.size() && at == expected.size()) return "";
    std::ostringstream said;
    said << "wrong: " << name << '[' << at << ']';
    if (at < std::min(got.size(), expected.size())) {
        const auto bytes_of = [&](const std::vector<T>& of) { return std::as_bytes(std::span(&of[at], 1)); };
        const auto is = bytes_of(got), should_be = bytes_of(expected);
        const auto first = std::mismatch(is.begin(), is.end(), should_be.begin()).first - is.begin();
        const auto from = static_cast<std::size_t>(first) / 4 * 4,
                   count = std::min<std::size_t>(4, sizeof(T) - from);
        std::uint32_t word_is = 0, word_should_be = 0;
        std::memcpy(&word_is, &is[from], count);
        std::memcpy(&word_should_be, &should_be[from], count);
        said << ", from byte " << from << ": 0x" << std::hex << word_is << ", not 0x" << word_should_be;
    }
    return said.str();
}
std::string difference(const tree::data& got, const tree::data& expected) {
    for (const std::string& each :
         {first_element_that_differs("ints", got.ints, expected.ints),
          first_element_that_differs("floats", got.floats, expected.floats),
          first_element_that_differs("halves", got.halves, expected.halves),
          first_element_that_differs("half_vectors", got.half_vectors, expected.half_vectors),
          first_element_that_differs("records", got.records, expected.records),
          first_element_that_differs("spread", got.spread, expected.spread),
          first_element_that_differs("out_image", got.out_image, expected.out_image),
          first_element_that_differs("out", got.out, expected.out)})
        if (!each.empty()) return each;
    return "";
}

constexpr interpreter_grid one_group{{tree::items, 1, 1}, {tree::items, 1, 1}};

template <class T>
interpreter_argument image_of(std::vector<T>& elements, std::int64_t width, std::int64_t height,
                              const sampler& through = {}) {
    return {0, std::as_writable_bytes(std::span(elements)), {width, height, 1}, through};
}

/// What is left when `run` is given the kernel's arguments. The kernel is as traced, which names the module's
/// constants, or as it is printed, which has them and the local memory of emulated sub-groups as parameters.
template <class Run>
tree::data left_by(const ir::function& kernel, const tree::program& p, const tree::data& before, Run&& run) {
    tree::data d = before;
    std::vector<std::int32_t> local(tree::items * tree::window);
    std::vector<interpreter_argument> arguments{
        value_of(d.s),
        value_of(d.u),
        value_of(d.t),
        memory_of(d.in_ints),
        memory_of(d.in_floats),
        memory_of(d.in_halves),
        memory_of(d.ints),
        memory_of(d.floats),
        memory_of(d.halves),
        memory_of(d.half_vectors),
        memory_of(d.records),
        memory_of(d.spread),
        image_of(d.image, tree::image_width, tree::image_height),
        image_of(d.sampled, tree::sampled_size, tree::sampled_size, p.through),
        image_of(d.out_image, tree::window, tree::items),
        memory_of(local),
        memory_of(d.out)};
    const std::size_t of_launches = arguments.size();
    bool has_constants = false;
    const auto constant_of = [&](bool is_one) {
        return is_one ? memory_of(d.given_record) : memory_of(d.given);
    };
    std::deque<std::vector<std::byte>> rooms;
    for (std::size_t k = of_launches; k < kernel.parameters.size(); ++k) {
        const ir::parameter& hidden = kernel.parameters[k];
        switch (hidden.origin.from) {
            case runtime::origin::extent:
                arguments.push_back(value_of(std::int64_t{tree::in_columns}));
                break;
            case runtime::origin::exchange:
                arguments.push_back({0, rooms.emplace_back(tree::items * sizeof(std::uint64_t))});
                break;
            default: arguments.push_back(constant_of(hidden.is_one)); has_constants = true;
        }
    }
    if (!has_constants)
        for (const auto& each : kernel.given) arguments.push_back(constant_of(each->given_count == 1));
    run(arguments);
    return d;
}

tree::data interpreted(const ir::function& kernel, const tree::program& p, const tree::data& before) {
    return left_by(kernel, p, before,
                   [&](const auto& arguments) { interpret(kernel, one_group, arguments); });
}

device_info with_constant_memory() {
    device_info info;
    info.constant_memory = 65536;
    info.max_constant_arguments = 8;
    return info;
}

/// Shows a kernel that failed.
void show(const tree::kernel_type& kernel) {
    const emit::dialect& language = emit::dialect_of(runtime::dialect::opencl_c);
    std::cout << emit::print(
                     ir::lower(kernels::written_out(*kernel.function(), language.has, with_constant_memory()),
                               {})
                         .kernel,
                     language)
              << std::flush;
}

/// A kernel as a library's source has it.
struct serial_case {
    std::uint64_t seed;
    tree::program drawn;
    ir::function printed;
    std::size_t number;
};

serial_case draw_serial(std::uint64_t case_seed, serial_batch& batch) {
    serial_case drawn{case_seed, tree::draw(case_seed), {}, 0};
    const tree::recorded recorded = record_kernel(drawn.drawn);
    drawn.printed =
        ir::lower(kernels::written_out(*recorded.kernel.function(), c_serial().has, with_constant_memory()),
                  {})
            .kernel;
    drawn.number = batch.add(drawn.printed);
    return drawn;
}

/// One call of the compiler for `count` kernels.
void run_kernels_serially(std::uint64_t first_seed, std::size_t count) {
    serial_batch batch;
    std::vector<serial_case> all;
    for (std::size_t k = 0; k < count; ++k) all.push_back(draw_serial(first_seed + k, batch));
    batch.compile();
    for (const serial_case& each : all) {
        const tree::data before(each.seed);
        tree::data expected = before;
        run(each.drawn, expected);
        const tree::data got = left_by(each.printed, each.drawn, before, [&](const auto& arguments) {
            batch.run(each.number, one_group, arguments);
        });
        EXPECT_TRUE(got == expected) << "BALM_TEST_CASES=1 BALM_TEST_SEED=" << each.seed << '\n'
                                     << emit::print(each.printed, c_serial());
    }
}

}  // namespace

TEST(C14_random_kernels, mean_the_same_in_the_ir) {
    for (std::size_t k = 0; k < cases_without_devices; ++k) {
        const std::uint64_t case_seed = seed() + static_cast<std::uint64_t>(k);
        SCOPED_TRACE("BALM_TEST_CASES=1 BALM_TEST_SEED=" + std::to_string(case_seed));
        const tree::program p = tree::draw(case_seed);
        const tree::data before(case_seed);
        tree::data expected = before;
        run(p, expected);
        try {
            const tree::recorded recorded = record_kernel(p);
            const ir::function& kernel = *recorded.kernel.function();
            EXPECT_TRUE(interpreted(kernel, p, before) == expected) << "as traced";
            for (const auto driver : {runtime::dialect::opencl_c, runtime::dialect::cuda_cpp}) {
                const emit::features& has = emit::dialect_of(driver).has;
                const bool emulates = !has.has_sub_groups;
                const ir::function printed =
                    ir::lower(kernels::written_out(kernel, has, with_constant_memory()),
                              {.on_cpu = emulates, .loops_over_items = emulates})
                        .kernel;
                EXPECT_TRUE(interpreted(printed, p, before) == expected)
                    << (emulates ? "as a CPU gets it in OpenCL C" : "as a GPU gets it in CUDA C++");
            }
        } catch (const std::exception& fault) {
            ADD_FAILURE() << fault.what();
        }
        if (testing::Test::HasFailure()) break;
    }
}

TEST(C14_random_kernels, mean_the_same_as_plain_cpp) {
    if (!has_serial_compiler()) GTEST_SKIP() << "The compiler that Balm was built with is not here";
    constexpr std::size_t together = 50;
    for (std::size_t k = 0; k < serial_kernels; k += together) {
        run_kernels_serially(seed() + k, std::min(together, serial_kernels - k));
        if (testing::Test::HasFailure()) break;
    }
}

TEST(C14_random_kernels, leave_what_the_host_computes) {
    on_all_devices([](const device& on) {
        if (!on.info().has_images) return;
        for_each_case(kernel_cases, [&](std::size_t k) {
            const std::uint64_t case_seed = seed() + static_cast<std::uint64_t>(k);
            constexpr bool with_texts = true;
            const tree::program p = tree::draw(case_seed, with_texts);
            const tree::data before(case_seed);
            tree::data expected = before;
            run(p, expected);
            const auto report = [&](const std::string& found) {
                ADD_FAILURE() << "BALM_TEST_CASES=1 BALM_TEST_SEED=" << case_seed << ": " << found;
            };
            try {
                const tree::recorded recorded = record_kernel(p);
                const std::string found = difference(run_on(on, recorded, before), expected);
                if (found.empty()) return;
                const tree::data unoptimised = run_on(on, record_kernel(p, {.optimise = false}), before);
                report(found + optimiser_words(difference(unoptimised, expected).empty()));
                if (kernel_cases == 1) show(recorded.kernel);
            } catch (const error& fault) {
                report(fault.what());
            }
        });
    });
}

}  // namespace balm::test
