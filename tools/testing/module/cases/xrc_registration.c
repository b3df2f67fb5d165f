// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes register an XRC receive QP on the second device; the first device sends. The parent
 * sends orders to each process and reads the results.
 */
#include "xrc_registration.h"

#include <sys/pidfd.h>

#define DOMAIN		"/tmp/xrc_domain"
#define OTHER_DOMAIN	"/tmp/xrc_other_domain"
#define PEERS		3
#define RECEIVES	32
#define RKEY_OF_NOBODY	0xdeadbe00

/* Orders for a peer. The result is 0 or an error number unless the comment says otherwise. */
enum order {
	OPEN,		/* opens the device, its domain and an SRQ: returns the SRQN */
	CREATE,		/* creates a receive QP connected to the sender: returns the QPN */
	CREATE_RC,	/* creates an RC QP: returns its number */
	DESTROY,	/* destroys its handle of the receive QP */
	REGISTER,	/* registers a QP by number */
	REGISTER_IN_OTHER,	/* registers it with another domain */
	UNREGISTER,
	FIND,
	CLOSE_DOMAIN,
	RECEIVE,	/* receives a message: returns its first byte, or -1 */
	EVENT,		/* reads the next event: returns its type, or -1 */
	ELEMENT,	/* returns the element of that event */
	PENDING,	/* whether there is an event */
	CLOSE_EVENTS,	/* closes its file of asynchronous events */
	FORK,		/* leaves the device open in an idle child */
	DEVICE_FILE,	/* returns its descriptor of the device */
	DOMAIN_HANDLE,	/* returns the kernel's number of the domain */
	EXECUTE,	/* executes another program; no reply */
};

struct message {
	enum order order;
	int64_t value;
};

struct peer {
	pid_t pid;
	int socket;
};

struct receiver {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_xrcd *domain;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ibv_async_event event;
	char memory[RECEIVES][64];
	char *domain_path;
};

struct sender {
	struct end end;
	struct ibv_qp *qp;
};

/* The second device's name in 'rdma resource'. */
static char device_name[64];

static void post(struct receiver *receiver, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)receiver->memory[slot], .length = sizeof(receiver->memory[slot]), .lkey = receiver->mr->lkey,
	};
	struct ibv_recv_wr *bad, request = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	MUST(ibv_post_srq_recv(receiver->srq, &request, &bad));
}

static int64_t open_receiver(struct receiver *receiver)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = RECEIVES, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};
	uint32_t number;
	int slot;

	receiver->context = open_device(1);
	receiver->pd = NEED(ibv_alloc_pd(receiver->context));
	receiver->cq = NEED(ibv_create_cq(receiver->context, 2 * RECEIVES, NULL, NULL, 0));
	receiver->domain = open_domain(receiver->context, DOMAIN);
	receiver->mr = NEED(ibv_reg_mr(receiver->pd, receiver->memory, sizeof(receiver->memory), ALL_ACCESS));
	init.pd = receiver->pd;
	init.xrcd = receiver->domain;
	init.cq = receiver->cq;
	receiver->srq = NEED(ibv_create_srq_ex(receiver->context, &init));
	for (slot = 0; slot < RECEIVES; slot++)
		post(receiver, slot);
	MUST(ibv_get_srq_num(receiver->srq, &number));
	return number;
}

