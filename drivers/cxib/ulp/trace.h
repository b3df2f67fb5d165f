/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace events of the polling contexts. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cxib

#if !defined(CXIB_ULP_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CXIB_ULP_TRACE_H

#include <linux/tracepoint.h>

#include "hw/trace_string.h"
#include "ulp/poll_state.h"
#include "verbs/cq/cq.h"

/* An event has queued a CQ with a runner. */
TRACE_EVENT(cq_queue,
	    TP_PROTO(const struct cxib_cq *cq),
	    TP_ARGS(cq),
	    TP_STRUCT__entry(__string(device, dev_name(&cq->ib.device->dev))
			     __field(u32, cqn)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(&cq->ib.device->dev));
			   __entry->cqn = cq->cqn;),
	    TP_printk("%s CQ 0x%x", __get_str(device), __entry->cqn)
);

TRACE_DEFINE_ENUM(CXIB_POLL_END_QUANTUM);
TRACE_DEFINE_ENUM(CXIB_POLL_END_MISSED);
TRACE_DEFINE_ENUM(CXIB_POLL_END_ARMED);
TRACE_DEFINE_ENUM(CXIB_POLL_END_GONE);

/* A turn of a CQ has ended. */
TRACE_EVENT(cq_run,
	    TP_PROTO(const struct cxib_cq *cq, u64 waited_ns, u64 ran_ns, unsigned int completed,
		     enum cxib_poll_end end),
	    TP_ARGS(cq, waited_ns, ran_ns, completed, end),
	    TP_STRUCT__entry(__string(device, dev_name(&cq->ib.device->dev))
			     __field(u32, cqn)
			     __field(u64, waited_ns)
			     __field(u64, ran_ns)
			     __field(unsigned int, completed)
			     __field(unsigned int, end)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(&cq->ib.device->dev));
			   __entry->cqn = cq->cqn;
			   __entry->waited_ns = waited_ns;
			   __entry->ran_ns = ran_ns;
			   __entry->completed = completed;
			   __entry->end = end;),
	    TP_printk("%s CQ 0x%x waited %llu ns ran %llu ns completed %u end %s",
		      __get_str(device), __entry->cqn, __entry->waited_ns, __entry->ran_ns,
		      __entry->completed,
		      __print_symbolic(__entry->end, { CXIB_POLL_END_QUANTUM, "quantum" },
				       { CXIB_POLL_END_MISSED, "missed" },
				       { CXIB_POLL_END_ARMED, "armed" },
				       { CXIB_POLL_END_GONE, "destroyed" }))
);

/* A runner has found a CQ empty and armed it. */
TRACE_EVENT(cq_arm,
	    TP_PROTO(const struct cxib_cq *cq, bool missed),
	    TP_ARGS(cq, missed),
	    TP_STRUCT__entry(__string(device, dev_name(&cq->ib.device->dev))
			     __field(u32, cqn)
			     __field(bool, missed)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(&cq->ib.device->dev));
			   __entry->cqn = cq->cqn;
			   __entry->missed = missed;),
	    TP_printk("%s CQ 0x%x missed %u", __get_str(device), __entry->cqn, __entry->missed)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ulp
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
