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