/* sender: LID in the upper half, QP number in the lower half. The receive QP stays in RTR. */
static int64_t create_receive(struct receiver *receiver, uint64_t sender)
{
	struct ibv_qp_attr attr = {
		.port_num = 1, .qp_access_flags = ALL_ACCESS, .path_mtu = IBV_MTU_1024, .dest_qp_num = (uint32_t)sender,
		.rq_psn = 0x123, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr = { .dlid = sender >> 32, .port_num = 1 },
	};

	receiver->qp = NEED(create_receive_qp(receiver->context, receiver->domain));
	MUST(to_init(receiver->qp, &attr));
	attr.qp_state = IBV_QPS_RTR;
	MUST(ibv_modify_qp(receiver->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	return receiver->qp->qp_num;
}

static int64_t create_rc(struct receiver *receiver)
{
	struct end end = { .cq = receiver->cq, .pd = receiver->pd };

	return make_qp(&end, IBV_QPT_RC)->qp_num;
}

static int64_t register_in_other(struct receiver *receiver, uint32_t qpn)
{
	struct ibv_xrcd *domain = open_domain(receiver->context, OTHER_DOMAIN);
	int err = register_qp(receiver->context->cmd_fd, handle_of(domain), qpn, receiver->context->async_fd);

	MUST(ibv_close_xrcd(domain));
	return err;
}

static int64_t receive(struct receiver *receiver)
{
	struct ibv_wc wc = await(receiver->cq);
	int byte = receiver->memory[wc.wr_id][0];

	if (wc.status)
		return -1;
	post(receiver, wc.wr_id);
	return byte;
}

static bool is_pending(struct receiver *receiver, int milliseconds)
{
	struct pollfd poller = { .fd = receiver->context->async_fd, .events = POLLIN };

	return poll(&poller, 1, milliseconds) == 1;
}

static int64_t next_event(struct receiver *receiver)
{
	if (!is_pending(receiver, PATIENCE * 1000) || ibv_get_async_event(receiver->context, &receiver->event))
		return -1;
	ibv_ack_async_event(&receiver->event);
	return (uint32_t)receiver->event.event_type;
}

static int64_t leave_to_child(void)
{
	pid_t pid = fork_without_pages();

	MUST(pid < 0 ? -1 : 0);
	if (!pid)
		for (;;)
			pause();
	return pid;
}

static int64_t obey(struct receiver *receiver, struct message message)
{
	const int file = receiver->context ? receiver->context->cmd_fd : -1;

	switch (message.order) {
	case OPEN: return open_receiver(receiver);
	case CREATE: return create_receive(receiver, message.value);
	case CREATE_RC: return create_rc(receiver);
	case DESTROY: return ibv_destroy_qp(receiver->qp);
	case REGISTER:
		return register_qp(file, handle_of(receiver->domain), message.value, receiver->context->async_fd);
	case REGISTER_IN_OTHER: return register_in_other(receiver, message.value);
	case UNREGISTER: return unregister_qp(file, handle_of(receiver->domain), message.value);
	case FIND: return find_qp(file, handle_of(receiver->domain), message.value, &(uint32_t){ 0 });
	case CLOSE_DOMAIN:
		MUST(ibv_destroy_srq(receiver->srq));
		return ibv_close_xrcd(receiver->domain);
	case RECEIVE: return receive(receiver);
	case EVENT: return next_event(receiver);
	case ELEMENT: return (uint32_t)receiver->event.element.port_num;
	case PENDING: return is_pending(receiver, 0);
	case CLOSE_EVENTS: return close(receiver->context->async_fd);
	case FORK: return leave_to_child();
	case DEVICE_FILE: return file;
	case DOMAIN_HANDLE: return handle_of(receiver->domain);
	case EXECUTE: return execlp("sleep", "sleep", "600", NULL);
	}
	fail("no such order: %d", message.order);
}

static void serve(int socket)
{
	struct receiver *receiver = NEED(calloc(1, sizeof(*receiver)));
	struct message message;

	while (read(socket, &message, sizeof(message)) == sizeof(message)) {
		message.value = obey(receiver, message);
		if (write(socket, &message, sizeof(message)) != sizeof(message))
			break;
	}
	_exit(0);
}

static struct peer start_peer(void)
{
	struct peer peer;
	int sockets[2];

	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets));
	peer.socket = sockets[0];
	peer.pid = fork();
	if (!peer.pid) {
		close(sockets[0]);
		serve(sockets[1]);
	}
	close(sockets[1]);
	return peer;
}

static int64_t tell(const struct peer *peer, enum order order, int64_t value)
{
	struct message message = { order, value };

	if (write(peer->socket, &message, sizeof(message)) != sizeof(message) ||
	    read(peer->socket, &message, sizeof(message)) != sizeof(message))
		fail("a process has ended at order %d", order);
	return message.value;
}

#define EXPECT(peer, order, value, wanted) do { \
	int64_t got_ = tell(peer, order, value); \
	if (got_ != (int64_t)(wanted)) \
		fail("%s:%d: %s gives %lld, %lld was expected", __FILE__, __LINE__, #order, (long long)got_, \
		     (long long)(wanted)); \
} while (0)

#define REFUSED(call, wanted) do { \
	int got_ = call; \
	if (got_ != (wanted)) \
		fail("%s:%d: %s: %s, %s was expected", __FILE__, __LINE__, #call, strerror(got_), strerror(wanted)); \
} while (0)

static void end_peer(struct peer *peer)
{
	MUST(kill(peer->pid, SIGKILL));
	waitpid(peer->pid, NULL, 0);
	close(peer->socket);
}

static struct sender start_sender(void)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_SEND, .comp_mask = IBV_QP_INIT_ATTR_PD,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};
	struct sender sender = {};

	set_up(&sender.end, 0, 1, PAGE, -1, IBV_QPT_RC);
	init.pd = sender.end.pd;
	init.send_cq = sender.end.cq;
	sender.qp = NEED(ibv_create_qp_ex(sender.end.context, &init));
	return sender;
}

