/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the programs share: two devices of one guest, connected pairs, a verdict as the last line. */
#ifndef CXIB_TESTING_VERBS_PAIR_H
#define CXIB_TESTING_VERBS_PAIR_H
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALL_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		    IBV_ACCESS_REMOTE_ATOMIC)
#define PAGE 4096UL

static void verdict(bool good, const char *format, va_list list)
{
	fflush(stderr);
	printf("%s: ", good ? "PASS" : "FAIL");
	vprintf(format, list);
	printf("\n");
	fflush(stdout);
	_exit(!good);
}

__attribute__((format(printf, 1, 2), noreturn, unused)) static void fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	verdict(false, format, list);
	__builtin_unreachable();
}

__attribute__((format(printf, 1, 2), noreturn, unused)) static void pass(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	verdict(true, format, list);
	__builtin_unreachable();
}

/* For calls that return an error number, or -1 and errno. */
#define MUST(call) do { \
	errno = 0; \
	int must_ = (call); \
	if (must_) \
		fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, strerror(must_ > 0 ? must_ : errno)); \
} while (0)
/* For calls that return a pointer. */
#define NEED(call) ({ \
	errno = 0; \
	__typeof__(call) need_ = (call); \
	if (!need_ || (void *)need_ == MAP_FAILED) \
		fail("%s:%d: %s: %s", __FILE__, __LINE__, #call, strerror(errno)); \
	need_; \
})

__attribute__((unused)) static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

/* How long threads fight: a minute, or what CASE_SECONDS says. */
__attribute__((unused)) static int duration(void)
{
	const char *text = getenv("CASE_SECONDS");

	return text && atoi(text) > 0 ? atoi(text) : 60;
}

__attribute__((format(printf, 1, 2), unused)) static int shell(const char *format, ...)
{
	char command[2048];
	va_list list;
	int status;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	fflush(stdout);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

__attribute__((unused)) static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail("cannot write '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(ibv_get_device_name(*(struct ibv_device *const *)a),
		      ibv_get_device_name(*(struct ibv_device *const *)b));
}

/* The devices of a guest in the order of their names. */
__attribute__((unused)) static struct ibv_context *open_device(int number)
{
	int count;
	struct ibv_device **list = NEED(ibv_get_device_list(&count));
	struct ibv_context *context;

	qsort(list, count, sizeof(*list), by_name);
	if (number >= count)
		fail("there are %d devices, number %d is needed", count, number);
	context = NEED(ibv_open_device(list[number]));
	ibv_free_device_list(list);
	return context;
}

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
	size_t length;
	int port;
	struct ibv_port_attr attr;
	union ibv_gid gid;
};

/* Depth of queues; requests complete when they say so. */
#define DEPTH 64

static struct ibv_qp *make_qp(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = end->cq, .recv_cq = end->cq, .srq = end->srq, .qp_type = type,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = 2 },
	};

	return NEED(ibv_create_qp(end->pd, &init));
}

