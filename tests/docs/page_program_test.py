#!/usr/bin/env python3
"""What page_program.py makes of snippets, and what it refuses."""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import page_program  # noqa: E402


def program_of(text):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "some-page.md")
        page.write_text(text)
        return page_program.program_of(page)


def fence(code, language="cpp"):
    return f"```{language}\n{code}\n```\n"


class Programs(unittest.TestCase):
    def refused(self, text, line, words):
        with self.assertRaises(SystemExit) as refusal:
            program_of(text)
        self.assertRegex(str(refusal.exception), rf"some-page\.md:{line}: .*{words}")

    def test_a_page_without_snippets_has_no_test(self):
        self.assertNotIn("TEST(", program_of("prose\n" + fence("make", "sh")))

    def test_snippets_follow_the_line_of_the_page(self):
        lines = program_of("prose\n\n" + fence("int a;\nint b;") + "\n" + fence("a = b;")).splitlines()
        for code, line in (("int a;", 4), ("a = b;", 9)):
            before = lines[: lines.index(code)]
            self.assertRegex([text for text in before if text.startswith("#line")][-1], rf"^#line {line} ")

    def test_each_snippet_is_a_scope_inside_the_last(self):
        program = program_of(fence("int a;") + fence("int a;") + fence("int a;"))
        self.assertTrue(program.rstrip().endswith("}}}}\n}"))

    def test_main_is_its_body_and_directives_go_to_the_head(self):
        program = program_of(fence("#include <set>\n\nint main() {\n    int a;\n}"))
        self.assertNotIn("main", program)
        self.assertEqual(program.splitlines()[1], "#include <set>")

    def test_values_are_compared_with_what_the_statement_changes(self):
        for code, check in {
            "int a = f(b == c);  // -> 6": '("6", a)',
            "const auto [a, b] = f();  // -> 6, {7, 8}": '("6, {7, 8}", a, b)',
            "a = b;  // -> {1, 2}; a remark": '("{1, 2}", a)',
            "a += b <= c;  // -> 1": '("1", a)',
            "a.b(3) = 1;  // -> 1": '("1", a.b(3))',
            "A<int, 2> a(b, {1, 2});  // -> {1, 2}": '("{1, 2}", a)',
            "a[b];  // -> 1": '("1", a[b])',
            "sort(a);  // a -> {1}": '("{1}", a)',
            "a = f(b,\n      c);  // -> 1": '("1", a)',
        }.items():
            with self.subTest(code):
                self.assertIn(f"SNIPPET_SHOWS{check}\n", program_of(fence(code)))
        self.assertIn('SNIPPET_PRINTED("a 1")\n', program_of(fence('std::cout << "a " << 1;  // -> a 1')))

    def test_output_is_the_fence_directly_after(self):
        printed = fence("f();") + "\n" + fence("1 2\n3", "text")
        self.assertIn('SNIPPET_PRINTED("1 2\\n3")', program_of(printed))
        self.assertNotIn("SNIPPET_PRINTED", program_of(printed.replace("\n\n```text", "\n\nprose\n```text")))

    def test_comments_say_where_snippets_go(self):
        body = fence("int a;")
        kernel = program_of("<!-- snippet: in a kernel(In<int> in = b, Float f = g(1, 2)) -->\n" + body)
        self.assertRegex(kernel, r"(?s)\[&\]\(In<int> in, Float f\) \{.*int a;.*\}\)\(b, g\(1, 2\)\), \{8\}\);")
        throws = program_of("<!-- snippet: throws balm::error -->\n" + body + fence("no", "text"))
        self.assertRegex(throws, r'(?s)try \{.*int a;.*catch \(const balm::error& error\) \{ SNIPPET_THROWS\("no"')
        self.assertRegex(program_of("<!-- snippet: not run: why -->\n" + body), r"(?s)\[&\]\(\) \{.*int a;.*\};")
        self.assertNotIn("int a;", program_of("<!-- snippet: not compiled: why -->\n<!-- other -->\n\n" + body))

    def test_comments_hold_lines_of_scopes_and_namespaces(self):
        body = fence("int a;")
        for comment, order in {
            "<!-- snippet\nint x;\n-->\n": ("TEST(", "int x;", "int a;"),
            "<!-- snippet: at namespace scope -->\n": ("int a;", "TEST("),
            "<!-- snippet: at namespace scope\nint x;\n-->\n": ("int x;", "TEST(", "int a;"),
        }.items():
            with self.subTest(comment):
                program = program_of(comment + body)
                places = [program.index(text) for text in order]
                self.assertEqual(places, sorted(places))

    def test_refuses_what_it_does_not_understand(self):
        body = fence("int a;")
        self.refused("\n<!-- snippet: nowhere -->\n" + body, 2, "not a comment for snippets")
        self.refused("<!-- snippet: not run -->\n" + body, 1, "not a comment for snippets")
        self.refused("<!-- snippet\nint a;\n" + body, 1, "has no end")
        self.refused("```cpp\nint a;\n", 1, "has no end")
        self.refused("<!-- snippet: not run: why -->\nprose\n" + body, 2, "not directly ahead")
        self.refused(body + "<!-- snippet: not run: why -->\n", 4, "not directly ahead")
        self.refused("<!-- snippet: throws balm::error -->\n" + body, 3, "no ```text")
        self.refused("<!-- snippet: in a kernel(In<int> in) -->\n" + body, 3, "no argument")
        self.refused(fence("a = f(  // -> 1\n  b);"), 2, "not at the end of a statement")


if __name__ == "__main__":
    unittest.main()