static int64_t address_of(const struct sender *sender)
{
	return (int64_t)sender->end.attr.lid << 32 | sender->qp->qp_num;
}

static void connect_sender(const struct sender *sender, uint32_t qpn)
{
	struct ibv_context *context = open_device(1);
	struct ibv_qp_attr attr = {
		.port_num = 1, .qp_access_flags = ALL_ACCESS, .path_mtu = IBV_MTU_1024, .dest_qp_num = qpn,
		.sq_psn = 0x123, .rq_psn = 0x123, .max_rd_atomic = 4, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .ah_attr = { .port_num = 1 },
	};
	struct ibv_port_attr port;

	snprintf(device_name, sizeof(device_name), "%s", ibv_get_device_name(context->device));
	MUST(ibv_query_port(context, 1, &port));
	MUST(ibv_close_device(context));
	attr.ah_attr.dlid = port.lid;
	MUST(to_init(sender->qp, &attr));
	attr.qp_state = IBV_QPS_RTR;
	MUST(ibv_modify_qp(sender->qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	MUST(ibv_modify_qp(sender->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			   IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC));
}

static enum ibv_wc_status transmit(const struct sender *sender, enum ibv_wr_opcode opcode, uint32_t srq, char byte)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)sender->end.memory, .length = 16, .lkey = sender->end.mr->lkey,
	};
	struct ibv_send_wr *bad, request = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = srq,
		.wr.rdma = { .remote_addr = 0x1000, .rkey = RKEY_OF_NOBODY },
	};

	sender->end.memory[0] = byte;
	MUST(ibv_post_send(sender->qp, &request, &bad));
	return await(sender->end.cq).status;
}

static enum ibv_wc_status send_to(const struct sender *sender, uint32_t srq, char byte)
{
	return transmit(sender, IBV_WR_SEND, srq, byte);
}

/* Expects that a message arrives at the SRQ of a peer. */
static void expect_delivery(const struct sender *sender, const struct peer *peer, uint32_t srq, char byte)
{
	enum ibv_wc_status status = send_to(sender, srq, byte);

	if (status)
		fail("message %d: %s", byte, ibv_wc_status_str(status));
	EXPECT(peer, RECEIVE, 0, byte);
}

static bool qp_exists(uint32_t qpn)
{
	return !shell("rdma resource show qp link %s lqpn %u | grep -q .", device_name, qpn);
}

static void expect_gone(uint32_t qpn)
{
	if (qp_exists(qpn))
		fail("QP 0x%x still exists", qpn);
}

/* Waits for the end of a process that is not a child of this one. */
static void await_gone(uint32_t qpn)
{
	double end = now() + PATIENCE;

	while (qp_exists(qpn) && now() < end)
		usleep(100000);
	expect_gone(qpn);
}

/* Compares the output of 'rdma resource show qp -dd'. */
static void expect_handles(uint32_t qpn, unsigned int registrations, unsigned int openers)
{
	if (shell("rdma -dd resource show qp link %s lqpn %u | tr -d '\\n' | grep -q 'registrations %u .*openers %u '",
		  device_name, qpn, registrations, openers)) {
		shell("rdma -dd resource show qp link %s lqpn %u", device_name, qpn);
		fail("QP 0x%x has not %u registrations and %u openers", qpn, registrations, openers);
	}
}

/* A sender and its receive QP, which several processes have registered. */
struct scene {
	struct sender sender;
	struct peer peers[PEERS];
	uint32_t srqs[PEERS];
	uint32_t qpn;
};

/* The first peer creates the QP; all peers register it. */
static void set_scene(struct scene *scene, int registrants)
{
	int i;

	for (i = 0; i < PEERS; i++)
		scene->peers[i] = start_peer();
	scene->sender = start_sender();
	for (i = 0; i < PEERS; i++)
		scene->srqs[i] = tell(&scene->peers[i], OPEN, 0);
	scene->qpn = tell(&scene->peers[0], CREATE, address_of(&scene->sender));
	connect_sender(&scene->sender, scene->qpn);
	for (i = 0; i < registrants; i++)
		EXPECT(&scene->peers[i], REGISTER, scene->qpn, 0);
}

static void killed_creator(void)
{
	struct scene scene = {};
	char byte;

	set_scene(&scene, PEERS);
	expect_handles(scene.qpn, PEERS, 1);
	for (byte = 1; byte < 20; byte++)
		expect_delivery(&scene.sender, &scene.peers[1 + byte % 2], scene.srqs[1 + byte % 2], byte);
	/* The sender sends while the creator exits. */
	MUST(kill(scene.peers[0].pid, SIGKILL));
	for (; byte < 100; byte++)
		expect_delivery(&scene.sender, &scene.peers[1 + byte % 2], scene.srqs[1 + byte % 2], byte);
	waitpid(scene.peers[0].pid, NULL, 0);
	expect_handles(scene.qpn, PEERS - 1, 0);
	expect_delivery(&scene.sender, &scene.peers[1], scene.srqs[1], byte);
	pass("99 messages arrive, and another one after the creator has gone");
}

