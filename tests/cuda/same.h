/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/same.h - is a function declared as a vendor's header has it?
 *
 * What a caller passes is the same where a type is passed alike: pointers, what
 * they point to as far as it is known, and numbers of one size.  C++, for the
 * scripts of signatures.
 */
#include <cstddef>
template <class T, class = void> struct size_of { static const size_t n = 0; };
template <class T> struct size_of<T, decltype(void(sizeof(T)))> {
    static const size_t n = sizeof(T);
};
template <> struct size_of<void> { static const size_t n = 0; };
template <class A, class B> struct same {
    static const bool is = sizeof(A) == sizeof(B) && !__is_class(A);
};
template <class A, class B> struct same<A *, B *> {
    static const bool is = size_of<A>::n == 0 || size_of<B>::n == 0 ||
                           size_of<A>::n == size_of<B>::n;
};
template <class A, class B> struct same<A *, B> { static const bool is = false; };
template <class A, class B> struct same<A, B *> { static const bool is = false; };
template <class... A> struct list {};
template <class X, class Y> struct all;
template <> struct all<list<>, list<>> { static const bool is = true; };
template <class X, class Y> struct all { static const bool is = false; };
template <class A, class... As, class B, class... Bs>
struct all<list<A, As...>, list<B, Bs...>> {
    static const bool is = same<A, B>::is && all<list<As...>, list<Bs...>>::is;
};
template <class R, class... A, class S, class... B>
constexpr bool agree(R (*)(A...), S (*)(B...))
{
    return same<R, S>::is && all<list<A...>, list<B...>>::is;
}
