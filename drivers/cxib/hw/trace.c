// SPDX-License-Identifier: GPL-2.0-only
/* The one place where the trace events are defined. */
#define CREATE_TRACE_POINTS
#include "hw/trace.h"
