// SPDX-License-Identifier: GPL-2.0-only
/* From entries of event queues to handlers. */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/device.h>

#include "hw/dispatch.h"
#include "hw/names.h"
#include "hw/page_faults.h"
#include "hw/trace.h"

/* The device has one or two ports; more do not fit the handler's tables either. */
#define PORTS_MAX	2

/*
 * A decoder returns false if nobody wants the event.
 */
typedef bool (*decoder)(struct cxib_event_sink *sink, const struct hw_eqe *entry);

static bool decode_completion(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	if (!sink->handlers->completion)
		return false;
	sink->handlers->completion(sink->context,
		hw_comp_event_get_cq_number(hw_eqe_get_event_data_comp_event(entry)));
	return true;
}

static bool decode_cmd_completion(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_cmd_inter_comp_event *data =
		hw_eqe_get_event_data_cmd_inter_comp_event(entry);

	if (!sink->handlers->commands_done)
		return false;
	sink->handlers->commands_done(sink->context,
		hw_cmd_inter_comp_event_get_command_completion_vector(data));
	return true;
}

static bool decode_page_request(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_pages_req_event *data = hw_eqe_get_event_data_pages_req_event(entry);

	if (!sink->handlers->page_request)
		return false;
	sink->handlers->page_request(sink->context, hw_pages_req_event_get_function_id(data),
				     (s32)hw_pages_req_event_get_num_pages(data));
	return true;
}

static bool decode_port_change(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_port_state_change_event *data =
		hw_eqe_get_event_data_port_state_change_event(entry);
	u32 port = hw_port_state_change_event_get_port_num(data);

	if (!sink->handlers->port_change)
		return false;
	if (port < 1 || port > PORTS_MAX) {
		dev_warn_ratelimited(sink->dev,
				     "event %s ignored: it is about port %u, there are ports 1 to %u at most\n",
				     hw_event_type_name(HW_EVENT_TYPE_PORT_CHANGE), port,
				     PORTS_MAX);
		return true;
	}
	sink->handlers->port_change(sink->context, port, hw_eqe_get_event_sub_type(entry));
	return true;
}

static bool decode_cq_error(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_cq_error *data = hw_eqe_get_event_data_cq_error(entry);

	if (!sink->handlers->cq_error)
		return false;
	sink->handlers->cq_error(sink->context, hw_cq_error_get_cqn(data),
				 hw_cq_error_get_syndrome(data));
	return true;
}

static bool decode_queue_event(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_qp_events *data = hw_eqe_get_event_data_qp_events(entry);

	if (!sink->handlers->queue_event)
		return false;
	sink->handlers->queue_event(sink->context, hw_eqe_get_event_type(entry),
				    hw_qp_events_get_type(data),
				    hw_qp_events_get_qpn_rqn_sqn(data));
	return true;
}

static bool decode_dct_event(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	const struct hw_dct_events *data = hw_eqe_get_event_data_dct_events(entry);

	if (!sink->handlers->queue_event)
		return false;
	sink->handlers->queue_event(sink->context, hw_eqe_get_event_type(entry),
				    HW_EVENT_QUEUE_TYPE_DCT, hw_dct_events_get_dct_number(data));
	return true;
}

static bool decode_internal_error(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	if (!sink->handlers->internal_error)
		return false;
	sink->handlers->internal_error(sink->context);
	return true;
}

/* Where it is not known how to answer, the device waits. */
static bool decode_page_fault(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	struct cxib_page_fault fault;

	if (!sink->handlers->page_fault)
		return false;
	if (cxib_page_fault_decode(entry, &fault))
		sink->handlers->page_fault(sink->context, &fault);
	else
		dev_warn_ratelimited(sink->dev,
				     "event %s ignored: its sub-type is %u, %u, %u and %u are possible\n",
				     hw_event_type_name(HW_EVENT_TYPE_PAGE_FAULT),
				     hw_eqe_get_event_sub_type(entry),
				     HW_PAGE_FAULT_SUBTYPE_WQE, HW_PAGE_FAULT_SUBTYPE_RDMA,
				     HW_PAGE_FAULT_SUBTYPE_MEMORY);
	return true;
}

