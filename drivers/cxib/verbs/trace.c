// SPDX-License-Identifier: GPL-2.0-only
/* Defines the trace event of trace.h. */
#define CREATE_TRACE_POINTS
#include "verbs/trace.h"
