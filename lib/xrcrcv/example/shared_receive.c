// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * shared_receive FILE [RECEIVING-DEVICE [SENDING-DEVICE]]
 *
 *   cc shared_receive.c $(pkg-config --cflags --libs xrcrcv) -o shared_receive
 *
 * Two processes receive through one QP whose creator has exited. main() runs a job of four processes.
 * The processes of a real job are on two hosts and exchange the numbers of their queues through MPI;
 * these use pipes.
 *
 *   creator    creates the QP, connects it to the sender, and exits
 *   receivers  have an SRQ each and register the QP, which then belongs to them
 *   sender     has one QP, and selects the receiving process of a message by its SRQ number
 *
 * FILE identifies the XRC domain. Processes that may open FILE may use the QPs of the domain, so its
 * mode is the permission. 0600 is right for a job of one user.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xrcrcv/xrcrcv.h>

#define RECEIVERS 2
#define MESSAGE 64

static const char *receiving_device, *sending_device, *file;

/* Checks calls that return 0 or an errno. */
static void check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(1);
}

/* Checks calls that return a pointer and set errno. */
static void *need(void *pointer, const char *what)
{
	if (!pointer)
		check(errno ? errno : ENOMEM, what);
	return pointer;
}

static void put(int fd, uint32_t value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		check(EPIPE, "write");
}

static uint32_t get(int fd)
{
	uint32_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		check(EPIPE, "another process has ended");
	return value;
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = need(ibv_get_device_list(NULL), "ibv_get_device_list");
	struct ibv_context *context = NULL;

	for (int at = 0; list[at] && !context; at++)
		if (!name || !strcmp(name, ibv_get_device_name(list[at])))
			context = need(ibv_open_device(list[at]), "ibv_open_device");
	ibv_free_device_list(list);
	return need(context, "no such device");
}

/* A CQ, and memory for a message to send or to receive. */
struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	char message[MESSAGE];
};

static void open_end(struct end *end, const char *device)
{
	end->context = open_device(device);
	end->pd = need(ibv_alloc_pd(end->context), "ibv_alloc_pd");
	end->cq = need(ibv_create_cq(end->context, 16, NULL, NULL, 0), "ibv_create_cq");
	end->mr = need(ibv_reg_mr(end->pd, end->message, MESSAGE, IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
}

static struct ibv_sge message_of(const struct end *end)
{
	return (struct ibv_sge){ .addr = (uintptr_t)end->message, .length = MESSAGE, .lkey = end->mr->lkey };
}

static void await(struct end *end, const char *what)
{
	struct ibv_wc wc;
	int count;

	do
		count = ibv_poll_cq(end->cq, 1, &wc);
	while (!count);
	if (count < 0 || wc.status) {
		fprintf(stderr, "%s: %s\n", what, count < 0 ? "cannot poll" : ibv_wc_status_str(wc.status));
		exit(1);
	}
}

static uint32_t lid_of(struct ibv_context *context)
{
	struct ibv_port_attr port;

	check(ibv_query_port(context, 1, &port), "ibv_query_port");
	return port.lid;
}

/*
 * Opens the XRC domain of the file, which all processes that open the file on this device share.
 * The file descriptor is needed only during the call.
 */
static struct ibv_xrcd *open_domain(struct ibv_context *context)
{
	int fd = open(file, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = O_CREAT,
	};
	struct ibv_xrcd *domain;

	if (fd < 0)
		check(errno, file);
	domain = need(ibv_open_xrcd(context, &attr), "ibv_open_xrcd");
	close(fd);
	return domain;
}

/*
 * The creator. xrcrcv_create() returns a QP number instead of a handle, and other processes need
 * only this number. The QP never sends, so it only goes to INIT and RTR.
 */
static void create_qp(int job)
{
	struct ibv_context *context = open_device(receiving_device);
	struct ibv_xrcd *domain = open_domain(context);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .pkey_index = 0, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	uint32_t qpn;

	if (!xrcrcv_supported(context))
		check(ENOSYS, "registered receive QPs");
	check(xrcrcv_create(domain, &qpn), "xrcrcv_create");
	put(job, qpn);
	put(job, lid_of(context));

	check(xrcrcv_modify(domain, qpn, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "to INIT");
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .rq_psn = 0, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, .ah_attr = { .port_num = 1 },
	};
	attr.dest_qp_num = get(job);
	attr.ah_attr.dlid = get(job);
	check(xrcrcv_modify(domain, qpn, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "to RTR");
	/*
	 * The QP exists while a process has it registered, so the creator waits until the receivers
	 * have registered it.
	 */
	get(job);
	printf("creator: QP 0x%x is connected and registered by others; I end\n", qpn);
}

/*
 * A receiver. Its registration keeps the QP and delivers the events of the QP: the first message
 * raises COMM_EST for each registered process.
 */
static void receive(int job, int number)
{
	struct end end = {};
	struct ibv_xrcd *domain;
	struct ibv_srq_init_attr_ex attr = {
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_recv_wr *bad, request = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_async_event event;
	enum ibv_event_type type;
	uint32_t srqn, qpn, qpn_of_event;

	open_end(&end, receiving_device);
	domain = open_domain(end.context);
	attr.pd = end.pd;
	attr.xrcd = domain;
	attr.cq = end.cq;
	srq = need(ibv_create_srq_ex(end.context, &attr), "ibv_create_srq_ex");
	check(ibv_get_srq_num(srq, &srqn), "ibv_get_srq_num");
	sge = message_of(&end);
	check(ibv_post_srq_recv(srq, &request, &bad), "ibv_post_srq_recv");

	qpn = get(job);
	check(xrcrcv_register(domain, qpn), "xrcrcv_register");
	put(job, srqn);

	await(&end, "receive");
	printf("receiver %d: \"%s\"\n", number, end.message);
	if (ibv_get_async_event(end.context, &event))
		check(errno, "ibv_get_async_event");
	if (xrcrcv_event(&event, &qpn_of_event, &type))
		printf("receiver %d: QP 0x%x: %s\n", number, qpn_of_event, ibv_event_type_str(type));
	ibv_ack_async_event(&event);
	put(job, 0);

	/*
	 * The last unregistration destroys the QP. The exit of the process would unregister it as
	 * well.
	 */
	get(job);
	check(xrcrcv_unregister(domain, qpn), "xrcrcv_unregister");
	check(ibv_destroy_srq(srq), "ibv_destroy_srq");
	check(ibv_close_xrcd(domain), "ibv_close_xrcd");
}

/* The sender uses a QP of today's libibverbs. */
static void connect_sender(struct ibv_qp *qp, uint32_t qpn, uint32_t lid)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn, .timeout = 14,
		.retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1, .ah_attr = { .port_num = 1, .dlid = lid },
	};

	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
	      "sender to INIT");
	attr.qp_state = IBV_QPS_RTR;
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
	      "sender to RTR");
	attr.qp_state = IBV_QPS_RTS;
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC), "sender to RTS");
}

