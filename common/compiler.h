/* SPDX-License-Identifier: MIT */
/*
 * compiler.h: the few language helpers every folder uses. No state, no I/O.
 */
#ifndef COMMON_COMPILER_H
#define COMMON_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_ASSERT(cond) _Static_assert(cond, #cond)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))

/* One access, neither torn nor repeated by the compiler: for memory another domain or thread writes. */
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define CACHE_LINE_BYTES     64
#define __cacheline_aligned  __attribute__((aligned(CACHE_LINE_BYTES)))
#define __printf(fmt, first) __attribute__((format(printf, fmt, first)))
#define __must_check         __attribute__((warn_unused_result))

#endif
