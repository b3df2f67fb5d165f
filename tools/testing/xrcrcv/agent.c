// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process with XRC domains, SRQs and QPs. It executes the commands in its input and prints one
 * line for each: "ok" with results, or "error" with the errno. Compiled with NAMES_OF_2008 it uses
 * libxrc2008, otherwise libxrcrcv. agents.py starts it. The comment of a function describes its
 * command.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../module/cases/fork.h"

#ifndef NAMES_OF_2008
#include <xrcrcv/xrcrcv.h>
#endif

#define SLOTS 16
#define DEPTH 64
#define MESSAGE 256

static struct device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	struct ibv_xrcd *domains[SLOTS];
	struct ibv_srq *srqs[SLOTS];
	struct ibv_qp *qps[SLOTS];
	char memory[DEPTH * MESSAGE];
} devices[SLOTS], *device = devices;

static char *words[SLOTS];
static int word_count;

/* Returns the word or the number at this position of the command. */
static const char *word(int at)
{
	return at < word_count ? words[at] : "";
}

static unsigned int number(int at)
{
	return strtoul(word(at), NULL, 0);
}

__attribute__((format(printf, 1, 2))) static void ok(const char *format, ...)
{
	va_list list;

	printf("ok ");
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	printf("\n");
}

/* ERROR is a positive errno, or -1 if errno has the error. */
static void failed(int error)
{
	printf("error %s\n", strerrorname_np(error < 0 ? errno : error));
}

/* For calls of the tested libraries, which must leave their error in errno. */
static void result(int error)
{
	if (error && errno != error)
		printf("error result %d, errno %d\n", error, errno);
	else if (error)
		failed(error);
	else
		ok("0");
}

#ifdef NAMES_OF_2008
static struct ibv_xrcd *open_domain(int fd, int flags)
{
	return ibv_open_xrc_domain(device->context, fd, flags);
}

static int close_domain(struct ibv_xrcd *domain)
{
	return ibv_close_xrc_domain(domain);
}

static struct ibv_srq *create_srq(struct ibv_xrcd *domain, uint32_t *srqn)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_xrc_srq(device->pd, domain, device->cq, &attr);

	if (srq)
		*srqn = srq->xrc_srq_num;
	return srq;
}

static struct ibv_qp *create_sender(void)
{
	/* The QP has an SRQ because programs of 2008 pass one. */
	struct ibv_qp_init_attr attr = {
		.send_cq = device->cq, .recv_cq = device->cq, .srq = device->srqs[0], .qp_type = IBV_QPT_XRC,
		.xrc_domain = device->domains[0], .cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(device->pd, &attr);

	if (attr.srq != device->srqs[0])
		fprintf(stderr, "ibv_create_qp() has changed the SRQ\n");
	return qp;
}

static int create(struct ibv_xrcd *domain, uint32_t *qpn)
{
	struct ibv_qp_init_attr attr;

	memset(&attr, 0xa5, sizeof(attr));
	attr.xrc_domain = domain;
	return ibv_create_xrc_rcv_qp(&attr, qpn);
}

static int modify(struct ibv_xrcd *domain, uint32_t qpn, struct ibv_qp_attr *attr, int mask)
{
	return ibv_modify_xrc_rcv_qp(domain, qpn, attr, mask);
}

static int query(struct ibv_xrcd *domain, uint32_t qpn, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	return ibv_query_xrc_rcv_qp(domain, qpn, attr, mask, init);
}

static int reg(struct ibv_xrcd *domain, uint32_t qpn)
{
	return ibv_reg_xrc_rcv_qp(domain, qpn);
}

static int unreg(struct ibv_xrcd *domain, uint32_t qpn)
{
	return ibv_unreg_xrc_rcv_qp(domain, qpn);
}

static void set_remote_srq(struct ibv_send_wr *request, uint32_t srqn)
{
	request->xrc_remote_srq_num = srqn;
}
#else
static struct ibv_xrcd *open_domain(int fd, int flags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = flags,
	};

	return ibv_open_xrcd(device->context, &attr);
}

