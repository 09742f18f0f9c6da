// What the interpreter of the IR refuses, rather than to guess.

#include "support/interpreter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "balm/balm.hpp"
#include "support/devices.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;
using testing::HasSubstr;

/// What is said of a kernel of one parameter, run by a group of four.
std::string refusal_by_interpreter(const std::shared_ptr<const ir::function>& kernel,
                                   std::vector<std::int32_t> elements) {
    const interpreter_argument arguments[] = {memory_of(elements)};
    return message_of<std::runtime_error>([&] { interpret(*kernel, {{4, 1, 1}, {4, 1, 1}}, arguments); });
}

}  // namespace

TEST(C14_interpreter, refuses_elements_beyond_memory) {
    const auto ahead = balm::kernel<1>("ahead", [](Mixed<int> x) { x[global_id(0)] = x[global_id(0) + 1]; });
    EXPECT_THAT(refusal_by_interpreter(ahead.function(), {1, 2, 3, 4}),
                HasSubstr("no 4 bytes of this address space"));
    const auto behind = balm::kernel<1>("behind", [](Mixed<int> x) { x[global_id(0) - 1] = 5; });
    EXPECT_THAT(refusal_by_interpreter(behind.function(), {1, 2, 3, 4}),
                HasSubstr("no 4 bytes of this address space"));
}

TEST(C14_interpreter, refuses_private_elements_beyond_their_array) {
    const auto kernel = balm::kernel<1>("own", [](Mixed<int> x) {
        Array<int, 4> own;
        own[x[0]] = 1;
        x[global_id(0)] = own[3];
    });
    EXPECT_THAT(refusal_by_interpreter(kernel.function(), {4, 0, 0, 0}),
                HasSubstr("no 4 bytes of this address space"));
}

TEST(C14_interpreter, refuses_kernels_that_do_not_end) {
    const auto kernel = balm::kernel<1>("endless", [](Mixed<int> x) {
        WHILE (x[0] == 0) {
            x[1] = x[1] ^ 1;
        }
    });
    EXPECT_THAT(refusal_by_interpreter(kernel.function(), {0, 0, 0, 0}), HasSubstr("does not end"));
}

TEST(C14_interpreter, refuses_barriers_that_some_work_items_miss) {
    const auto kernel = balm::kernel<1>("meets", [](Mixed<int> x) {
        IF (x[0] == 0) {
            barrier();
        }
    });
    // As a faulty pass might leave it: another element for each work-item decides.
    ir::function faulty = *kernel.function();
    for (ir::value_id v : faulty.blocks[0]) {
        if (faulty.code[v].op != ir::opcode::load) continue;
        ir::instruction place;
        place.op = ir::opcode::place;
        place.result = scalar::i64;
        const ir::value_id own = faulty.add(place);
        const ir::value_id operands[] = {faulty.operand(v, 0), own};
        faulty.set_operands(v, operands);
        faulty.blocks[0].insert(faulty.blocks[0].begin(), own);
        break;
    }
    EXPECT_THAT(refusal_by_interpreter(std::make_shared<const ir::function>(faulty), {0, 0, 1, 0}),
                HasSubstr("a barrier that some work-items of the group miss"));
}

TEST(C14_interpreter, refuses_what_it_does_not_know) {
    const auto prints = balm::kernel<1>("prints", [](Mixed<int> x) { print("{}\n", x[0]); });
    EXPECT_THAT(refusal_by_interpreter(prints.function(), {0}), HasSubstr("'print' is not interpreted"));
    const auto plus = source_function<int(int, int)>("plus", "int plus(int a, int b) { return a + b; }");
    const auto text = balm::kernel<1>("text", [&](Mixed<int> x) { x[0] = plus(x[0], x[0]); });
    EXPECT_THAT(refusal_by_interpreter(text.function(), {0}), HasSubstr("a function given as text"));
}

}  // namespace balm::test
