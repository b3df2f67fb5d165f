// SPDX-License-Identifier: GPL-2.0-only
/* Event dispatch: EQEs to handlers. */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/device.h>

#include "hw/dispatch.h"
#include "hw/eq.h"
#include "hw/names.h"
#include "hw/page_faults.h"
#include "hw/trace.h"

/* Devices have one or two ports; the tables of handlers have this size. */
#define PORTS_MAX	2

/* Decoders return false if there is no handler for the event. */
typedef bool (*decoder)(const struct cxib_eq *eq, const struct hw_eqe *entry);

static bool dispatch_decode_completion(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	const struct cxib_hw_client *client = cxib_event_client(eq->sink);

	if (!client)
		return false;
	client->ops->completion(client->context, eq,
		hw_comp_event_get_cq_number(hw_eqe_get_event_data_comp_event(entry)));
	return true;
}

static bool dispatch_decode_cmd_completion(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;
	const struct hw_cmd_inter_comp_event *data =
		hw_eqe_get_event_data_cmd_inter_comp_event(entry);

	if (!sink->handlers->commands_done)
		return false;
	sink->handlers->commands_done(sink->context,
		hw_cmd_inter_comp_event_get_command_completion_vector(data));
	return true;
}

static bool dispatch_decode_page_request(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;
	const struct hw_pages_req_event *data = hw_eqe_get_event_data_pages_req_event(entry);

	if (!sink->handlers->page_request)
		return false;
	sink->handlers->page_request(sink->context, hw_pages_req_event_get_function_id(data),
				     (s32)hw_pages_req_event_get_num_pages(data));
	return true;
}

static bool dispatch_decode_port_change(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;
	const struct hw_port_state_change_event *data =
		hw_eqe_get_event_data_port_state_change_event(entry);
	const struct cxib_hw_client *client = cxib_event_client(sink);
	u32 subtype = hw_eqe_get_event_sub_type(entry);
	u32 port = hw_port_state_change_event_get_port_num(data);

	if (!client)
		return false;
	if (port < 1 || port > PORTS_MAX) {
		dev_warn_ratelimited(sink->dev,
				     "event %s: port %u out of range [1, %u]\n",
				     hw_event_type_name(HW_EVENT_TYPE_PORT_CHANGE), port,
				     PORTS_MAX);
		return true;
	}
	dev_dbg(sink->dev, "port %u: %s\n", port, hw_port_change_subtype_name(subtype));
	client->ops->event(client->context, entry);
	client->ops->port_change(client->context, port, subtype);
	return true;
}

static bool dispatch_decode_cq_error(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	const struct hw_cq_error *data = hw_eqe_get_event_data_cq_error(entry);
	const struct cxib_hw_client *client = cxib_event_client(eq->sink);

	if (!client)
		return false;
	client->ops->event(client->context, entry);
	client->ops->cq_error(client->context, hw_cq_error_get_cqn(data),
			      hw_cq_error_get_syndrome(data));
	return true;
}

static bool dispatch_decode_queue_event(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	const struct hw_qp_events *data = hw_eqe_get_event_data_qp_events(entry);
	const struct cxib_hw_client *client = cxib_event_client(eq->sink);

	if (!client)
		return false;
	client->ops->event(client->context, entry);
	client->ops->queue_event(client->context, hw_eqe_get_event_type(entry),
				 hw_qp_events_get_type(data), hw_qp_events_get_qpn_rqn_sqn(data));
	return true;
}

static bool dispatch_decode_dct_event(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	const struct hw_dct_events *data = hw_eqe_get_event_data_dct_events(entry);
	const struct cxib_hw_client *client = cxib_event_client(eq->sink);

	if (!client)
		return false;
	client->ops->event(client->context, entry);
	client->ops->queue_event(client->context, hw_eqe_get_event_type(entry),
				 HW_EVENT_QUEUE_TYPE_DCT, hw_dct_events_get_dct_number(data));
	return true;
}

