/* SPDX-License-Identifier: MIT */
/*
 * xen_barrier.h: the barriers Xen's public ring macros (xen/io/ring.h) ask their user to define.
 * Include it before any header of xen/io/.
 */
#ifndef COMMON_XEN_BARRIER_H
#define COMMON_XEN_BARRIER_H

#include <stdatomic.h>

#ifndef xen_mb
#define xen_mb()  atomic_thread_fence(memory_order_seq_cst)
#define xen_rmb() atomic_thread_fence(memory_order_acquire)
#define xen_wmb() atomic_thread_fence(memory_order_release)
#endif

#endif
