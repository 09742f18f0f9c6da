// The trail from the serial step to OpenCL: every program gives the serial result and refuses what cannot be.

#include <algorithm>
#include <sstream>
#include <vector>

#include "generate.hpp"
#include "golden.hpp"
#include "programs.hpp"
#include "reference.hpp"

namespace {

using heat_test::outcome;
using heat_test::parse;
using heat_test::print;
using H2_trail = heat_test::heat_programs;
using H3_trail = heat_test::heat_programs;
using H5_trail = heat_test::heat_programs;

// The programs of the trail that step worlds: none if the examples were not built, no step_world_tbb without
// oneTBB.
std::vector<std::string> trail() {
    std::istringstream names(BALM_TEST_HEAT_TRAIL);
    std::vector<std::string> programs;
    for (std::string name; names >> name;)
        if (name.find("step_world_") == 0) programs.push_back(name);
    return programs;
}

bool uses_opencl(const std::string& program) {
    return program.find("_v3_") != program.npos || program.find("_v4_") != program.npos ||
           program.find("_v5_") != program.npos;
}

std::vector<std::string> opencl_trail() {
    std::vector<std::string> programs = trail();
    std::erase_if(programs, [](const std::string& program) { return !uses_opencl(program); });
    return programs;
}

struct case_of_steps {
    unsigned width, height;
    bool is_closed;
    const char* dt;
    unsigned n;
};

TEST_F(H2_trail, every_program_gives_the_serial_world) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    // Few sizes: an OpenCL device on the CPU compiles a kernel for each.
    const case_of_steps cases[] = {{1, 1, false, "0.1", 3},   {1, 9, false, "0.3", 4},
                                   {33, 20, false, "0.2", 0}, {33, 20, false, "0.2", 100},
                                   {33, 20, true, "0.2", 7},  {33, 20, false, "30", 3}};
    for (const case_of_steps& each : cases) {
        heat::random_options options;
        options.closed_border = each.is_closed;
        const heat::world start = heat::make_random(each.width, each.height, 0.3f, seed + each.n, options);
        write("start.bin", print(start, heat::format::binary));
        heat::world serial = start;
        heat::step_serial(serial, std::stof(each.dt), each.n);
        for (const std::string& program : trail()) {
            SCOPED_TRACE(testing::Message() << program << ": " << each.width << " x " << each.height
                                            << ", dt " << each.dt << ", n " << each.n);
            const outcome result =
                run(program + " " + each.dt + " " + std::to_string(each.n) + " 1 <start.bin");
            ASSERT_EQ(result.code, 0) << result.err;
            const heat::world world = parse(result.out);
            EXPECT_EQ(world.width, start.width);
            EXPECT_EQ(world.alpha, start.alpha);
            EXPECT_EQ(world.properties, start.properties);
            if (uses_opencl(program)) {
                EXPECT_LE(heat::max_difference(world.state, serial.state), 1e-5);
            } else {
                EXPECT_EQ(world.state, serial.state);
            }
        }
    }
}

TEST_F(H2_trail, rows_of_any_length_are_vectorised_alike) {
    const std::vector<std::string> programs = trail();
    if (std::find(programs.begin(), programs.end(), "step_world_tbb") == programs.end()) GTEST_SKIP();
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    heat::random_options open;
    open.closed_border = false;
    for (unsigned width : {1u, 2u, 3u, 4u, 7u, 16u, 17u, 18u, 19u, 63u, 300u}) {
        heat::world world = heat::make_random(width, 40, 0.3f, seed + width, open);
        write("start.bin", print(world, heat::format::binary));
        heat::step_serial(world, 0.2f, 5);
        EXPECT_EQ(parse(run("step_world_tbb 0.2 5 1 <start.bin").out).state, world.state) << width;
    }
}

TEST_F(H2_trail, text_goes_in_and_out) {
    const std::string expected = heat_test::golden("slalom_10.dt0.1.n100.txt");
    for (const std::string& program : trail()) {
        const outcome result = run("make_world 10 0.1 | " + program + " 0.1 100");
        EXPECT_EQ(result.code, 0) << program << result.err;
        EXPECT_LE(heat::max_difference(parse(result.out).state, parse(expected).state), 1e-5) << program;
        EXPECT_EQ(result.err.find("Loaded world with w=10, h=10\nStepping by dt=0.1 for n=100\n"), 0u)
            << program;
    }
}

TEST_F(H2_trail, compare_worlds_prints_the_largest_difference) {
    if (trail().empty()) GTEST_SKIP();
    heat::world world = heat::make_slalom(12, 11, 0.1f);
    write("a", print(world, heat::format::text));
    world.state[5 * 12 + 3] = 0.25f;
    write("b", print(world, heat::format::binary));
    const outcome same = run("compare_worlds a a --tolerance 0"), different = run("compare_worlds a b");
    EXPECT_EQ(same.code, 0) << same.err;
    EXPECT_EQ(same.out, "0\n");
    EXPECT_EQ(different.code, 0) << different.err;
    EXPECT_EQ(different.out, "0.25\n");
    EXPECT_EQ(run("compare_worlds a b --tolerance 0.3").code, 0);
    EXPECT_EQ(run("compare_worlds a b --tolerance 0.2").code, 1);
    expect_refusal("compare_worlds a missing", "compare_worlds",
                   "\"missing\" cannot be opened: No such file");
    expect_refusal("head -c 40 a >cut; compare_worlds a cut", "compare_worlds", "\"cut\": the input ends");
    expect_refusal("make_world >c; compare_worlds a c", "compare_worlds", "12 x 11");
    expect_refusal("make_world 12 >d; make_world 12 | sed 's/ 0/ 1/' >e; compare_worlds d e",
                   "compare_worlds", "kind");
    expect_refusal("compare_worlds a", "compare_worlds", "required");
}