static void killed_last(void)
{
	struct scene scene = {};
	enum ibv_wc_status status;
	int i;

	set_scene(&scene, PEERS);
	for (i = 0; i < PEERS; i++) {
		if (!qp_exists(scene.qpn))
			fail("QP 0x%x is gone before %d of its users are", scene.qpn, PEERS - i);
		end_peer(&scene.peers[i]);
	}
	expect_gone(scene.qpn);
	status = send_to(&scene.sender, scene.srqs[0], 1);
	if (status != IBV_WC_RETRY_EXC_ERR)
		fail("the sender gets %s", ibv_wc_status_str(status));
	pass("the QP goes with the last registrant");
}

static void creator_alone(void)
{
	struct scene scene = {};
	struct peer *creator = &scene.peers[0];

	set_scene(&scene, 1);
	EXPECT(creator, DESTROY, 0, 0);
	expect_handles(scene.qpn, 1, 0);
	expect_delivery(&scene.sender, creator, scene.srqs[0], 1);
	EXPECT(creator, UNREGISTER, scene.qpn, 0);
	expect_gone(scene.qpn);
	EXPECT(creator, REGISTER, scene.qpn, EINVAL);
	pass("the QP goes with its only registration");
}

static void expect_wrong_number(const struct peer *peer, uint32_t qpn)
{
	EXPECT(peer, REGISTER, qpn, EINVAL);
	EXPECT(peer, FIND, qpn, ENOENT);
	EXPECT(peer, UNREGISTER, qpn, ENOENT);
}

static void wrong_numbers(void)
{
	struct scene scene = {};
	struct peer *peer = &scene.peers[1];

	set_scene(&scene, 0);
	expect_wrong_number(peer, 0);
	expect_wrong_number(peer, 0xfffffe);
	expect_wrong_number(peer, 0xffffffff);
	expect_wrong_number(peer, 1U << 24 | scene.qpn);
	expect_wrong_number(peer, tell(peer, CREATE_RC, 0));
	EXPECT(peer, REGISTER_IN_OTHER, scene.qpn, EINVAL);
	EXPECT(peer, REGISTER, scene.qpn, 0);
	EXPECT(peer, REGISTER_IN_OTHER, scene.qpn, EINVAL);
	EXPECT(peer, FIND, scene.qpn, 0);
	pass("only QPs of the domain can be registered");
}

static void domain_stays(void)
{
	struct scene scene = {};
	struct peer *peer = &scene.peers[1];

	set_scene(&scene, PEERS);
	EXPECT(peer, CLOSE_DOMAIN, 0, EBUSY);
	EXPECT(peer, UNREGISTER, scene.qpn, 0);
	pass("the domain cannot be closed while a QP is registered");
}

static void domain_closes(void)
{
	struct scene scene = {};
	struct peer *peer = &scene.peers[1];

	set_scene(&scene, PEERS);
	EXPECT(peer, UNREGISTER, scene.qpn, 0);
	EXPECT(peer, CLOSE_DOMAIN, 0, 0);
	expect_delivery(&scene.sender, &scene.peers[2], scene.srqs[2], 1);
	pass("the domain can be closed after the registration");
}

static void repeated(void)
{
	struct scene scene = {};
	struct peer *peer = &scene.peers[1];

	set_scene(&scene, 1);
	EXPECT(peer, REGISTER, scene.qpn, 0);
	EXPECT(peer, REGISTER, scene.qpn, EEXIST);
	EXPECT(peer, REGISTER, scene.qpn, EEXIST);
	expect_handles(scene.qpn, 2, 1);
	EXPECT(peer, UNREGISTER, scene.qpn, 0);
	EXPECT(peer, FIND, scene.qpn, ENOENT);
	EXPECT(peer, UNREGISTER, scene.qpn, ENOENT);
	expect_handles(scene.qpn, 1, 1);
	pass("a process has one registration of a QP");
}

static void expect_event(const struct scene *scene, const struct peer *peer, enum ibv_event_type type)
{
	EXPECT(peer, EVENT, 0, CXIB_XRC_QP_EVENT_FLAG | type);
	EXPECT(peer, ELEMENT, 0, scene->qpn);
}

/*
 * The creator's handle would get plain events in addition to those of its registration, so it is
 * destroyed.
 */
