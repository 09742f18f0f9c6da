#define f(x) x f
f(1)(2) f(f(f(y))) "unterminated