TEST_F(H2_trail, help_is_no_fault) {
    for (const std::string& program : trail()) {
        const outcome result = run(program + " --help");
        EXPECT_EQ(result.code, 0) << program;
        EXPECT_NE(result.out.find(program), std::string::npos);
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(H2_trail, kernels_come_from_the_folder_that_is_named) {
    if (opencl_trail().empty()) GTEST_SKIP();
    // A kernel that fills the world shows which file was used.
    write("step_world_v3_kernel.cl",
          "kernel void kernel_xy(float inner, float outer, global const uint* properties, global const "
          "float* state,\n"
          "                      global float* buffer) {\n"
          "    buffer[get_global_id(1) * get_global_size(0) + get_global_id(0)] = 0.25f;\n"
          "}\n");
    const outcome result = run("make_world 10 | HPCE_CL_SRC_DIR=. step_world_v3_opencl");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(parse(result.out).state, std::vector<float>(100, 0.25f));
}

TEST_F(H2_trail, kernels_that_are_missing_or_broken_are_refused) {
    if (opencl_trail().empty()) GTEST_SKIP();
    for (const std::string program : {"step_world_v4_double_buffered", "step_world_v5_packed_properties"}) {
        const std::string file = program.find("_v5_") != program.npos ? "step_world_v5_packed_properties.cl"
                                                                      : "step_world_v3_kernel.cl";
        expect_refusal("make_world 10 >world; HPCE_CL_SRC_DIR=no/folder " + program + " <world", program,
                       "no/folder/" + file);
        write(file, "kernel void kernel_xy(float inner) { no_such_name = inner; }\n");
        const std::string broken = "make_world 10 | HPCE_CL_SRC_DIR=. " + program;
        expect_refusal(broken, program, "./" + file);
        const std::string log = run(broken).err;
        EXPECT_NE(log.find("Log for device "), log.npos) << log;
        EXPECT_NE(log.find("no_such_name"), log.npos) << log;
        write(file, "kernel void other(float inner) {}\n");
        expect_refusal(broken, program, "no kernel kernel_xy");
    }
    expect_refusal(
        "mkdir -p d/step_world_v3_kernel.cl && make_world 10 | HPCE_CL_SRC_DIR=d step_world_v3_opencl",
        "step_world_v3_opencl", "cannot be read");
}

TEST_F(H3_trail, platforms_devices_and_choices_are_listed) {
    for (const std::string& program : opencl_trail()) {
        const outcome result = run("make_world 10 | HPCE_SELECT_PLATFORM=0 HPCE_SELECT_DEVICE=0 " + program);
        EXPECT_EQ(result.code, 0) << result.err;
        std::size_t at = 0;
        for (const char* line :
             {"Stepping by dt=0.1 for n=1\n", "Found ", " platforms\n", " Platform 0 : ", "\n",
              "Choosing platform 0\n", "Found ", " devices\n", " Device 0 : ", "\n", "Choosing device 0\n"}) {
            at = result.err.find(line, at);
            ASSERT_NE(at, std::string::npos) << line << " in\n" << result.err;
        }
        EXPECT_EQ(result.out, run("make_world 10 | " + program).out);
    }
}

TEST_F(H3_trail, wrong_choices_are_refused) {
    if (opencl_trail().empty()) GTEST_SKIP();
    const std::string program = "step_world_v4_double_buffered";
    for (const std::string variable : {"HPCE_SELECT_PLATFORM", "HPCE_SELECT_DEVICE"})
        for (const std::string value : {"99", "-1", "first", "0x", "''", "99999999999999999999999"})
            expect_refusal("make_world 10 >world; " + variable + "=" + value + " " + program + " <world",
                           program, variable + " is \"");
    // The loader looks for platforms in this folder.
    expect_refusal("make_world 10 >world; OCL_ICD_VENDORS=/no/such/folder " + program + " <world", program,
                   "no OpenCL platform");
}

TEST_F(H5_trail, wrong_arguments_and_damaged_worlds_are_refused) {
    for (const std::string& program : trail()) {
        for (const std::string arguments : {"nan", "-0.1", "0.1 -1", "0.1 1.5", "0.1 1 2"})
            expect_refusal(program + " " + arguments + " </dev/null", program, "number");
        expect_refusal("make_world 10 1e30 >world; " + program + " 1e30 <world", program, "too large");
        expect_refusal(program + " </dev/null", program, "empty");
        expect_refusal(program + " </dev/zero", program, "not a heat world");
        expect_refusal("make_world >world; head -c 700 world | " + program, program, "ends");
        expect_refusal("make_world >world; sed 's/^10 10/1000000000 1000000000/' world | " + program, program,
                       "flags");
    }
}

}  // namespace