static int close_domain(struct ibv_xrcd *domain)
{
	return ibv_close_xrcd(domain);
}

static struct ibv_srq *create_srq(struct ibv_xrcd *domain, uint32_t *srqn)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC, .pd = device->pd, .xrcd = domain,
		.cq = device->cq,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(device->context, &attr);

	if (srq)
		errno = ibv_get_srq_num(srq, srqn);
	return srq;
}

static struct ibv_qp *create_sender(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = device->cq, .recv_cq = device->cq, .qp_type = IBV_QPT_XRC_SEND,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};

	return ibv_create_qp(device->pd, &attr);
}

static int create(struct ibv_xrcd *domain, uint32_t *qpn)
{
	return xrcrcv_create(domain, qpn);
}

static int modify(struct ibv_xrcd *domain, uint32_t qpn, struct ibv_qp_attr *attr, int mask)
{
	return xrcrcv_modify(domain, qpn, attr, mask);
}

static int query(struct ibv_xrcd *domain, uint32_t qpn, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init)
{
	return xrcrcv_query(domain, qpn, attr, mask, init);
}

static int reg(struct ibv_xrcd *domain, uint32_t qpn)
{
	return xrcrcv_register(domain, qpn);
}

static int unreg(struct ibv_xrcd *domain, uint32_t qpn)
{
	return xrcrcv_unregister(domain, qpn);
}

static void set_remote_srq(struct ibv_send_wr *request, uint32_t srqn)
{
	request->qp_type.xrc.remote_srqn = srqn;
}
#endif

/*
 * device SLOT NUMBER: opens the device with this number in name order; returns the LID of its port.
 */
static int by_name(const void *a, const void *b)
{
	return strcmp(ibv_get_device_name(*(struct ibv_device *const *)a),
		      ibv_get_device_name(*(struct ibv_device *const *)b));
}

static void do_device(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	device = &devices[number(1)];
	qsort(list, count, sizeof(*list), by_name);
	device->context = ibv_open_device(list[number(2)]);
	ibv_free_device_list(list);
	if (!device->context)
		return failed(-1);
	device->pd = ibv_alloc_pd(device->context);
	device->cq = ibv_create_cq(device->context, 4 * DEPTH, NULL, NULL, 0);
	device->mr = ibv_reg_mr(device->pd, device->memory, sizeof(device->memory), IBV_ACCESS_LOCAL_WRITE);
	if (!device->pd || !device->cq || !device->mr || ibv_query_port(device->context, 1, &device->port))
		return failed(-1);
	ok("%u", device->port.lid);
}

/* select SLOT: the following commands use this device. */
static void do_select(void)
{
	device = &devices[number(1)];
	ok("0");
}

/* domain SLOT PATH [create] [excl]: opens an XRC domain; PATH "-" means no file. */
static void do_domain(void)
{
	int flags = 0, fd = -1;
	struct ibv_xrcd *domain;

	for (int at = 3; at < word_count; at++)
		flags |= !strcmp(word(at), "create") ? O_CREAT : O_EXCL;
	if (strcmp(word(2), "-")) {
		fd = open(word(2), O_RDONLY);
		if (fd < 0)
			return failed(-1);
	}
	domain = open_domain(fd, flags);
	/* Programs close the file after they have opened the domain. */
	if (fd >= 0) {
		int error = errno;

		close(fd);
		errno = error;
	}
	if (!domain)
		return failed(-1);
	device->domains[number(1)] = domain;
	ok("0");
}

/* close SLOT: closes an XRC domain. */
static void do_close(void)
{
	int error = close_domain(device->domains[number(1)]);

	if (!error)
		device->domains[number(1)] = NULL;
	/* ibv_close_xrcd() returns the errno and does not set the variable errno. */
	errno = error;
	result(error);
}

/*
 * forged-domain SLOT DOMAIN KIND: copies DOMAIN with the handle of no object ("unknown") or of a PD
 * ("pd"). The handles of all objects are numbers of one sequence.
 */
