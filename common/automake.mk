# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += common/libcommon.la
common_libcommon_la_SOURCES = \
	common/compiler.h \
	common/fallback_alloc.c common/fallback_alloc.h \
	common/load_frame.c common/load_frame.h \
	common/log.c common/log.h \
	common/placement.c common/placement.h \
	common/worker.c common/worker.h \
	common/xen_barrier.h \
	common/xen_logger.c common/xen_logger.h
common_libcommon_la_CFLAGS = $(AM_CFLAGS) $(XENTOOLLOG_CFLAGS)