static bool dispatch_decode_internal_error(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;

	if (!sink->handlers->internal_error)
		return false;
	sink->handlers->internal_error(sink->context);
	return true;
}

static void dispatch_warn_unknown_fault(struct cxib_event_sink *sink, const struct hw_eqe *entry)
{
	dev_warn_ratelimited(sink->dev,
			     "event %s: unknown sub-type %u (not %u, %u or %u)\n",
			     hw_event_type_name(HW_EVENT_TYPE_PAGE_FAULT),
			     hw_eqe_get_event_sub_type(entry),
			     HW_PAGE_FAULT_SUBTYPE_WQE, HW_PAGE_FAULT_SUBTYPE_RDMA,
			     HW_PAGE_FAULT_SUBTYPE_MEMORY);
}

/* The driver cannot resume a fault of an unknown sub-type, so its transfer remains suspended. */
static bool dispatch_decode_page_fault(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;
	const struct cxib_hw_client *client = cxib_event_client(sink);
	struct cxib_page_fault fault;

	if (!client && !sink->handlers->page_fault)
		return false;
	if (!cxib_page_fault_decode(entry, &fault))
		dispatch_warn_unknown_fault(sink, entry);
	else if (client)
		client->ops->page_fault(client->context, &fault);
	else
		sink->handlers->page_fault(sink->context, &fault);
	return true;
}

static const decoder decoders[] = {
	[HW_EVENT_TYPE_COMP] = dispatch_decode_completion,
	[HW_EVENT_TYPE_PATH_MIG] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_COMM_EST] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_SQ_DRAINED] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_CQ_ERROR] = dispatch_decode_cq_error,
	[HW_EVENT_TYPE_WQ_CATAS_ERROR] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_PATH_MIG_FAILED] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_INTERNAL_ERROR] = dispatch_decode_internal_error,
	[HW_EVENT_TYPE_PORT_CHANGE] = dispatch_decode_port_change,
	[HW_EVENT_TYPE_CMD] = dispatch_decode_cmd_completion,
	[HW_EVENT_TYPE_PAGE_REQUEST] = dispatch_decode_page_request,
	[HW_EVENT_TYPE_PAGE_FAULT] = dispatch_decode_page_fault,
	[HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_WQ_ACCESS_ERROR] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_SRQ_CATAS_ERROR] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_SRQ_LAST_WQE] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_SRQ_RQ_LIMIT] = dispatch_decode_queue_event,
	[HW_EVENT_TYPE_DCT_DRAINED] = dispatch_decode_dct_event,
	[HW_EVENT_TYPE_DCT_KEY_VIOLATION] = dispatch_decode_dct_event,
};

/**
 * cxib_asynchronous_events() - returns the event mask of the async EQ
 * @has_dct: the device has DCTs, and events about them
 *
 * Return: bit n for each event type n with a handler, except for completions, command completions
 * and page faults, which have their own EQs.
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
 * cxib_dispatch_event() - calls the handler of an event
 * @eq: its EQ. Events that are not in its event_mask are counted but not dispatched, because their
 *	handler may need another context.
 * @entry: a copy of the EQE; the device may write to the ring at any time
 *
 * Events of unknown types are counted and logged.
 *
 * Context: that of the handler.
 */
void cxib_dispatch_event(const struct cxib_eq *eq, const struct hw_eqe *entry)
{
	struct cxib_event_sink *sink = eq->sink;
	u32 type = hw_eqe_get_event_type(entry);

	trace_eq_event(sink->dev, entry);
	if (type >= ARRAY_SIZE(decoders) || !decoders[type]) {
		atomic64_inc(&sink->unknown);
		dev_warn_ratelimited(sink->dev, "event type 0x%02x (%s), sub-type %u: unknown, ignored\n",
				     type, hw_event_type_name(type),
				     hw_eqe_get_event_sub_type(entry));
		return;
	}
	if (!(BIT_ULL(type) & eq->event_mask) || !decoders[type](eq, entry))
		atomic64_inc(&sink->unhandled);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dispatch_event);