static void send_to(struct end *end, struct ibv_qp *qp, uint32_t srqn, int number)
{
	struct ibv_sge sge = message_of(end);
	struct ibv_send_wr *bad, request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = srqn,
	};

	snprintf(end->message, MESSAGE, "for SRQ %d, through a QP whose creator has gone", number);
	check(ibv_post_send(qp, &request, &bad), "ibv_post_send");
	await(end, "send");
}

/* A process of the job with a socket to it. */
struct process {
	pid_t pid;
	int socket;
};

static struct process start(int number)
{
	struct process process;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		check(errno, "socketpair");
	process.socket = pair[0];
	process.pid = fork();
	if (process.pid < 0)
		check(errno, "fork");
	if (process.pid)
		return close(pair[1]), process;
	close(pair[0]);
	if (number < 0)
		create_qp(pair[1]);
	else
		receive(pair[1], number);
	exit(0);
}

static int ended_well(struct process process)
{
	int status;

	return waitpid(process.pid, &status, 0) == process.pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct process creator, receivers[RECEIVERS];
	uint32_t srqns[RECEIVERS], qpn, lid;
	struct ibv_qp *qp;
	struct end end = {};
	int all_well = 1;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: %s FILE [RECEIVING-DEVICE [SENDING-DEVICE]]\n", argv[0]);
		return 2;
	}
	file = argv[1];
	receiving_device = argc > 2 ? argv[2] : NULL;
	sending_device = argc > 3 ? argv[3] : receiving_device;
	setvbuf(stdout, NULL, _IOLBF, 0);

	creator = start(-1);
	for (int at = 0; at < RECEIVERS; at++)
		receivers[at] = start(at);

	open_end(&end, sending_device);
	qp = need(ibv_create_qp(end.pd, &(struct ibv_qp_init_attr){
		.send_cq = end.cq, .recv_cq = end.cq, .qp_type = IBV_QPT_XRC_SEND,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	}), "ibv_create_qp");
	qpn = get(creator.socket);
	lid = get(creator.socket);
	put(creator.socket, qp->qp_num);
	put(creator.socket, lid_of(end.context));
	for (int at = 0; at < RECEIVERS; at++) {
		put(receivers[at].socket, qpn);
		srqns[at] = get(receivers[at].socket);
	}

	/* All receivers have registered the QP, so the creator may exit, even voluntarily. */
	put(creator.socket, 0);
	all_well &= ended_well(creator);
	connect_sender(qp, qpn, lid);
	for (int at = 0; at < RECEIVERS; at++)
		send_to(&end, qp, srqns[at], at);
	for (int at = 0; at < RECEIVERS; at++)
		get(receivers[at].socket);
	for (int at = 0; at < RECEIVERS; at++) {
		put(receivers[at].socket, 0);
		all_well &= ended_well(receivers[at]);
	}
	return !all_well;
}
