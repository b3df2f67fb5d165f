// SPDX-License-Identifier: GPL-2.0-only
/* Defines the trace events. */
#define CREATE_TRACE_POINTS
#include "hw/trace.h"