static void do_forged_domain(void)
{
	/* Same layout as libibverbs' struct verbs_xrcd. */
	static struct {
		struct ibv_xrcd xrcd;
		uint32_t comp_mask, handle;
	} forged[SLOTS];
	const unsigned int slot = number(1);

	memcpy(&forged[slot], device->domains[number(2)], sizeof(*forged));
	forged[slot].handle = !strcmp(word(3), "pd") ? device->pd->handle : 0x7fffffff;
	device->domains[slot] = &forged[slot].xrcd;
	ok("0");
}

/* srq SLOT DOMAIN: creates an SRQ and posts receive WRs; returns its number. */
static void do_srq(void)
{
	uint32_t srqn = 0;
	struct ibv_srq *srq = create_srq(device->domains[number(2)], &srqn);

	if (!srq)
		return failed(-1);
	device->srqs[number(1)] = srq;
	for (int at = 0; at < DEPTH / 2; at++) {
		struct ibv_sge sge = {
			.addr = (uintptr_t)device->memory + at * MESSAGE, .length = MESSAGE, .lkey = device->mr->lkey,
		};
		struct ibv_recv_wr *bad, request = { .wr_id = at, .sg_list = &sge, .num_sge = 1 };
		int error = ibv_post_srq_recv(srq, &request, &bad);

		if (error)
			return failed(error);
	}
	ok("%u", srqn);
}

/* destroy-srq SLOT */
static void do_destroy_srq(void)
{
	int error = ibv_destroy_srq(device->srqs[number(1)]);

	errno = error;
	result(error);
}

/* create DOMAIN: returns the number of the new receive QP. */
static void do_create(void)
{
	uint32_t qpn = 0;
	int error = create(device->domains[number(1)], &qpn);

	if (error)
		return result(error);
	ok("%u", qpn);
}

/* register DOMAIN QPN, unregister DOMAIN QPN */
static void do_register(void)
{
	errno = 0;
	result(reg(device->domains[number(1)], number(2)));
}

static void do_unregister(void)
{
	errno = 0;
	result(unreg(device->domains[number(1)], number(2)));
}

static int to_init(struct ibv_xrcd *domain, uint32_t qpn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	return modify(domain, qpn, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* init DOMAIN QPN: modifies a receive QP to INIT. */
static void do_init(void)
{
	errno = 0;
	result(to_init(device->domains[number(1)], number(2)));
}

/* rtr DOMAIN QPN LID QPN-OF-SENDER: modifies a receive QP to RTR. */
static void do_rtr(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = number(4), .rq_psn = 0x321,
		.max_dest_rd_atomic = 2, .min_rnr_timer = 3, .ah_attr = { .dlid = number(3), .port_num = 1, .sl = 0 },
	};

	errno = 0;
	result(modify(device->domains[number(1)], number(2), &attr,
		      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

/*
 * rts DOMAIN QPN [rc]: modifies a receive QP to RTS, with "rc" with the attribute mask of an RC QP,
 * as programs of 2008 do.
 */
static void do_rts(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = 0x123, .timeout = 14, .retry_cnt = 3, .rnr_retry = 7, .max_rd_atomic = 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;

	if (!strcmp(word(3), "rc"))
		mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	errno = 0;
	result(modify(device->domains[number(1)], number(2), &attr, mask));
}

/* modify DOMAIN QPN STATE PORT MASK: modifies a QP with any attribute mask. */
static void do_modify(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = number(3), .port_num = number(4), .ah_attr = { .port_num = number(4), .dlid = 1 },
		.path_mtu = IBV_MTU_1024,
	};

	errno = 0;
	result(modify(device->domains[number(1)], number(2), &attr, number(5)));
}

/* query DOMAIN QPN: queries a QP with an empty attribute mask. */
static void do_query(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int error;

	errno = 0;
	error = query(device->domains[number(1)], number(2), &attr, 0, &init);
	if (error)
		return result(error);
	ok("state %u port %u pkey_index %u access %u path_mtu %u dest_qp_num %u rq_psn %u max_dest_rd_atomic %u "
	   "min_rnr_timer %u dlid %u type %u", attr.qp_state, attr.port_num, attr.pkey_index, attr.qp_access_flags,
	   attr.path_mtu, attr.dest_qp_num, attr.rq_psn, attr.max_dest_rd_atomic, attr.min_rnr_timer, attr.ah_attr.dlid,
	   init.qp_type);
}

/* null CALL: calls a function of the library with a NULL argument. */
static void do_null(void)
{
	struct ibv_qp_init_attr init;
	uint32_t qpn;

	errno = 0;
	if (!strcmp(word(1), "create"))
		result(create(NULL, &qpn));
	else if (!strcmp(word(1), "modify"))
		result(modify(device->domains[0], number(2), NULL, 0));
	else if (!strcmp(word(1), "query"))
		result(query(device->domains[0], number(2), NULL, 0, &init));
	else if (!strcmp(word(1), "register"))
		result(reg(NULL, number(2)));
	else
		result(unreg(NULL, number(2)));
}

/* open-qp SLOT DOMAIN QPN: opens a receive QP with today's libibverbs. */
static void do_open_qp(void)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number(3), .xrcd = device->domains[number(2)], .qp_type = IBV_QPT_XRC_RECV,
	};

	device->qps[number(1)] = ibv_open_qp(device->context, &attr);
	if (!device->qps[number(1)])
		return failed(-1);
	ok("0");
}

/* rc-qp SLOT: creates an RC QP; returns its number. */
static void do_rc_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = device->cq, .recv_cq = device->cq, .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 },
	};

	device->qps[number(1)] = ibv_create_qp(device->pd, &attr);
	if (!device->qps[number(1)])
		return failed(-1);
	ok("%u", device->qps[number(1)]->qp_num);
}