static void events(void)
{
	struct scene scene = {};
	enum ibv_wc_status status;
	int i;

	set_scene(&scene, PEERS - 1);
	EXPECT(&scene.peers[0], DESTROY, 0, 0);
	expect_delivery(&scene.sender, &scene.peers[0], scene.srqs[0], 1);
	for (i = 0; i < PEERS - 1; i++)
		expect_event(&scene, &scene.peers[i], IBV_EVENT_COMM_EST);
	/* The next event of each process has another type, so none arrived twice. */
	status = transmit(&scene.sender, IBV_WR_RDMA_WRITE, scene.srqs[0], 1);
	if (status != IBV_WC_REM_ACCESS_ERR)
		fail("a write without rights: %s", ibv_wc_status_str(status));
	for (i = 0; i < PEERS - 1; i++) {
		expect_event(&scene, &scene.peers[i], IBV_EVENT_QP_ACCESS_ERR);
		EXPECT(&scene.peers[i], PENDING, 0, 0);
	}
	EXPECT(&scene.peers[PEERS - 1], PENDING, 0, 0);
	pass("each registrant gets each event once");
}

/* The handle of the RDMA core and the registration each get the event. */
static void events_of_creator(void)
{
	struct scene scene = {};
	const struct peer *creator = &scene.peers[0];
	int64_t first, second;

	set_scene(&scene, 1);
	expect_delivery(&scene.sender, creator, scene.srqs[0], 1);
	first = tell(creator, EVENT, 0);
	second = tell(creator, EVENT, 0);
	if (first + second != (int64_t)CXIB_XRC_QP_EVENT_FLAG + 2 * IBV_EVENT_COMM_EST)
		fail("the creator gets events 0x%llx and 0x%llx", (long long)first, (long long)second);
	EXPECT(creator, PENDING, 0, 0);
	EXPECT(creator, DESTROY, 0, 0);
	pass("a creator with a handle gets both events");
}

/* A child shares the open file: the registration ends when both have closed it. */
static void forked(void)
{
	struct scene scene = {};
	pid_t child;

	set_scene(&scene, PEERS);
	end_peer(&scene.peers[0]);
	end_peer(&scene.peers[1]);
	child = tell(&scene.peers[2], FORK, 0);
	end_peer(&scene.peers[2]);
	expect_handles(scene.qpn, 1, 0);
	MUST(kill(child, SIGKILL));
	await_gone(scene.qpn);
	pass("a registration belongs to the open file");
}

/*
 * This process receives the open file of a peer, which exits. The file still has one registration.
 */
static void imported(void)
{
	struct scene scene = {};
	const struct peer *peer = &scene.peers[0];
	struct ibv_context *context;
	int pidfd, file;
	uint32_t domain;

	set_scene(&scene, 1);
	EXPECT(peer, DESTROY, 0, 0);
	domain = tell(peer, DOMAIN_HANDLE, 0);
	pidfd = pidfd_open(peer->pid, 0);
	file = pidfd_getfd(pidfd, tell(peer, DEVICE_FILE, 0), 0);
	if (file < 0)
		fail("the peer's file: %s", strerror(errno));
	close(pidfd);
	context = NEED(ibv_import_device(file));
	end_peer(&scene.peers[0]);
	expect_handles(scene.qpn, 1, 0);
	expect_delivery(&scene.sender, &scene.peers[1], scene.srqs[1], 1);
	REFUSED(register_qp(file, domain, scene.qpn, context->async_fd), EEXIST);
	MUST(ibv_close_device(context));
	expect_gone(scene.qpn);
	pass("a registration ends with the last close of the file");
}

/* exec() keeps the process, but closes its files. */
static void executed(void)
{
	const struct message message = { EXECUTE };
	struct scene scene = {};

	set_scene(&scene, 1);
	EXPECT(&scene.peers[0], DESTROY, 0, 0);
	if (write(scene.peers[0].socket, &message, sizeof(message)) != sizeof(message))
		fail("the process has ended");
	await_gone(scene.qpn);
	if (kill(scene.peers[0].pid, SIGKILL))
		fail("the other program is not there");
	pass("a registration does not outlive execve()");
}

/* The file is closed, but its registration stays. */
static void closed_events(void)
{
	struct scene scene = {};

	set_scene(&scene, PEERS - 1);
	EXPECT(&scene.peers[0], DESTROY, 0, 0);
	EXPECT(&scene.peers[0], CLOSE_EVENTS, 0, 0);
	expect_delivery(&scene.sender, &scene.peers[0], scene.srqs[0], 1);
	expect_event(&scene, &scene.peers[1], IBV_EVENT_COMM_EST);
	expect_handles(scene.qpn, PEERS - 1, 0);
	EXPECT(&scene.peers[0], UNREGISTER, scene.qpn, 0);
	pass("events for a closed file are discarded");
}

