/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers that the trace events of all directories share. */
#ifndef CXIB_HW_TRACE_STRING_H
#define CXIB_HW_TRACE_STRING_H

#ifdef CXIB_LACKS_ONE_STRING_ARGUMENT
#define cxib_assign_str(field, ...)	__assign_str(field, __VA_ARGS__)
#else
#define cxib_assign_str(field, ...)	__assign_str(field)
#endif

#endif
