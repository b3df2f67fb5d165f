// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Connects many QPs between two devices, sends a message through each, and measures the time to
 * create a QP when there are few and many QPs.
 *
 * usage: queue_pairs DEVICE DEVICE COUNT
 *
 * Prints one line of JSON:
 *   {"queue_pairs": N, "messages": N, "create_at_100_us": T, "create_at_all_us": T}
 * The times are medians of 101 creations around the 100th and of the last 101. COUNT is the number
 * of connections, each with a QP on either device.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	MESSAGE_SIZE = 64,
	WINDOW = 101, /* the median of so many creations is reported */
	FEW = 100,
	BATCH = 64, /* outstanding messages */
	COMPLETIONS = 1024,
	PATIENCE = 600, /* seconds; ends only a run that has already failed */
};

struct side {
	struct ibv_context *context;
	struct ibv_pd *domain;
	struct ibv_cq *completions;
	struct ibv_mr *region;
	struct ibv_qp **queue_pairs;
	uint8_t *memory;
	uint16_t lid;
};

static void fail(const char *format, ...)
{
	va_list arguments;

	fputs("queue_pairs: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(1);
}

static double microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (!context)
		fail("no device %s can be opened", name);
	ibv_free_device_list(list);
	return context;
}

static void set_up(struct side *side, const char *device, long count)
{
	struct ibv_port_attr port;
	size_t size = (size_t)count * MESSAGE_SIZE;

	side->context = open_device(device);
	if (ibv_query_port(side->context, 1, &port))
		fail("%s: port 1 can't be queried", device);
	side->lid = port.lid;
	side->memory = calloc(count, MESSAGE_SIZE);
	side->queue_pairs = calloc(count, sizeof(*side->queue_pairs));
	side->domain = ibv_alloc_pd(side->context);
	side->completions = ibv_create_cq(side->context, COMPLETIONS, NULL, NULL, 0);
	if (!side->memory || !side->queue_pairs || !side->domain || !side->completions)
		fail("%s: no memory, protection domain or completion queue", device);
	side->region = ibv_reg_mr(side->domain, side->memory, size, IBV_ACCESS_LOCAL_WRITE);
	if (!side->region)
		fail("%s: %zu bytes can't be registered", device, size);
}

/* Returns the time in microseconds. */
static double create(struct side *side, long index)
{
	struct ibv_qp_init_attr attributes = {
		.send_cq = side->completions,
		.recv_cq = side->completions,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	double start = microseconds();

	side->queue_pairs[index] = ibv_create_qp(side->domain, &attributes);
	if (!side->queue_pairs[index])
		fail("queue pair %ld can't be created", index);
	return microseconds() - start;
}

static void to_init(struct ibv_qp *queue_pair)
{
	struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	if (ibv_modify_qp(queue_pair, &attributes,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		fail("queue pair %#x doesn't go to INIT", queue_pair->qp_num);
}

static void to_rts(struct ibv_qp *queue_pair, uint32_t peer, uint16_t lid)
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = { .dlid = lid, .port_num = 1 },
	};
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	if (ibv_modify_qp(queue_pair, &receive,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		fail("queue pair %#x doesn't go to RTR", queue_pair->qp_num);
	if (ibv_modify_qp(queue_pair, &send,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC))
		fail("queue pair %#x doesn't go to RTS", queue_pair->qp_num);
}

static void connect_pair(struct side *first, struct side *second, long index)
{
	struct ibv_qp *one = first->queue_pairs[index];
	struct ibv_qp *other = second->queue_pairs[index];

	to_init(one);
	to_init(other);
	to_rts(one, other->qp_num, second->lid);
	to_rts(other, one->qp_num, first->lid);
}

static struct ibv_sge message_of(struct side *side, long index)
{
	return (struct ibv_sge){
		.addr = (uintptr_t)(side->memory + index * MESSAGE_SIZE),
		.length = MESSAGE_SIZE,
		.lkey = side->region->lkey,
	};
}

static void post(struct side *from, struct side *to, long index)
{
	struct ibv_sge source = message_of(from, index);
	struct ibv_sge target = message_of(to, index);
	struct ibv_recv_wr receive = { .wr_id = index, .sg_list = &target, .num_sge = 1 };
	struct ibv_send_wr send = {
		.wr_id = index,
		.sg_list = &source,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_recv_wr *bad_receive;
	struct ibv_send_wr *bad_send;

	memset(from->memory + index * MESSAGE_SIZE, (int)(index % 251) + 1, MESSAGE_SIZE);
	if (ibv_post_recv(to->queue_pairs[index], &receive, &bad_receive) ||
	    ibv_post_send(from->queue_pairs[index], &send, &bad_send))
		fail("message %ld can't be posted", index);
}

static void await(struct side *side, long wanted)
{
	double limit = microseconds() + PATIENCE * 1e6;
	struct ibv_wc completion;

	while (wanted > 0) {
		int got = ibv_poll_cq(side->completions, 1, &completion);

		if (got < 0 || microseconds() > limit)
			fail("%ld completions are missing", wanted);
		if (got && completion.status != IBV_WC_SUCCESS)
			fail("message %lu: %s", completion.wr_id, ibv_wc_status_str(completion.status));
		wanted -= got;
	}
}

static void exchange(struct side *from, struct side *to, long count)
{
	for (long first = 0; first < count; first += BATCH) {
		long last = first + BATCH < count ? first + BATCH : count;

		for (long index = first; index < last; index++)
			post(from, to, index);
		await(from, last - first);
		await(to, last - first);
	}
	if (memcmp(from->memory, to->memory, (size_t)count * MESSAGE_SIZE)) {
		errno = EIO;
		fail("messages have not arrived as they were sent");
	}
}

static int compare(const void *one, const void *other)
{
	double difference = *(const double *)one - *(const double *)other;

	return (difference > 0) - (difference < 0);
}

static double median(const double *times)
{
	double sorted[WINDOW];

	memcpy(sorted, times, sizeof(sorted));
	qsort(sorted, WINDOW, sizeof(*sorted), compare);
	return sorted[WINDOW / 2];
}

static long parse_count(const char *text)
{
	char *end;
	long count = strtol(text, &end, 10);

	if (*end || count < FEW + WINDOW) {
		fprintf(stderr, "queue_pairs: COUNT is '%s', must be a number from %d\n", text, FEW + WINDOW);
		exit(2);
	}
	return count;
}

int main(int argc, char **argv)
{
	struct side first = { 0 }, second = { 0 };
	double *times;
	long count;

	if (argc != 4) {
		fputs("usage: queue_pairs DEVICE DEVICE COUNT\n", stderr);
		return 2;
	}
	count = parse_count(argv[3]);
	times = calloc(count, sizeof(*times));
	if (!times)
		fail("no memory");
	set_up(&first, argv[1], count);
	set_up(&second, argv[2], count);
	for (long index = 0; index < count; index++) {
		times[index] = create(&first, index);
		create(&second, index);
		connect_pair(&first, &second, index);
		if (index % 1000 == 999)
			fprintf(stderr, "%ld queue pairs connected\n", index + 1);
	}
	exchange(&first, &second, count);
	exchange(&second, &first, count);
	printf("{\"queue_pairs\": %ld, \"messages\": %ld, \"create_at_%d_us\": %.1f, \"create_at_all_us\": %.1f}\n",
	       2 * count, 2 * count, FEW, median(times + FEW - WINDOW / 2), median(times + count - WINDOW));
	return 0;
}