/*
 * Objects of one process: two domains with a receive QP each, a PD, a completion channel, another
 * context.
 */
struct objects {
	struct ibv_context *context;
	struct ibv_context *other;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_xrcd *domains[2];
	struct ibv_qp *qps[2];
	uint32_t domain, qpn;
	int file, events;
};

static struct objects make_objects(void)
{
	struct objects made = { .context = open_device(1), .other = open_device(1) };
	int i;

	made.pd = NEED(ibv_alloc_pd(made.context));
	made.channel = NEED(ibv_create_comp_channel(made.context));
	for (i = 0; i < 2; i++) {
		made.domains[i] = open_domain(made.context, i ? OTHER_DOMAIN : DOMAIN);
		made.qps[i] = NEED(create_receive_qp(made.context, made.domains[i]));
	}
	made.domain = handle_of(made.domains[0]);
	made.qpn = made.qps[0]->qp_num;
	made.file = made.context->cmd_fd;
	made.events = made.context->async_fd;
	return made;
}

/*
 * Registers with attribute ODD of another length, missing (length 0) or duplicated (negative
 * length).
 */
static int register_oddly(const struct objects *objects, int odd, int length)
{
	const struct ib_uverbs_attr attrs[] = {
		{ .attr_id = CXIB_ATTR_XRC_REGISTRATION_HANDLE },
		{ .attr_id = CXIB_ATTR_XRC_REGISTRATION_DOMAIN, .data = objects->domain },
		{ .attr_id = CXIB_ATTR_XRC_REGISTRATION_QPN, .len = sizeof(uint32_t), .data = objects->qpn },
		{ .attr_id = CXIB_ATTR_XRC_REGISTRATION_EVENTS, .data = objects->events },
	};
	struct method request = method(CXIB_METHOD_XRC_REGISTRATION_REGISTER);
	size_t i;

	for (i = 0; i < sizeof(attrs) / sizeof(*attrs); i++) {
		bool is_odd = attrs[i].attr_id == odd;

		if (is_odd && !length)
			continue;
		add(&request, attrs[i].attr_id, is_odd && length > 0 ? length : attrs[i].len, attrs[i].data);
		if (is_odd && length < 0)
			add(&request, attrs[i].attr_id, attrs[i].len, attrs[i].data);
	}
	return call(objects->file, &request);
}

static void bad_requests(void)
{
	static const int required[] = {
		CXIB_ATTR_XRC_REGISTRATION_HANDLE, CXIB_ATTR_XRC_REGISTRATION_DOMAIN,
		CXIB_ATTR_XRC_REGISTRATION_QPN, CXIB_ATTR_XRC_REGISTRATION_EVENTS,
	};
	struct objects o = make_objects();
	uint32_t handle;
	size_t i;

	REFUSED(register_qp(o.file, 0x7fffffff, o.qpn, o.events), ENOENT);
	REFUSED(register_qp(o.file, o.pd->handle, o.qpn, o.events), EINVAL);
	REFUSED(register_qp(o.file, o.domain, o.qpn, 1000), EBADF);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.channel->fd), EBADF);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.other->async_fd), EBADF);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.file), EBADF);
	for (i = 0; i < sizeof(required) / sizeof(*required); i++) {
		REFUSED(register_oddly(&o, required[i], 0), EINVAL);
		REFUSED(register_oddly(&o, required[i], -1), EINVAL);
	}
	REFUSED(register_oddly(&o, CXIB_ATTR_XRC_REGISTRATION_QPN, 8), EINVAL);
	REFUSED(register_oddly(&o, CXIB_ATTR_XRC_REGISTRATION_QPN, 2), EINVAL);
	REFUSED(find_qp(o.file, o.domain, o.qpn, &handle), ENOENT);
	REFUSED(find_qp(o.file, 0x7fffffff, o.qpn, &handle), ENOENT);
	pass("requests with wrong attributes are refused");
}