/* sender SLOT: creates an XRC send QP; returns its number. */
static void do_sender(void)
{
	struct ibv_qp *qp = create_sender();

	if (!qp)
		return failed(-1);
	device->qps[number(1)] = qp;
	ok("%u", qp->qp_num);
}

/*
 * connect SLOT LID QPN [rc]: brings a send QP to RTS, with "rc" with the attribute masks of an RC
 * QP, as programs of 2008 do.
 */
static void do_connect(void)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = number(3),
		.ah_attr = { .dlid = number(2), .port_num = 1 }, .sq_psn = 0x321, .timeout = 14, .retry_cnt = 3,
		.rnr_retry = 7, .max_rd_atomic = 1, .max_dest_rd_atomic = 1, .min_rnr_timer = 3,
	};
	const int of_responder = !strcmp(word(4), "rc") ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0;
	struct ibv_qp *qp = device->qps[number(1)];
	int error = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

	attr.qp_state = IBV_QPS_RTR;
	if (!error)
		error = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | of_responder);
	attr.qp_state = IBV_QPS_RTS;
	if (!error)
		error = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	if (error)
		return failed(error);
	ok("0");
}

static void await(struct ibv_wc *wc)
{
	while (!ibv_poll_cq(device->cq, 1, wc))
		usleep(1000);
}

static void complete_send(struct ibv_send_wr *request, struct ibv_qp *qp)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int error = ibv_post_send(qp, request, &bad);

	if (error)
		return failed(error);
	await(&wc);
	ok("%s", ibv_wc_status_str(wc.status));
}

/* send SLOT SRQN TEXT: returns the status of the completion. */
static void do_send(void)
{
	char *text = device->memory + sizeof(device->memory) - MESSAGE;
	struct ibv_sge sge = { .addr = (uintptr_t)text, .length = MESSAGE, .lkey = device->mr->lkey };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};

	snprintf(text, MESSAGE, "%s", word(3));
	set_remote_srq(&request, number(2));
	complete_send(&request, device->qps[number(1)]);
}

/* write SLOT SRQN: posts an RDMA WRITE to memory that does not exist. */
static void do_write(void)
{
	struct ibv_sge sge = { .addr = (uintptr_t)device->memory, .length = 1, .lkey = device->mr->lkey };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = 1, .rkey = 0xffffffff },
	};

	set_remote_srq(&request, number(2));
	complete_send(&request, device->qps[number(1)]);
}

