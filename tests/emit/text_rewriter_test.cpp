// OpenCL C rewritten for CUDA, without a device: what is refused, by name and line, and what texts become.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "text/outline.hpp"
#include "text/preprocessor.hpp"
#include "text/rewriter.hpp"

namespace {

using namespace balm::opencl_c;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

tokens preprocessed_of(const std::string& words) {
    return preprocess({std::make_shared<const balm::ir::named_text>(balm::ir::named_text{"t.cl", words})});
}
std::string rewritten(const std::string& words) {
    const tokens list = preprocessed_of(words);
    return rewrite(list, read_outline(list));
}
/// The body of a function on one line.
std::string statement(const std::string& words) {
    return rewritten("void f(int a, int b) { " + words + " }");
}

std::string refusal(const std::string& words) {
    try {
        rewritten(words);
    } catch (const fault& f) {
        return f.what();
    }
    ADD_FAILURE() << "nothing is refused in: " << words;
    return {};
}
std::string refusal_in(const std::string& words) {
    return refusal("void f(int a, int b) {\n" + words + "\n}");
}

// ---- preprocessing ----------------------------------------------------------------------------------

std::string words_of(const std::string& text) {
    std::string all;
    for (const token& t : preprocessed_of(text)) all += (all.empty() ? "" : " ") + t.words;
    return all;
}

TEST(C11_text_preprocessor, expands_macros_as_c_does) {
    EXPECT_EQ(words_of("#define N 3\nint a[N];"), "int a [ 3 ] ; ");
    EXPECT_EQ(words_of("#define SQ(x) ((x)*(x))\nSQ(a+SQ(b))"),
              "( ( a + ( ( b ) * ( b ) ) ) * ( a + ( ( b ) * ( b ) ) ) ) ");
    EXPECT_EQ(words_of("#define f(x) x f\nf(1)(2)"), "1 f ( 2 ) ");
    EXPECT_EQ(words_of("#define a b\n#define b a\na b"), "a b ");
    EXPECT_EQ(words_of("#define CAT(a, b) a##b\n#define X CAT(v, 4)\nX CAT(,z)"), "v4 z ");
    EXPECT_EQ(words_of("#define S(x) #x\nS(a \"q\\n\"  + 'c')"), "\"a \\\"q\\\\n\\\" + 'c'\" ");
    EXPECT_EQ(words_of("#define P(f, ...) printf(f, __VA_ARGS__)\nP(\"%d\", 1, 2)"),
              "printf ( \"%d\" , 1 , 2 ) ");
    EXPECT_EQ(words_of("#define f() 7\nf() f"), "7 f ");
    EXPECT_EQ(words_of("#define LONG 1 + \\\n 2\nLONG"), "1 + 2 ");
    EXPECT_EQ(words_of("#define M(a, b) q a##b\nM(, z) M(x, ) M(, )"), "q z q x q ");
}

TEST(C11_text_preprocessor, a_macro_is_closed_to_itself) {
    // The examples of C99, 6.10.3.5, and what two compilers make of the rest.
    EXPECT_EQ(
        words_of("#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
                 "#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n"
                 "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n"
                 "g(x+(3,4)-w) | h 5) & m\n(f)^m(m);"),
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; "
        "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; ");
    EXPECT_EQ(words_of("#define f(a) a + f(a)\nf(f(1))"), "1 + f ( 1 ) + f ( 1 + f ( 1 ) ) ");
    EXPECT_EQ(words_of("#define A B C\n#define B A\n#define C B\nA"), "A A ");
    EXPECT_EQ(words_of("#define f(x) x\n#define g f\n#define e\ng(g)(1) e f e (2)"), "f ( 1 ) f ( 2 ) ");
}

TEST(C11_text_preprocessor, decides_conditions_as_c_does) {
    EXPECT_EQ(
        words_of("#if 1 + 2 * 3 == 7 && defined(__OPENCL_VERSION__) && !defined X\nyes\n#else\nno\n#endif"),
        "yes ");
    EXPECT_EQ(words_of("#ifdef X\n1\n#elif __OPENCL_VERSION__ >= 120\n2\n#elif 1\n3\n#endif"), "2 ");
    EXPECT_EQ(words_of("#if 0\n#if 1\n1\n#endif\n#error no\n#else\n2\n#endif"), "2 ");
    EXPECT_EQ(words_of("#if -1 > 0u\nunsigned\n#endif"), "unsigned ");
    EXPECT_EQ(words_of("#if (7 / 2 == 3 ? 1 << 4 : 0) == 16 && ~0 == -1 && 'a' == 97\nyes\n#endif"), "yes ");
    EXPECT_EQ(words_of("#ifndef X\n#define X\n1\n#endif\n#ifndef X\n2\n#endif"), "1 ");
}

TEST(C11_text_preprocessor, faults_name_their_line) {
    EXPECT_THAT(refusal("\n#error too old\n"), AllOf(HasSubstr("t.cl, line 2"), HasSubstr("too old")));
    EXPECT_THAT(refusal("#include <math.h>\n"), AllOf(HasSubstr("line 1"), HasSubstr("#include")));
    EXPECT_THAT(refusal("\n\n#if 1\nint a;"), AllOf(HasSubstr("line 3"), HasSubstr("#endif")));
    EXPECT_THAT(refusal("#endif\n"), HasSubstr("without an #if"));
    EXPECT_THAT(refusal("#define F(a, b) a\nint x = F(1);"), HasSubstr("takes 2 arguments, but gets 1"));
    EXPECT_THAT(refusal("#define F(a) a\nint x = F(1;"), HasSubstr("no closing )"));
    EXPECT_THAT(refusal("#line 40 \"other.cl\"\n#error here\n"), HasSubstr("other.cl, line 40"));
    EXPECT_THAT(refusal("#frobnicate\n"), HasSubstr("#frobnicate"));
    EXPECT_THAT(refusal("void f() { int a = 3;"), HasSubstr("unclosed bracket"));
    EXPECT_THAT(refusal("int a[] = {1,\n(2}3;)"),
                AllOf(HasSubstr("line 2"), HasSubstr("} does not match the ( in line 2")));
    EXPECT_THAT(refusal("int a; }\nvoid f() {}"), AllOf(HasSubstr("line 1"), HasSubstr("unmatched }")));
    EXPECT_THAT(refusal("typedef int row#pragma once\n;"), HasSubstr("unexpected # in the middle of a line"));
    EXPECT_THAT(refusal("int a"), HasSubstr("unterminated declaration"));
}

// ---- texts that are made to harm ---------------------------------------------------------------------

std::string times(std::size_t n, const std::string& words) {
    std::string all;
    for (std::size_t k = 0; k < n; ++k) all += words;
    return all;
}
/// f(f(f( … x … )))
std::string nested(std::size_t n, const std::string& open, const std::string& inside,
                   const std::string& close) {
    return times(n, open) + inside + times(n, close);
}

TEST(C11_text_limits, what_goes_beyond_them_is_refused_with_its_line_and_the_limit) {
    struct row {
        const char* what;
        std::string words;
        const char* why;
    };
    std::string doubling = "#define A0 x x\n", strings = "#define S0(x) T(#x)\n#define T(x) x\n";
    std::string empty = "#define E0\n";
    for (int k = 1; k < 64; ++k) {
        const std::string n = std::to_string(k), before = std::to_string(k - 1);
        doubling += "#define A" + n + " A" + before + " A" + before + "\n";
        empty += "#define E" + n + " E" + before + " E" + before + "\n";
        strings += "#define S" + n + "(x) S" + before + "(x #x)\n";
    }
    std::string parameters = "a0";
    for (int k = 1; k < 300; ++k) parameters += ", a" + std::to_string(k);
    const row rows[] = {
        {"brackets of a condition", "\n#if " + nested(20000, "(", "1", ")") + "\n#endif", "256 levels"},
        {"signs of a condition", "\n#if " + times(20000, "!") + "1\n#endif", "256 levels"},
        {"choices of a condition", "\n#if " + times(20000, "1?") + "1" + times(20000, ":1") + "\n#endif",
         "256 levels"},
        {"choices behind each other", "\n#if 1" + times(20000, "?1:0") + "\n#endif", "256 levels"},
        {"macro arguments", "#define f(x) x\n" + nested(3000, "f(", "x", ")"), "128 deep"},
        {"arguments used twice", "#define f(x) x x\n" + nested(100, "f(", "x", ")"), "2097152 tokens"},
        {"macros that double", doubling + "int A63;", "2097152 tokens"},
        {"macros that double nothing", empty + "int a E63;", "2097152 tokens"},
        {"strings of strings", strings + "S63(\"a\")", "2097152 tokens"},
        {"parameters of a macro", "\n#define f(" + parameters + ") a0\n", "256 parameters"},
        {"tokens", "\n" + times((std::size_t{1} << 21) + 1, ";"), "2097152 tokens"},
        {"brackets of the code", "\nint a = " + nested(20000, "(", "1", ")") + ";", "256 levels"},
        {"signs of the code", "\nint a = " + times(20000, "!") + "1;", "256 prefixes"},
        {"casts of the code", "\nint a = " + times(20000, "(int)") + "1;", "256 prefixes"},
        {"choices of the code", "\nint a = 1" + times(20000, " ? 1 : 0") + ";", "1024 of ?:"},
        {"assignments of the code", "\nvoid f() { a" + times(20000, " = a") + "; }", "1024 of ?:"},
        {"conditions of the code", "\nvoid f() { " + times(20000, "if (a) b; else ") + "; }",
         "1024 statements"},
        {"conditions with braces", "\nvoid f() { " + times(20000, "if (a) { } else ") + "; }",
         "1024 statements"},
        {"loops of the code", "\nvoid f() { " + times(20000, "for (;;) ") + "; }", "1024 statements"},
        {"blocks of the code", "\nvoid f() " + nested(20000, "{", "", "}"), "256 levels"},
    };
    for (const row& r : rows) {
        try {
            rewritten(r.words);
            ADD_FAILURE() << r.what << ": nothing is refused";
        } catch (const excess& refused) {
            EXPECT_THAT(refused.what(), AllOf(HasSubstr("t.cl, line "), HasSubstr(r.why))) << r.what;
            EXPECT_LT(std::strlen(refused.what()), 1000u) << r.what;
        }
    }
}

TEST(C11_text_limits, what_is_damaged_is_refused_in_a_short_sentence) {
    struct row {
        std::string words;
        const char* why;
    };
    const std::string digits = times(100000, "9");
    const row rows[] = {
        {std::string("int a; // \0\n", 11), "NUL"},
        {std::string("\n\"a\0\"", 5), "line 2: a NUL byte"},
        {"\"abc\\", "unterminated string"},
        {"/* *\\\n", "unterminated comment"},
        {"'", "unterminated character"},
        {"int \xc3\xa4;", "0xc3"},
        {"#if " + digits + "\n#endif", "not valid in a condition"},
        {"#if 1 +\n#endif", "is incomplete"},
        {"#if (1\n#endif", "lacks a closing )"},
        {"#if 0x\n#endif", "'0x'"},
        {"#if\n#endif", "is incomplete"},
        {"#error " + times(100000, "x "), "#error x x"},
        {"#line 99999999999999999999\n", "between 0 and 2147483647"},
        {"#line 9223372036854775808\n", "between 0 and 2147483647"},
        {"#define f(a b) a\n", "malformed"},
        {"#define f(a, ) a\n", "malformed"},
        {"#define f(..., a) a\n", "malformed"},
        {"#define J(a, b) a##b\nJ(/, /)", "does not form a single token"},
        {"#define J(a, b) a##b\nJ(/, *)", "does not form a single token"},
        {"void f() { int a = " + digits + "; }", "is not a valid number"},
        {"typedef", "unterminated declaration"},
        {"int f(", "unclosed bracket"},
        {"__attribute__", "unclosed bracket"},
        {"kernel void " + times(100000, "k") + "() { " + times(100000, "k") + "(); }", "recursion"},
    };
    for (const row& r : rows) {
        const std::string why = refusal(r.words);
        EXPECT_THAT(why, HasSubstr(r.why)) << shortened(r.words);
        EXPECT_LT(why.size(), 3000u) << shortened(r.words);
    }
}

TEST(C11_text_limits, what_looks_dangerous_and_is_not_is_taken) {
    const std::string rows[] = {
        "typedef A B;\ntypedef B A;\nvoid f(A a, B b) { }",
        "typedef A A;\nA f(A a) { return a; }",
        "typedef;\ntypedef int;\ntypedef *;",
        times(100000, "#if 1\n") + "int a();\n" + times(100000, "#endif\n"),
        times(100000, "#if 0\n") + "int a();\n" + times(100000, "#endif\n"),
        "#if 9223372036854775807 + 1 && (-9223372036854775807 - 1) / -1 && 1 << 200 && 1 >> -1\n#endif",
        "#if 0 && 1 / 0 || (-9223372036854775807 - 1) % -1 || 1 % 0\n#endif",
        "int a\\\n\\\n\\\n" + times(1000, "\\\n") + "();",
        "// \xff\xfe\n/* \xc3 */ int a();",
        "void f() { int a = " + nested(200, "(", "1", ")") + "; }",
        "#define f(x) x\nint a = " + nested(100, "f(", "1", ")") + ";int b();",
        "#if " + nested(100, "(", "1", ")") + "\n#endif",
        "int a = 0" + times(20000, " + -1 * (a ? 1 : 0)") + ";",
        "int a[] = {" + times(20000, "-1, !2, (int)3, ") + "};",
        "void f() { " + times(20000, "if (a) { b = -c; } a = b ? c : d; ") + "}",
    };
    for (const std::string& words : rows) {
        const tokens list = preprocessed_of(words);
        EXPECT_NO_THROW(read_outline(list)) << shortened(words);
    }
    std::string chain = "void f0() { }\n";
    for (int k = 1; k < 20000; ++k)
        chain += "void f" + std::to_string(k) + "() { f" + std::to_string(k - 1) + "(); }\n";
    EXPECT_THAT(rewritten(chain), HasSubstr("f19998();"));
}

// ---- what becomes of a text -------------------------------------------------------------------------

TEST(C11_text_rewriter, vector_literals_become_constructors_and_casts_stay) {
    EXPECT_THAT(statement("float4 v = (float4)(1, 2, 3, 4);"), HasSubstr("float4 v = (float4(1, 2, 3, 4));"));
    EXPECT_THAT(statement("float4 v = (float4)(a);"), HasSubstr("float4 v = (float4)(a);"));
    EXPECT_THAT(statement("float4 v = (float4)((float2)(a, b), g(a, b), 0);"),
                HasSubstr("(float4((float2(a, b)), g(a, b), 0))"));
    EXPECT_THAT(statement("const float3 v = {1, 2, g(a, b),}, w = u, x[2] = {{a, b, 0}, w};"),
                HasSubstr("const float3 v = (float3(1, 2, g(a, b))), w = u, x[2] = {(float3(a, b, 0)), w};"));
    EXPECT_THAT(statement("int c = (int)(a, b);"), HasSubstr("int c = (int)(a, b);"));  // a comma in C too
    EXPECT_THAT(rewritten("#define ZERO (float2)(0, 0)\nvoid f() { float2 z = ZERO; }"),
                HasSubstr("(float2(0, 0))"));
    EXPECT_THAT(rewritten("typedef float4 vec;\nvoid f() { vec z = (vec)(1, 2, 3, 4); }"),
                HasSubstr("(vec(1, 2, 3, 4))"));
}

TEST(C11_text_rewriter, components_are_read_and_written) {
    EXPECT_THAT(
        statement("x = v.zyx + w.s01 + u.hi.x + v.even;"),
        HasSubstr("x = v.balm_get<2, 1, 0>() + w.balm_get<0, 1>() + u.hi.x + v.balm_every_other(0);"));
    EXPECT_THAT(statement("v.xy = w.sA; p->wz += 1;"),
                HasSubstr("v.balm_ref<0, 1>() = w.sa; p->balm_ref<3, 2>() += 1;"));
    EXPECT_THAT(rewritten("struct s { int x, lo; };\nint f(struct s v) { return v.x + v.lo; }"),
                HasSubstr("v.x + v.lo"));
    EXPECT_THAT(rewritten("struct s { int seed; };\nint f(struct s v) { return v.seed + w.s0; }"),
                HasSubstr("v.seed + w.s0"));
}

TEST(C11_text_rewriter, shift_counts_are_masked_unless_they_are_small) {
    EXPECT_THAT(statement("a = b << 3;"), HasSubstr("a = b << 3;"));
    EXPECT_THAT(statement("a = b << 3 * a;"), HasSubstr("b << balm_count() << 3 * a;"));
    EXPECT_THAT(statement("a = b << 40;"), HasSubstr("b << balm_count() << 40;"));
    EXPECT_THAT(statement("a >>= b;"), HasSubstr("a >>= balm_count() >>= b;"));
}

TEST(C11_text_rewriter, local_variables_are_shared_and_pointers_to_local_memory_are_not) {
    EXPECT_THAT(statement("__local float tile[16], n;"), HasSubstr("__shared__ float tile[16], n;"));
    EXPECT_THAT(statement("local float4 * p = q;"),
                AllOf(HasSubstr("float4 * p = q;"), Not(HasSubstr("__shared__"))));
    EXPECT_THAT(statement("float local *p, *q;"), Not(HasSubstr("__shared__")));
    EXPECT_THAT(statement("for (local int* p = q; p < r; ++p) a += *p;"), Not(HasSubstr("__shared__")));
    EXPECT_THAT(statement("a = ((local int*)q)[2];"), HasSubstr("((int*)q)[2]"));
    EXPECT_THAT(statement("constant float* p = q;"), HasSubstr("const float* p = q;"));
    EXPECT_THAT(rewritten("__constant int t[2] = {1, 2};"),
                HasSubstr("static __constant__ const int t[2] = {1, 2};"));
}

TEST(C11_text_rewriter, types_numbers_and_names_are_spelt_for_cpp) {
    EXPECT_THAT(statement("long x = 5L; unsigned long y = 7UL; ulong z = 1;"),
                HasSubstr("long long x = 5LL; unsigned long long y = 7ULL; ulong z = 1;"));
    EXPECT_THAT(statement("char c = 'x'; unsigned char d;"),
                HasSubstr("signed char c = (int)(signed char)'x'; unsigned char d;"));
    EXPECT_THAT(
        statement("a = convert_int_sat_rte(x) + convert_uchar4(y).x + as_long(z);"),
        HasSubstr(
            "balm_convert<int, true, 1>(x) + balm_convert<uchar4, false, 0>(y).x + balm_as<long long>(z)"));
    EXPECT_THAT(
        statement("a = 2147483648 + 0xffffffff + 0xffffffffff + 18446744073709551615u + 0x8000000000000000;"),
        HasSubstr("a = 2147483648LL + 0xffffffff + 0xffffffffffLL + 18446744073709551615uLL + "
                  "0x8000000000000000ULL;"));
    EXPECT_THAT(statement("int new = 1, class = new;"),
                HasSubstr("int new_of_c = 1, class_of_c = new_of_c;"));
    EXPECT_THAT(statement("global int* restrict p = NULL;"), HasSubstr("int* __restrict__ p = nullptr;"));
    EXPECT_THAT(statement("\n#pragma unroll 4\nfor (;;) break;"), HasSubstr("#pragma unroll 4"));
    EXPECT_THAT(statement("a = - -b; a = a - -b; a = b+ +a;"), HasSubstr("a = - -b; a = a - -b; a = b+ +a;"));
    EXPECT_THAT(rewritten("#define M -1\nint f(int b) { return b -M; }"), HasSubstr("b - -1"));
}

TEST(C11_text_rewriter, lines_stay_where_they_were) {
    const std::string text = rewritten("\n\nint f(int a) {\n    return\n\n\n\n\n\n        a;\n}\n");
    EXPECT_THAT(text,
                AllOf(HasSubstr("#line 3 \"t.cl\"\n"), HasSubstr("#line 10 \"t.cl\"\n"), HasSubstr("a;\n}")));
}

// ---- what is refused --------------------------------------------------------------------------------

TEST(C11_text_rewriter, refuses_by_name_what_cuda_cannot_be_given) {
    struct row {
        const char* words;
        const char* why;
    };
    const row rows[] = {
        {"image2d_t i;", "image2d_t"},
        {"read_imagef(i, s, a);", "images"},
        {"sampler_t s;", "sampler_t"},
        {"half h;", "half"},
        {"float f = 1.0h;", "half"},
        {"half4 h;", "half"},
        {"vload_half(0, p);", "half"},
        {"long long x;", "long long"},
        {"long double x;", "long double"},
        {"double x = 1.0L;", "long double"},
        {"asm(\"nop\");", "assembly"},
        {"work_group_barrier(1);", "2.0"},
        {"sub_group_reduce_add(a);", "2.0"},
        {"atomic_int n;", "2.0"},
        {"pipe int p;", "2.0"},
        {"generic int* p;", "2.0"},
        {"void (^b)(void) = ^{ };", "2.0"},
        {"__constant float t[2] = {1, 2};", "__constant variables inside a function"},
        {"__local float x = 1;", "cannot have an initialiser"},
        {"__local float x, *p;", "declare them separately"},
        {"struct s v = {.a = 1};", "designated"},
        {"int v[3] = {[1] = 2};", "designated"},
        {"int v[3] = {1, [1] = 2};", "designated"},
        {"g((struct s){1, 2});", "compound literals"},
        {"float4 v = {1};", "braces"},
        {"float4 v = (float4){1, 2, 3, 4};", "braces"},
        {"float4 v[2] = {{1}, {2}};", "braces"},
        {"struct s v[2] = {{{1}}, {{2}}};", "braces"},
        {"float x = (float4)(1, 2, 3, 4).x;", "parentheses"},
        {"v.xy++;", "'++'"},
        {"v.xy <<= 1;", "'<<='"},
        {"v.even = w;", ".even"},
        {"v.xyz.xy = w;", "components of components"},
        {"printf(\"%v4f\", v);", "%v"},
        {"int n = vec_step(float4);", "vec_step"},
        {"typeof(a) c;", "typeof"},
        {"int n = sizeof(a < b);", "sizeof of a comparison"},
        {"int n = 'ab';", "several characters"},
        {"int x = ({ a; });", "statement expressions"},
        {"int balm_x;", "balm_"},
        {"a = b @ 2;", "'@'"},
        {"a::b();", "'::'"},
        {"int v __attribute__((address_space(3)));", "address_space"},
    };
    for (const row& r : rows)
        EXPECT_THAT(refusal_in(r.words), AllOf(HasSubstr("t.cl, line 2"), HasSubstr(r.why))) << r.words;
    EXPECT_THAT(refusal("float table[2] = {1, 2};"), HasSubstr("__constant"));
    EXPECT_THAT(refusal("const sampler_t s = 0;"), HasSubstr("__constant"));
    EXPECT_THAT(refusal("__constant float4 t[1] = {{1}};"), HasSubstr("braces"));
    EXPECT_THAT(refusal("int f(int n) { return n ? f(n - 1) : 0; }"), HasSubstr("recursion"));
    EXPECT_THAT(refusal("int g(int); int f(int n) { return g(n); } int g(int n) { return f(n); }"),
                HasSubstr("recursion"));
}

// ---- what a text declares ---------------------------------------------------------------------------

TEST(C11_text_outline, finds_functions_and_the_kinds_of_their_parameters) {
    const tokens list = preprocessed_of(
        "typedef unsigned int word;\n"
        "struct s { int a; } __attribute__((packed));\n"
        "__constant float t[] = {1, (2), 3};\n"
        "float g(float);\n"
        "static inline float4 h(const float x, private int* p) { if (x) { return x; } return 2; }\n"
        "__kernel __attribute__((reqd_work_group_size(8, 4, 1)))\n"
        "void k(__global const word* restrict a, float4 __global *b, __local uchar c[], const long d, struct "
        "s e,\n"
        "       __constant double* f, unsigned g, volatile global int* h)\n"
        "{ }\n");
    const outline o = read_outline(list);
    ASSERT_EQ(o.functions.size(), 3u);
    EXPECT_FALSE(o.functions[0].is_definition);
    EXPECT_EQ(o.functions[1].result.type.lanes, 4);
    const function* k = o.definition("k");
    ASSERT_NE(k, nullptr);
    EXPECT_TRUE(k->is_kernel);
    EXPECT_THAT(k->required_local, testing::ElementsAre(8, 4, 1));
    struct expected {
        const char* name;
        address where;
        bool is_pointer, is_const;
        balm::scalar element;
        int lanes;
    };
    const expected rows[] = {{"a", address::global, true, true, balm::scalar::u32, 1},
                             {"b", address::global, true, false, balm::scalar::f32, 4},
                             {"c", address::local, true, false, balm::scalar::u8, 1},
                             {"d", address::none, false, false, balm::scalar::i64, 1},
                             {"e", address::none, false, false, balm::scalar::nothing, 1},
                             {"f", address::constant, true, true, balm::scalar::f64, 1},
                             {"g", address::none, false, false, balm::scalar::u32, 1},
                             {"h", address::global, true, false, balm::scalar::i32, 1}};
    ASSERT_EQ(k->parameters.size(), std::size(rows));
    for (std::size_t n = 0; n < std::size(rows); ++n) {
        const parameter& p = k->parameters[n];
        EXPECT_EQ(p.name, rows[n].name);
        EXPECT_EQ(p.where, rows[n].where) << p.name;
        EXPECT_EQ(p.is_pointer, rows[n].is_pointer) << p.name;
        EXPECT_EQ(p.points_to_const, rows[n].is_const) << p.name;
        EXPECT_EQ(p.type.element, rows[n].element) << p.name;
        EXPECT_EQ(p.type.lanes, rows[n].lanes) << p.name;
    }
    EXPECT_EQ(o.others.size(), 3u);
}

}  // namespace
