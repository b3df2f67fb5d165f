/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace events of hw/. The events record names as text, so that tools need no tables of names. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cxib

#if !defined(CXIB_HW_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CXIB_HW_TRACE_H

#include <linux/device.h>
#include <linux/tracepoint.h>

#include "hw/command_queue.h"
#include "hw/events.h"
#include "hw/names.h"
#include "hw/trace_string.h"

TRACE_EVENT(cmd_issue,
	    TP_PROTO(const struct device *dev, const struct cxib_command_slot *slot,
		     size_t length),
	    TP_ARGS(dev, slot, length),
	    TP_STRUCT__entry(__string(device, dev_name(dev))
			     __string(name, hw_cmd_name(slot->opcode))
			     __field(u16, opcode)
			     __field(u16, op_mod)
			     __field(u8, slot)
			     __field(u8, token)
			     __field(u32, length)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(dev));
			   cxib_assign_str(name, hw_cmd_name(slot->opcode));
			   __entry->opcode = slot->opcode;
			   __entry->op_mod = slot->op_mod;
			   __entry->slot = slot->number;
			   __entry->token = slot->token;
			   __entry->length = length;),
	    TP_printk("%s %s (0x%03x) op_mod 0x%x slot %u token 0x%02x input %u bytes",
		      __get_str(device), __get_str(name), __entry->opcode, __entry->op_mod,
		      __entry->slot, __entry->token, __entry->length)
);

TRACE_EVENT(cmd_done,
	    TP_PROTO(const struct device *dev, const struct cxib_command_slot *slot, u8 status,
		     u32 syndrome, int err),
	    TP_ARGS(dev, slot, status, syndrome, err),
	    TP_STRUCT__entry(__string(device, dev_name(dev))
			     __string(name, hw_cmd_name(slot->opcode))
			     __string(status_name, hw_command_status_name(status))
			     __field(u16, opcode)
			     __field(u8, slot)
			     __field(u8, token)
			     __field(u8, status)
			     __field(u32, syndrome)
			     __field(int, err)
			     __field(s64, nanoseconds)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(dev));
			   cxib_assign_str(name, hw_cmd_name(slot->opcode));
			   cxib_assign_str(status_name, hw_command_status_name(status));
			   __entry->opcode = slot->opcode;
			   __entry->slot = slot->number;
			   __entry->token = slot->token;
			   __entry->status = status;
			   __entry->syndrome = syndrome;
			   __entry->err = err;
			   __entry->nanoseconds = ktime_to_ns(ktime_sub(slot->completed,
									slot->issued));),
	    TP_printk("%s %s (0x%03x) slot %u token 0x%02x %s (0x%x) syndrome 0x%x error %d after %lld ns",
		      __get_str(device), __get_str(name), __entry->opcode, __entry->slot,
		      __entry->token, __get_str(status_name), __entry->status,
		      __entry->syndrome, __entry->err, __entry->nanoseconds)
);

DECLARE_EVENT_CLASS(cmd_timed_out,
		    TP_PROTO(const struct device *dev, const struct cxib_command_slot *slot),
		    TP_ARGS(dev, slot),
		    TP_STRUCT__entry(__string(device, dev_name(dev))
				     __string(name, hw_cmd_name(slot->opcode))
				     __field(u16, opcode)
				     __field(u8, slot)
				     __field(u8, token)
				     __field(s64, age_ms)),
		    TP_fast_assign(cxib_assign_str(device, dev_name(dev));
				   cxib_assign_str(name, hw_cmd_name(slot->opcode));
				   __entry->opcode = slot->opcode;
				   __entry->slot = slot->number;
				   __entry->token = slot->token;
				   __entry->age_ms = ktime_ms_delta(ktime_get(), slot->issued);),
		    TP_printk("%s %s (0x%03x) slot %u token 0x%02x after %lld ms",
			      __get_str(device), __get_str(name), __entry->opcode, __entry->slot,
			      __entry->token, __entry->age_ms)
);

/* A command has timed out. */
DEFINE_EVENT(cmd_timed_out, cmd_timeout,
	     TP_PROTO(const struct device *dev, const struct cxib_command_slot *slot),
	     TP_ARGS(dev, slot)
);

/* A timed-out command has completed. */
DEFINE_EVENT(cmd_timed_out, cmd_late,
	     TP_PROTO(const struct device *dev, const struct cxib_command_slot *slot),
	     TP_ARGS(dev, slot)
);

TRACE_EVENT(eq_event,
	    TP_PROTO(const struct device *dev, const struct hw_eqe *eqe),
	    TP_ARGS(dev, eqe),
	    TP_STRUCT__entry(__string(device, dev_name(dev))
			     __string(name, hw_event_type_name(hw_eqe_get_event_type(eqe)))
			     __field(u8, type)
			     __field(u8, subtype)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(dev));
			   cxib_assign_str(name,
					   hw_event_type_name(hw_eqe_get_event_type(eqe)));
			   __entry->type = hw_eqe_get_event_type(eqe);
			   __entry->subtype = hw_eqe_get_event_sub_type(eqe);),
	    TP_printk("%s %s (0x%02x) sub-type 0x%02x", __get_str(device), __get_str(name),
		      __entry->type, __entry->subtype)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH hw
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