/* receive: waits for a message and returns it. Does not repost its receive WR. */
static void do_receive(void)
{
	struct ibv_wc wc;

	await(&wc);
	if (wc.status)
		return ok("%s", ibv_wc_status_str(wc.status));
	ok("%s", device->memory + wc.wr_id * MESSAGE);
}

/*
 * event MILLISECONDS: returns type and element of the next asynchronous event, or "none" after this
 * time.
 */
static void do_event(void)
{
	struct pollfd ready = { .fd = device->context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&ready, 1, number(1)) != 1)
		return ok("none");
	if (ibv_get_async_event(device->context, &event))
		return failed(-1);
	ibv_ack_async_event(&event);
#ifdef NAMES_OF_2008
	if (event.event_type & IBV_XRC_QP_EVENT_FLAG)
		return ok("0x%x %u", event.event_type, event.element.xrc_qp_num);
#else
	uint32_t qpn;
	enum ibv_event_type type;

	if (xrcrcv_event(&event, &qpn, &type))
		return ok("0x%x %u", type | XRCRCV_EVENT_FLAG, qpn);
#endif
	ok("0x%x plain", event.event_type);
}

/* fork: continues as the child. The parent waits for the child and does not use its objects. */
static void do_fork(void)
{
	pid_t child;

	fflush(stdout);
	child = fork_without_pages();
	if (child < 0)
		return failed(-1);
	if (child) {
		waitpid(child, NULL, 0);
		_exit(0);
	}
	ok("%d", getpid());
}

/* close-device SLOT: closes the file with all its objects, without destroying them one by one. */
static void do_close_device(void)
{
	int error = ibv_close_device(devices[number(1)].context);

	if (error)
		return failed(error);
	ok("0");
}

/*
 * replace-events NAME: closes the file of asynchronous events, or replaces it with a completion
 * channel, with that of the imported context, or with that of another device.
 */
static void do_replace_events(void)
{
	int fd = device->context->async_fd;

	if (!strcmp(word(1), "closed")) {
		close(fd);
	} else if (!strcmp(word(1), "channel")) {
		struct ibv_comp_channel *channel = ibv_create_comp_channel(device->context);

		dup2(channel->fd, fd);
	} else if (!strcmp(word(1), "imported")) {
		struct ibv_context *context = ibv_import_device(dup(device->context->cmd_fd));

		if (!context)
			return failed(-1);
		dup2(context->async_fd, fd);
	} else {
		dup2(devices[number(1)].context->async_fd, fd);
	}
	ok("0");
}

/*
 * capability: returns IBV_DEVICE_XRC (0 or 1) and whether the library supports registrations (2008:
 * the same value).
 */
static void do_capability(void)
{
	struct ibv_device_attr attr;
	int error = ibv_query_device(device->context, &attr);
	bool xrc = attr.device_cap_flags & IBV_DEVICE_XRC;

	if (error)
		return failed(error);
#ifdef NAMES_OF_2008
	ok("%d", xrc);
#else
	ok("%d %d", xrc, xrcrcv_supported(device->context));
#endif
}

/* Two threads that unregister the same QP. */
struct racer {
	pthread_t thread;
	pthread_barrier_t *barrier;
	int error;
};

static void *unregister_in_race(void *argument)
{
	struct racer *racer = argument;

	pthread_barrier_wait(racer->barrier);
	racer->error = unreg(device->domains[number(1)], number(2));
	return NULL;
}

/*
 * race DOMAIN QPN: two threads unregister at the same time; returns the number of successes, and
 * the error of the last failure.
 */
static void do_race(void)
{
	pthread_barrier_t barrier;
	struct racer racers[2];
	int succeeded = 0, error = 0;

	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t at = 0; at < 2; at++) {
		racers[at].barrier = &barrier;
		pthread_create(&racers[at].thread, NULL, unregister_in_race, &racers[at]);
	}
	for (size_t at = 0; at < 2; at++) {
		pthread_join(racers[at].thread, NULL);
		succeeded += !racers[at].error;
		if (racers[at].error)
			error = racers[at].error;
	}
	pthread_barrier_destroy(&barrier);
	ok("%d %s", succeeded, error ? strerrorname_np(error) : "0");
}

