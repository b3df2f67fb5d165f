// SPDX-License-Identifier: GPL-2.0-only
/* Defines the trace events of trace.h. */
#define CREATE_TRACE_POINTS
#include "ulp/trace.h"