static void mismatches(void)
{
	struct objects o = make_objects();
	uint32_t handle, other_handle, other = handle_of(o.domains[1]);

	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), 0);
	REFUSED(register_qp(o.file, other, o.qps[1]->qp_num, o.events), 0);
	REFUSED(find_qp(o.file, o.domain, o.qpn, &handle), 0);
	REFUSED(find_qp(o.file, other, o.qps[1]->qp_num, &other_handle), 0);
	REFUSED(find_qp(o.file, other, o.qpn, &(uint32_t){ 0 }), ENOENT);
	REFUSED(unregister_handle(o.file, handle, o.domain, o.qps[1]->qp_num), EINVAL);
	REFUSED(unregister_handle(o.file, handle, other, o.qpn), EINVAL);
	REFUSED(unregister_handle(o.file, handle, other, o.qps[1]->qp_num), EINVAL);
	REFUSED(unregister_handle(o.file, o.domain, o.domain, o.qpn), EINVAL);
	REFUSED(unregister_handle(o.file, 0x7fffffff, o.domain, o.qpn), ENOENT);
	REFUSED(unregister_handle(o.other->cmd_fd, handle, o.domain, o.qpn), ENOENT);
	REFUSED(unregister_handle(o.file, handle, o.domain, o.qpn), 0);
	REFUSED(unregister_handle(o.file, handle, o.domain, o.qpn), ENOENT);
	REFUSED(unregister_handle(o.file, other_handle, other, o.qps[1]->qp_num), 0);
	pass("a registration remains when something else is to be unregistered");
}

/* State of a thread that registers while another one unregisters. */
struct racer {
	const struct objects *objects;
	pthread_barrier_t *barrier;
	int results[2];
};

#define RACES	300
#define RACERS	2

static void *race(void *argument)
{
	struct racer *racer = argument;
	const struct objects *o = racer->objects;
	uint32_t handle;

	pthread_barrier_wait(racer->barrier);
	racer->results[0] = register_qp(o->file, o->domain, o->qpn, o->events);
	pthread_barrier_wait(racer->barrier);
	MUST(find_qp(o->file, o->domain, o->qpn, &handle));
	pthread_barrier_wait(racer->barrier);
	racer->results[1] = unregister_handle(o->file, handle, o->domain, o->qpn);
	return NULL;
}

static void check_race(const struct racer *racers)
{
	int registered = 0, unregistered = 0, i;

	for (i = 0; i < RACERS; i++) {
		registered += !racers[i].results[0];
		unregistered += !racers[i].results[1];
		if (racers[i].results[0] && racers[i].results[0] != EEXIST)
			fail("the slower thread registers: %s", strerror(racers[i].results[0]));
		if (racers[i].results[1] && racers[i].results[1] != ENOENT && racers[i].results[1] != EBUSY)
			fail("the slower thread unregisters: %s", strerror(racers[i].results[1]));
	}
	if (registered != 1 || unregistered != 1)
		fail("%d threads have registered, %d unregistered", registered, unregistered);
}

static void racing(void)
{
	struct objects o = make_objects();
	pthread_barrier_t barrier;
	int round, i;

	MUST(pthread_barrier_init(&barrier, NULL, RACERS));
	for (round = 0; round < RACES; round++) {
		struct racer racers[RACERS];
		pthread_t threads[RACERS];

		for (i = 0; i < RACERS; i++) {
			racers[i] = (struct racer){ &o, &barrier, {} };
			MUST(pthread_create(&threads[i], NULL, race, &racers[i]));
		}
		for (i = 0; i < RACERS; i++)
			pthread_join(threads[i], NULL);
		check_race(racers);
	}
	pass("one of two threads registers and unregisters, %d times", RACES);
}

#define GROUP "/tmp/xrc_cgroup/registrations"

static int64_t used_objects(void)
{
	char text[256] = "", *place;
	int fd = open(GROUP "/rdma.current", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		fail("rdma.current: %s", strerror(errno));
	close(fd);
	place = strstr(text, device_name);
	place = place ? strstr(place, "hca_object=") : NULL;
	return place ? atoll(place + strlen("hca_object=")) : 0;
}

static void limit_objects(int64_t limit)
{
	char text[128];

	snprintf(text, sizeof(text), "%s hca_object=%lld", device_name, (long long)limit);
	put_file(GROUP "/rdma.max", text);
}

static void limited(void)
{
	struct objects o;
	int64_t used;

	if (shell("mkdir -p /tmp/xrc_cgroup && mount -t cgroup2 none /tmp/xrc_cgroup && "
		  "echo +rdma > /tmp/xrc_cgroup/cgroup.subtree_control && mkdir -p " GROUP " && "
		  "echo %d > " GROUP "/cgroup.procs", getpid()))
		fail("no control group");
	o = make_objects();
	snprintf(device_name, sizeof(device_name), "%s", ibv_get_device_name(o.context->device));
	used = used_objects();
	limit_objects(used);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), EAGAIN);
	limit_objects(used + 1);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), 0);
	if (used_objects() != used + 1)
		fail("a registration counts as %lld objects", (long long)(used_objects() - used));
	REFUSED(unregister_qp(o.file, o.domain, o.qpn), 0);
	if (used_objects() != used)
		fail("%lld objects are left", (long long)(used_objects() - used));
	pass("a registration is one object of the control group");
}

