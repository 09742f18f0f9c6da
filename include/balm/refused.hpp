#pragma once
// Overloads that exist to be refused: what the compiler says first, at the line of the mistake, is a sentence
// that says what to write instead. A static_assert would come after the list of headers that led to it.

/// Declares a function that no program may call. It is never defined, and the words begin with `Balm:`. GCC
/// 12 and Clang say them; for other compilers the function is one that the linker does not find.
///
///     BALM_REFUSED("Balm: write x.to_host()") operator std::vector<T>() const;
///
/// GCC reports a use of one in an unevaluated operand too: what libraries ask of any type, such as begin(),
/// is deleted instead.
#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define BALM_REFUSED(words) __attribute__((unavailable(words)))
#endif
#endif
#ifndef BALM_REFUSED
#define BALM_REFUSED(words)
#endif

/// Refuses a function template of the standard library's on operands for which `these<A, B...>` holds. Its
/// own templates deduce one type from all arguments, so that the compiler would list them and say nothing of
/// Balm. Overloads in namespace std are not for programs to add (17.6.4.2.1 of C++20, [namespace.std]); these
/// are never called by a program that compiles, and a `using namespace std` prefers Balm's functions to them,
/// which take no pack.
#define BALM_REFUSED_OF_STD(name, these, words)            \
    template <class A, class... B>                         \
    requires these<A, B...> BALM_REFUSED(words)            \
    A&& name(A&&, B&&...);                                 \
    template <class A>                                     \
    requires these<const A&, const A&> BALM_REFUSED(words) \
    const A& name(const A&, const A&);
