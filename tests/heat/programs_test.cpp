// The programs as a user of the heat course runs them: in a shell, in pipes, with wrong arguments too.

#include "programs.hpp"

#include <filesystem>

#include "golden.hpp"
#include "reference.hpp"

namespace {

using heat_test::golden;
using heat_test::golden_path;
using heat_test::parse;

using H1_programs = heat_test::heat_programs;
using H5_programs = heat_test::heat_programs;
using heat_test::outcome;

TEST_F(H1_programs, make_world_writes_the_golden_worlds) {
    const outcome text = run("make_world 16 0.1"), binary = run("make_world 10 0.1 1"),
                  defaults = run("make_world");
    EXPECT_EQ(text.out, golden("slalom_16.in.txt"));
    EXPECT_EQ(binary.out, golden("slalom_10.in.bin"));
    EXPECT_EQ(defaults.out, golden("slalom_10.in.txt"));
    for (const outcome* result : {&text, &binary, &defaults}) {
        EXPECT_EQ(result->code, 0);
        EXPECT_EQ(result->err, "");
    }
}

TEST_F(H1_programs, step_world_reaches_the_golden_results) {
    for (const heat_test::golden_run& golden_run : heat_test::golden_runs) {
        const bool binary = std::string(golden_run.result).ends_with(".bin");
        const outcome result =
            run("step_world " + std::to_string(golden_run.dt) + " " + std::to_string(golden_run.n) +
                (binary ? " 1 <'" : " <'") + golden_path(golden_run.input) + "'");
        ASSERT_EQ(result.code, 0) << result.err;
        const heat::world world = parse(result.out), expected = parse(golden(golden_run.result));
        EXPECT_EQ(result.out.find("HPCEHeatWorldV0Binary") == 0, binary);
        EXPECT_EQ(world.properties, expected.properties);
        EXPECT_LE(heat::max_difference(world.state, expected.state), 2e-5) << golden_run.result;
    }
}

TEST_F(H1_programs, step_world_says_on_stderr_what_it_does) {
    const outcome result = run("make_world 64 | step_world >world.txt");
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "Loaded world with w=64, h=64\nStepping by dt=0.1 for n=1\n");
    EXPECT_EQ(run("make_world 20 | step_world 0.05 0 >world.txt").err,
              "Loaded world with w=20, h=20\nStepping by dt=0.05 for n=0\n");
}

TEST_F(H1_programs, render_world_paints_what_comes_through_the_pipe) {
    const outcome result =
        run("make_world 100 0.1 1 | step_world 0.1 100 1 2>steps | render_world dump.bmp && "
            "make_world 10 | render_world dump.png");
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
    EXPECT_TRUE(exists("dump.bmp"));
    EXPECT_TRUE(exists("dump.png"));
}

TEST_F(H1_programs, heat_demo_checks_itself_and_paints) {
    const outcome result = run("heat_demo --size 64 --steps 100 --output demo.png");
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_NE(result.out.find("cells per second"), std::string::npos);
    EXPECT_NE(result.out.find("ratio"), std::string::npos);
    EXPECT_NE(result.err.find("100 %"), std::string::npos);
    EXPECT_EQ(result.err.find('\r'), std::string::npos) << "no bar where there is no terminal";
    EXPECT_TRUE(exists("demo.png"));
}

TEST_F(H1_programs, help_is_no_fault) {
    for (const std::string program : {"make_world", "step_world", "render_world", "heat_demo"}) {
        const outcome result = run(program + " --help");
        EXPECT_EQ(result.code, 0) << program;
        EXPECT_NE(result.out.find(program), std::string::npos);
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(H5_programs, wrong_arguments_are_refused) {
    for (const std::string arguments : {"-3", "0", "3.5", "ten", "99999999999", "10 nan", "10 -0.1", "10 inf",
                                        "10 0.1 2", "10 0.1 yes", "10 0.1 0 0", "--sise"})
        expect_refusal("make_world " + arguments, "make_world",
                       arguments.substr(arguments.rfind(' ') + 1, 3));
    for (const std::string arguments :
         {"nan", "-0.1", "inf", "0.1x", "0.1 -1", "0.1 1.5", "0.1 4294967296", "0.1 1 2"})
        expect_refusal("step_world " + arguments + " </dev/null", "step_world", "number");
    expect_refusal("make_world 10 1e30 | step_world 1e30", "step_world", "too large");
    expect_refusal("render_world", "render_world", "required");
    expect_refusal("render_world world.gif", "render_world", ".bmp or .png");
    expect_refusal("heat_demo --size 0", "heat_demo", "--size");
}

TEST_F(H5_programs, damaged_worlds_are_refused) {
    for (const std::string program : {"step_world", "render_world world.png"}) {
        const std::string name = program.substr(0, program.find(' '));
        expect_refusal(program + " </dev/null", name, "empty");
        expect_refusal(program + " </dev/zero", name, "no heat world");
        expect_refusal(program + " </", name, "cannot be read");
        expect_refusal("make_world | head -c 700 | " + program, name, "ends");
        expect_refusal("make_world 10 0.1 1 | head -c 700 | " + program, name, "ends");
        expect_refusal("{ make_world; echo more; } | " + program, name, "after \"End\"");
        expect_refusal("make_world | sed 's/ 1 1/ 3 1/' | " + program, name, "flags");
        expect_refusal("make_world | sed 's/^10 10/1000000000 1000000000/' | " + program, name, "flags");
    }
    EXPECT_FALSE(exists("world.png"));
}

TEST_F(H5_programs, output_that_cannot_be_written_is_a_fault) {
    if (std::filesystem::exists("/dev/full"))
        expect_refusal("make_world >/dev/full", "make_world", "No space left on device");
    expect_refusal("{ make_world 1000 || echo $? >code; } | head -c 1 >/dev/null; exit $(cat code)",
                   "make_world", "Broken pipe");
    expect_refusal("make_world | render_world no/such/folder.png", "render_world", "No such file");
}

}  // namespace