/* With memory of LENGTH bytes, unless there is some in END; vector -1: no completion channel. */
__attribute__((unused)) static void set_up(struct end *end, int device, int port, size_t length, int vector,
					   enum ibv_qp_type type)
{
	if (!end->context)
		end->context = open_device(device);
	end->port = port;
	MUST(ibv_query_port(end->context, port, &end->attr));
	MUST(ibv_query_gid(end->context, port, 0, &end->gid));
	end->pd = NEED(ibv_alloc_pd(end->context));
	if (vector >= 0)
		end->channel = NEED(ibv_create_comp_channel(end->context));
	end->cq = NEED(ibv_create_cq(end->context, 4 * DEPTH, NULL, end->channel, vector < 0 ? 0 : vector));
	if (!end->memory && length) {
		end->memory = NEED(mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		end->length = length;
	}
	if (end->memory)
		end->mr = NEED(ibv_reg_mr(end->pd, end->memory, end->length, ALL_ACCESS));
	end->qp = make_qp(end, type);
}

/* What a connection has; the caller changes what it wants before each half of connect_with(). */
static struct ibv_qp_attr path_to(const struct end *end, const struct end *peer)
{
	return (struct ibv_qp_attr){
		.port_num = end->port, .qp_access_flags = ALL_ACCESS, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp->qp_num, .rq_psn = 0x123, .sq_psn = 0x123,
		.max_rd_atomic = 4, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.timeout = 16, .retry_cnt = 7, .rnr_retry = 7, .qkey = 0x11111111,
		.ah_attr = { .dlid = peer->attr.lid, .port_num = end->port },
	};
}

static int to_init(struct ibv_qp *qp, struct ibv_qp_attr *attr)
{
	attr->qp_state = IBV_QPS_INIT;
	return ibv_modify_qp(qp, attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     (qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static int to_rtr(struct ibv_qp *qp, struct ibv_qp_attr *attr)
{
	attr->qp_state = IBV_QPS_RTR;
	if (qp->qp_type == IBV_QPT_UD)
		return ibv_modify_qp(qp, attr, IBV_QP_STATE);
	return ibv_modify_qp(qp, attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     (qp->qp_type == IBV_QPT_RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0));
}

static int to_rts(struct ibv_qp *qp, struct ibv_qp_attr *attr)
{
	attr->qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(qp, attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			     (qp->qp_type == IBV_QPT_RC ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_MAX_QP_RD_ATOMIC : 0));
}

static int connect_with(struct ibv_qp *qp, struct ibv_qp_attr attr)
{
	int err = to_init(qp, &attr);

	if (!err)
		err = to_rtr(qp, &attr);
	return err ?: to_rts(qp, &attr);
}

__attribute__((unused)) static void join(struct end *a, struct end *b)
{
	MUST(connect_with(a->qp, path_to(a, b)));
	MUST(connect_with(b->qp, path_to(b, a)));
}

/* One side on each of the first two devices, connected. */
__attribute__((unused)) static void make_pair(struct end *a, struct end *b, size_t length)
{
	set_up(a, 0, 1, length, -1, IBV_QPT_RC);
	set_up(b, 1, 1, length, -1, IBV_QPT_RC);
	join(a, b);
}

/* The next completion, or a failure after SECONDS. */
__attribute__((unused)) static struct ibv_wc await_within(struct ibv_cq *cq, double seconds)
{
	double end = now() + seconds;
	struct ibv_wc wc;
	int count;

	while (!(count = ibv_poll_cq(cq, 1, &wc)))
		if (now() > end)
			fail("no completion within %.0f s", seconds);
	if (count < 0)
		fail("ibv_poll_cq: %d", count);
	return wc;
}

__attribute__((unused)) static struct ibv_wc await(struct ibv_cq *cq)
{
	return await_within(cq, 60);
}

static int post_rdma(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint64_t local, uint32_t lkey, uint32_t length,
		     uint64_t remote, uint32_t rkey, uint64_t id)
{
	struct ibv_sge sge = { .addr = local, .length = length, .lkey = lkey };
	struct ibv_send_wr *bad, request = {
		.wr_id = id, .sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = remote, .rkey = rkey },
	};

	return ibv_post_send(qp, &request, &bad);
}

/* Writes or reads LENGTH bytes at the same offset of both memories; returns the status. */
__attribute__((unused)) static enum ibv_wc_status transfer(struct end *from, struct end *to, enum ibv_wr_opcode opcode,
							   size_t offset, uint32_t length)
{
	MUST(post_rdma(from->qp, opcode, (uintptr_t)from->memory + offset, from->mr->lkey, length,
		       (uintptr_t)to->memory + offset, to->mr->rkey, 1));
	return await(from->cq).status;
}

__attribute__((unused)) static int post_receive(struct end *end, size_t offset, uint32_t length, uint64_t id)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->memory + offset, .length = length, .lkey = end->mr->lkey };
	struct ibv_recv_wr *bad, request = { .wr_id = id, .sg_list = &sge, .num_sge = 1 };

	return end->srq ? ibv_post_srq_recv(end->srq, &request, &bad) : ibv_post_recv(end->qp, &request, &bad);
}

__attribute__((unused)) static int post_message(struct end *end, size_t offset, uint32_t length, uint64_t id)
{
	return post_rdma(end->qp, IBV_WR_SEND, (uintptr_t)end->memory + offset, end->mr->lkey, length, 0, 0, id);
}

/* Objects of a kind that all devices have together, as 'rdma resource' counts them. */
__attribute__((unused)) static long resources(const char *kind)
{
	char command[128], text[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "rdma resource | grep -o ' %s [0-9]*' | awk '{ n += $2 } END { print n + 0 }'", kind);
	pipe = NEED(popen(command, "r"));
	if (!fgets(text, sizeof(text), pipe))
		fail("'rdma resource' says nothing");
	pclose(pipe);
	return atol(text);
}

__attribute__((unused)) static void await_resources(const char *kind, long wanted, int seconds)
{
	double end = now() + seconds;
	long found;

	while ((found = resources(kind)) != wanted) {
		if (now() > end)
			fail("there are %ld objects '%s' after %d s, %ld were expected", found, kind, seconds, wanted);
		usleep(200000);
	}
}

#endif
