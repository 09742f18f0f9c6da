#define x 3
#define f(a) f(x * (a))
#define S(a, ...) #a __VA_ARGS__ a##b
#define EMPTY
#ifdef UNKNOWN
#error no
#elif __OPENCL_VERSION__ >= 120 && (defined(x) || !defined f) && 'a' == 97
int y = f(f(1)) EMPTY S(c "q\n" + 'd', 1, 2);
#else
#pragma unroll 4
#endif
#line 40 "other.cl"
int __LINE__ \
  z; /* two
lines */ #undef x