/* Two contexts of one process have two registrations. */
static void two_contexts(void)
{
	struct objects o = make_objects();
	struct ibv_xrcd *domain = open_domain(o.other, DOMAIN);

	snprintf(device_name, sizeof(device_name), "%s", ibv_get_device_name(o.context->device));
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), 0);
	REFUSED(register_qp(o.other->cmd_fd, handle_of(domain), o.qpn, o.other->async_fd), 0);
	expect_handles(o.qpn, 2, 1);
	MUST(ibv_destroy_qp(o.qps[0]));
	REFUSED(unregister_qp(o.file, o.domain, o.qpn), 0);
	expect_handles(o.qpn, 1, 0);
	MUST(ibv_close_device(o.other));
	expect_gone(o.qpn);
	pass("each context has its own registration");
}

/* Handles of ibv_open_qp() and registrations keep the QP in the same way. */
static void opener(void)
{
	struct objects o = make_objects();
	struct ibv_xrcd *domain = open_domain(o.other, DOMAIN);
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = o.qpn, .xrcd = domain, .qp_type = IBV_QPT_XRC_RECV,
	};

	NEED(ibv_open_qp(o.other, &attr));
	snprintf(device_name, sizeof(device_name), "%s", ibv_get_device_name(o.context->device));
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), 0);
	expect_handles(o.qpn, 1, 2);
	MUST(ibv_destroy_qp(o.qps[0]));
	REFUSED(unregister_qp(o.file, o.domain, o.qpn), 0);
	expect_handles(o.qpn, 0, 1);
	/* ibv_destroy_qp() would crash in libmlx5 for a handle of ibv_open_qp(). */
	MUST(ibv_close_device(o.other));
	expect_gone(o.qpn);
	pass("the last handle destroys the QP");
}

/* Closing fails as well while a request uses the domain. */
static void *close_domain(void *domain)
{
	int err;

	do {
		err = ibv_close_xrcd(domain);
	} while (err == EBUSY);
	return (void *)(intptr_t)err;
}

/*
 * The device completes the command only after the line BUSY. No domain has QP 0, so the result
 * differs while the domain is being closed.
 */
static void closing(void)
{
	struct ibv_context *context = open_device(1);
	struct ibv_xrcd *domain = open_domain(context, NULL);
	const uint32_t handle = handle_of(domain);
	double end = now() + PATIENCE;
	pthread_t thread;
	void *closed;
	int err;

	MUST(pthread_create(&thread, NULL, close_domain, domain));
	do {
		err = register_qp(context->cmd_fd, handle, 0, context->async_fd);
	} while (err == EINVAL && now() < end);
	REFUSED(err, EBUSY);
	REFUSED(find_qp(context->cmd_fd, handle, 0, &(uint32_t){ 0 }), EBUSY);
	puts("BUSY");
	fflush(stdout);
	pthread_join(thread, &closed);
	REFUSED((int)(intptr_t)closed, 0);
	REFUSED(register_qp(context->cmd_fd, handle, 0, context->async_fd), ENOENT);
	pass("a domain that is being closed is busy");
}

static void removed(void)
{
	struct objects o = make_objects();
	char function[64];
	uint32_t handle;

	find_function(o.context, function, sizeof(function));
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), 0);
	REFUSED(find_qp(o.file, o.domain, o.qpn, &handle), 0);
	unbind(function);
	REFUSED(register_qp(o.file, o.domain, o.qpn, o.events), EIO);
	REFUSED(find_qp(o.file, o.domain, o.qpn, &handle), EIO);
	REFUSED(unregister_handle(o.file, handle, o.domain, o.qpn), EIO);
	bind_again(function);
	pass("requests fail after the device is gone");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "killed-creator", killed_creator },
	{ "killed-last", killed_last },
	{ "creator-alone", creator_alone },
	{ "wrong-numbers", wrong_numbers },
	{ "domain-stays", domain_stays },
	{ "domain-closes", domain_closes },
	{ "repeated", repeated },
	{ "events", events },
	{ "events-of-creator", events_of_creator },
	{ "forked", forked },
	{ "imported", imported },
	{ "executed", executed },
	{ "closed-events", closed_events },
	{ "bad-requests", bad_requests },
	{ "mismatches", mismatches },
	{ "racing", racing },
	{ "limited", limited },
	{ "two-contexts", two_contexts },
	{ "opener", opener },
	{ "closing", closing },
	{ "removed", removed },
};

int main(int argc, char **argv)
{
	size_t i;

	/* Peers get an end of file when the parent has exited. */
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc == 2 && !strcmp(argv[1], cases[i].name))
			cases[i].run();
	fail("usage: xrc_registration CASE");
}
