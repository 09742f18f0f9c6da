#pragma once
// Overloads that exist to be refused: the compiler's first message, at the line of the mistake, says what to
// write instead. The message of a static_assert would come after the list of headers that led to it.

/// Declares a function that no program may call. It is never defined, and the message begins with `Balm:`.
/// GCC 12 and Clang print it; with other compilers the linker does not find the function.
///
///     BALM_REFUSED("Balm: write x.to_host()") operator std::vector<T>() const;
///
/// GCC also reports uses in unevaluated operands: functions that libraries look for in any type, such as
/// begin(), are deleted instead.
#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define BALM_REFUSED(words) __attribute__((unavailable(words)))
#endif
#endif
#ifndef BALM_REFUSED
#define BALM_REFUSED(words)
#endif

/// Refuses a function template of the standard library for operands that satisfy `these<A, B...>`. The
/// library's templates deduce one type from all arguments, so the compiler would list them and not mention
/// Balm. Programs may not add overloads to namespace std (C++20, [namespace.std]). A program that compiles
/// never calls these, and with `using namespace std` overload resolution prefers Balm's functions, which take
/// no pack.
#define BALM_REFUSED_OF_STD(name, these, words)            \
    template <class A, class... B>                         \
    requires these<A, B...> BALM_REFUSED(words)            \
    A&& name(A&&, B&&...);                                 \
    template <class A>                                     \
    requires these<const A&, const A&> BALM_REFUSED(words) \
    const A& name(const A&, const A&);