static const decoder decoders[] = {
	[HW_EVENT_TYPE_COMP] = decode_completion,
	[HW_EVENT_TYPE_PATH_MIG] = decode_queue_event,
	[HW_EVENT_TYPE_COMM_EST] = decode_queue_event,
	[HW_EVENT_TYPE_SQ_DRAINED] = decode_queue_event,
	[HW_EVENT_TYPE_CQ_ERROR] = decode_cq_error,
	[HW_EVENT_TYPE_WQ_CATAS_ERROR] = decode_queue_event,
	[HW_EVENT_TYPE_PATH_MIG_FAILED] = decode_queue_event,
	[HW_EVENT_TYPE_INTERNAL_ERROR] = decode_internal_error,
	[HW_EVENT_TYPE_PORT_CHANGE] = decode_port_change,
	[HW_EVENT_TYPE_CMD] = decode_cmd_completion,
	[HW_EVENT_TYPE_PAGE_REQUEST] = decode_page_request,
	[HW_EVENT_TYPE_PAGE_FAULT] = decode_page_fault,
	[HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR] = decode_queue_event,
	[HW_EVENT_TYPE_WQ_ACCESS_ERROR] = decode_queue_event,
	[HW_EVENT_TYPE_SRQ_CATAS_ERROR] = decode_queue_event,
	[HW_EVENT_TYPE_SRQ_LAST_WQE] = decode_queue_event,
	[HW_EVENT_TYPE_SRQ_RQ_LIMIT] = decode_queue_event,
	[HW_EVENT_TYPE_DCT_DRAINED] = decode_dct_event,
	[HW_EVENT_TYPE_DCT_KEY_VIOLATION] = decode_dct_event,
};

/**
 * cxib_asynchronous_events() - what an asynchronous event queue is to take
 * @has_dct: the device has targets of dynamic connections, and events about them
 *
 * Return: bit n for each type n that has a handler, except completions, answered
 * commands and page faults, which have event queues of their own.
 */
u64 cxib_asynchronous_events(bool has_dct)
{
	const u64 others = BIT_ULL(HW_EVENT_TYPE_COMP) | BIT_ULL(HW_EVENT_TYPE_CMD) |
			   BIT_ULL(HW_EVENT_TYPE_PAGE_FAULT);
	const u64 dct = BIT_ULL(HW_EVENT_TYPE_DCT_DRAINED) |
			BIT_ULL(HW_EVENT_TYPE_DCT_KEY_VIOLATION);
	u64 events = 0;
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(decoders); type++)
		if (decoders[type])
			events |= BIT_ULL(type);
	return events & ~(has_dct ? others : others | dct);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_asynchronous_events);

/**
 * cxib_dispatch_event() - tells of an event
 * @sink: where the events of the device go
 * @expected: bit n: events of type n belong to this queue. Others are counted, and
 *	nobody is called: it would be in the wrong context.
 * @entry: a copy of the entry; the device may write to the ring at any time
 *
 * An event of an unknown type is counted and mentioned in the kernel log.
 *
 * Context: the one that the event's handler asks for.
 */
void cxib_dispatch_event(struct cxib_event_sink *sink, u64 expected, const struct hw_eqe *entry)
{
	u32 type = hw_eqe_get_event_type(entry);

	trace_eq_event(sink->dev, entry);
	if (type >= ARRAY_SIZE(decoders) || !decoders[type]) {
		atomic64_inc(&sink->unknown);
		dev_warn_ratelimited(sink->dev, "event of type 0x%02x (%s), sub-type %u, ignored\n",
				     type, hw_event_type_name(type),
				     hw_eqe_get_event_sub_type(entry));
		return;
	}
	if (!(BIT_ULL(type) & expected) || !decoders[type](sink, entry))
		atomic64_inc(&sink->unhandled);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dispatch_event);