static atomic_bool is_over;

static void *register_in_loop(void *unused)
{
	intptr_t failures = 0;

	(void)unused;
	while (!atomic_load(&is_over))
		failures += reg(device->domains[number(1)], number(2)) != 0;
	return (void *)failures;
}

/*
 * repeat DOMAIN QPN ROUNDS: one thread registers and unregisters while another one only registers;
 * returns the number of failed calls of each thread.
 */
static void do_repeat(void)
{
	unsigned int failures = 0;
	pthread_t thread;
	void *others;

	atomic_store(&is_over, false);
	pthread_create(&thread, NULL, register_in_loop, NULL);
	for (unsigned int left = number(3); left; left--) {
		failures += reg(device->domains[number(1)], number(2)) != 0;
		failures += unreg(device->domains[number(1)], number(2)) != 0;
	}
	atomic_store(&is_over, true);
	pthread_join(thread, &others);
	ok("%u", failures + (unsigned int)(intptr_t)others);
}

#define STORM_QPN	5	/* position of the first QPN */
#define STORM_THREADS	3	/* of each process */

static struct {
	bool ends_with_device;
	atomic_bool is_over;
	atomic_uint failures;
} storm;

static void expect(const char *call, int error, int other_error)
{
	if (error && storm.ends_with_device && (error == EIO || error == EINVAL)) {
		if (error == EIO)
			atomic_store(&storm.is_over, true);
	} else if (error && error != other_error) {
		fprintf(stderr, "%s: %s\n", call, strerrorname_np(error));
		atomic_fetch_add(&storm.failures, 1);
	}
}

/* No other thread uses this QP. */
static void use_own_qp(struct ibv_xrcd *domain)
{
	uint32_t qpn;
	int error = create(domain, &qpn);

	expect("create", error, 0);
	if (error)
		return;
	expect("modify", to_init(domain, qpn), 0);
	expect("unregister own", unreg(domain, qpn), 0);
}

/* All threads register this QP. Another thread may already have unregistered it. */
static void use_common_qp(struct ibv_xrcd *domain, uint32_t qpn)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	expect("register", reg(domain, qpn), 0);
	expect("query", query(domain, qpn, &attr, 0, &init), 0);
	expect("unregister", unreg(domain, qpn), EINVAL);
}

/* The handle may be closed while another thread unregisters a QP that was registered with it. */
static void use_own_handle(const char *file, uint32_t qpn)
{
	int fd = open(file, O_RDWR | O_CLOEXEC), error;
	struct ibv_xrcd *domain = open_domain(fd, O_CREAT);

	if (!domain)
		expect("open", errno, 0);
	close(fd);
	if (!domain)
		return;
	use_common_qp(domain, qpn);
	do {
		error = close_domain(domain);
	} while (error == EBUSY);
	expect("close", error, 0);
}

static void *do_rounds(void *thread)
{
	unsigned int at = (intptr_t)thread, last = at + number(3);

	for (; at < last && !atomic_load(&storm.is_over); at++) {
		const uint32_t qpn = number(STORM_QPN + at / 3 % (word_count - STORM_QPN));

		if (at % 3 == 0)
			use_own_qp(device->domains[number(1)]);
		else if (at % 3 == 1)
			use_common_qp(device->domains[number(1)], qpn);
		else
			use_own_handle(word(2), qpn);
	}
	return NULL;
}

static void do_rounds_in_threads(void)
{
	pthread_t threads[STORM_THREADS];

	for (intptr_t at = 0; at < STORM_THREADS; at++)
		pthread_create(&threads[at], NULL, do_rounds, (void *)at);
	for (size_t at = 0; at < STORM_THREADS; at++)
		pthread_join(threads[at], NULL);
}

/*
 * storm DOMAIN FILE ROUNDS KIND QPN...: threads of this process and of its child, which shares the
 * files, make all calls at the same time; returns the number of failed threads of this process and
 * of failed processes. Another process keeps the QPs. With KIND "removed" the calls end when the
 * device is gone.
 */
static void do_storm(void)
{
	const pid_t parent = getpid();
	int status;
	pid_t child;

	storm.ends_with_device = !strcmp(word(4), "removed");
	atomic_store(&storm.is_over, false);
	atomic_store(&storm.failures, 0);
	fflush(stdout);
	child = fork_without_pages();
	if (child < 0)
		return failed(-1);
	if (!child && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent))
		_exit(1);
	do_rounds_in_threads();
	if (!child)
		_exit(atomic_load(&storm.failures) != 0);
	if (waitpid(child, &status, 0) != child)
		return failed(-1);
	ok("%u", atomic_load(&storm.failures) + (status != 0));
}

static struct {
	struct ibv_xrcd *domain;
	pthread_t thread;
	atomic_bool is_closed;
} closing;

/* Closing fails with EBUSY while a call uses the domain. */
static void *close_in_thread(void *unused)
{
	int error;

	(void)unused;
	do {
		error = close_domain(closing.domain);
	} while (error == EBUSY);
	atomic_store(&closing.is_closed, true);
	return (void *)(intptr_t)error;
}

/*
 * closing DOMAIN QPN: registers while a thread closes the domain. Returns the first result other
 * than EINVAL, which an open domain returns for an unknown QPN. The command must fail in the device
 * before the domain is closed: no call may use a closed domain.
 */
static void do_closing(void)
{
	int error;

	closing.domain = device->domains[number(1)];
	atomic_store(&closing.is_closed, false);
	pthread_create(&closing.thread, NULL, close_in_thread, NULL);
	do {
		error = reg(closing.domain, number(2));
	} while (error == EINVAL && !atomic_load(&closing.is_closed));
	ok("%s", strerrorname_np(error));
}

/* closed: waits for the thread of "closing"; returns its result. */
static void do_closed(void)
{
	void *closed;

	pthread_join(closing.thread, &closed);
	ok("%d", (int)(intptr_t)closed);
}

/* join-group DIRECTORY: joins a control group. */
static void do_join_group(void)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cgroup.procs", word(1));
	file = fopen(path, "w");
	if (!file || fprintf(file, "%d", getpid()) < 0 || fclose(file))
		return failed(-1);
	ok("0");
}

/* user ID: becomes an unprivileged user. */
static void do_user(void)
{
	if (setgroups(0, NULL) || setgid(number(1)) || setuid(number(1)))
		return failed(-1);
	ok("0");
}

static const struct command {
	const char *name;
	void (*function)(void);
} commands[] = {
	{ "device", do_device }, { "select", do_select }, { "domain", do_domain }, { "close", do_close },
	{ "forged-domain", do_forged_domain },
	{ "srq", do_srq }, { "destroy-srq", do_destroy_srq }, { "create", do_create }, { "register", do_register },
	{ "unregister", do_unregister }, { "init", do_init }, { "rtr", do_rtr }, { "modify", do_modify },
	{ "query", do_query }, { "null", do_null }, { "open-qp", do_open_qp },
	{ "rc-qp", do_rc_qp }, { "sender", do_sender }, { "connect", do_connect }, { "send", do_send },
	{ "write", do_write }, { "receive", do_receive }, { "event", do_event }, { "fork", do_fork },
	{ "close-device", do_close_device }, { "replace-events", do_replace_events }, { "capability", do_capability },
	{ "race", do_race }, { "repeat", do_repeat }, { "storm", do_storm }, { "rts", do_rts }, { "user", do_user },
	{ "closing", do_closing }, { "closed", do_closed }, { "join-group", do_join_group },
};

static void obey(char *line)
{
	word_count = 0;
	for (char *at = strtok(line, " \n"); at && word_count < SLOTS; at = strtok(NULL, " \n"))
		words[word_count++] = at;
	for (size_t at = 0; at < sizeof(commands) / sizeof(*commands); at++)
		if (!strcmp(word(0), commands[at].name))
			return commands[at].function();
	printf("error unknown command\n");
}

int main(void)
{
	char line[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
