// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DEVX events and outputs through file descriptors, as described in mlx5dv_devx_subscribe_devx_event(3)
 * and related pages. Offsets are those of the device's interface.
 *
 *   devx_events CASE      a case of the list at the end of this file
 */
#include "verbs_pair.h"

#include <infiniband/mlx5dv.h>
#include <sys/eventfd.h>

#define CREATE_CQ	0x400
#define CREATE_QP	0x500
#define QUERY_QP	0x50b
#define RST2INIT_QP	0x502
#define INIT2RTR_QP	0x503
#define RTR2RTS_QP	0x504
#define TO_ERROR_QP	0x507
#define TO_RESET_QP	0x50a
#define CREATE_DCT	0x710
#define CREATE_RMP	0x90c

#define EVENT_COMP	0x00
#define EVENT_CMD	0x0a
#define EVENT_PORT	0x09
#define EVENT_ACCESS	0x11
#define EVENT_LAST_WQE	0x13
#define EVENT_DRAINED	0x1c

#define QUEUE_EVENTS	256 /* limit of cxib */
#define UMEM_BYTES	(16 * PAGE)
#define LIMIT_MS	(PATIENCE * 1000)

struct eqe {
	uint64_t cookie;
	uint8_t reserved0;
	uint8_t type;
	uint8_t reserved1[30];
	uint32_t data[7];
	uint32_t owner;
};

struct end_of_queue {
	struct ibv_context *context;
	struct mlx5dv_devx_umem *umem;
	struct mlx5dv_devx_uar *uar;
	char *memory;
	struct ibv_pd *pd;
	uint32_t pdn;
	struct mlx5dv_devx_obj *cq, *rmp;
	uint32_t cqn, rmpn;
	uint32_t consumed; /* CQEs */
};

struct queue_pair {
	struct mlx5dv_devx_obj *object;
	uint32_t number;
};

/* Pages of the umem. Only one QP at a time posts to the ring. */
enum { CQ_RING, CQ_RECORD, RMP_RING, RMP_RECORD, QP_RING, QP_RECORD };

#define CQES		64
#define BLOCKS		16

static void put(void *message, unsigned int word, uint32_t value)
{
	((uint32_t *)message)[word] |= htobe32(value);
}

static uint32_t get(const void *message, unsigned int word)
{
	return be32toh(((const uint32_t *)message)[word]);
}

/* The device may be removed at any time. */
static bool device_may_go;

static struct mlx5dv_devx_obj *create(struct end_of_queue *end, void *in, size_t length, uint32_t *number)
{
	uint32_t out[16] = {};
	struct mlx5dv_devx_obj *object = mlx5dv_devx_obj_create(end->context, in, length, out, sizeof(out));

	if (!object && !device_may_go)
		fail("command 0x%x: %s, syndrome 0x%x", get(in, 0) >> 16, strerror(errno), get(out, 1));
	*number = get(out, 2) & 0xffffff;
	return object;
}

static struct ibv_context *open_with_devx(int index)
{
	struct mlx5dv_context_attr attr = { .flags = MLX5DV_CONTEXT_FLAGS_DEVX };
	int count;
	struct ibv_device **list = NEED(ibv_get_device_list(&count));
	struct ibv_context *context;

	qsort(list, count, sizeof(*list), by_name);
	if (index >= count)
		fail("%d devices", count);
	context = NEED(mlx5dv_open_device(list[index], &attr));
	ibv_free_device_list(list);
	return context;
}

static void create_cq(struct end_of_queue *end)
{
	uint32_t in[0x110 / 4] = {}, eqn;

	MUST(mlx5dv_devx_query_eqn(end->context, 0, &eqn));
	put(in, 0, CREATE_CQ << 16);
	put(in, 4 + 1, end->umem->umem_id);
	put(in, 4 + 3, 6 << 24 | end->uar->page_id);
	put(in, 4 + 5, eqn);
	put(in, 4 + 15, CQ_RECORD * PAGE);
	put(in, 0x54 / 4, CQ_RING * PAGE);
	put(in, 0x58 / 4, end->umem->umem_id);
	end->cq = create(end, in, sizeof(in), &end->cqn);
}

static void create_rmp(struct end_of_queue *end)
{
	uint32_t in[0x110 / 4] = {}, *wq = in + 0x50 / 4;

	put(in, 0, CREATE_RMP << 16);
	put(in, 8, 1 << 20);
	put(wq, 2, end->pdn);
	put(wq, 5, RMP_RECORD * PAGE);
	put(wq, 8, 5 << 16 | 4);
	put(wq, 10, end->umem->umem_id);
	put(wq, 11, end->umem->umem_id);
	put(wq, 13, RMP_RING * PAGE);
	end->rmp = create(end, in, sizeof(in), &end->rmpn);
}

static void open_end(struct end_of_queue *end, int index)
{
	struct mlx5dv_pd pd = {};
	struct mlx5dv_obj object = {};

	end->context = open_with_devx(index);
	end->memory = NEED(mmap(NULL, UMEM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	memset(end->memory + CQ_RING * PAGE, 0xff, PAGE);
	end->umem = NEED(mlx5dv_devx_umem_reg(end->context, end->memory, UMEM_BYTES, IBV_ACCESS_LOCAL_WRITE));
	end->uar = NEED(mlx5dv_devx_alloc_uar(end->context, MLX5DV_UAR_ALLOC_TYPE_NC));
	end->pd = NEED(ibv_alloc_pd(end->context));
	object.pd.in = end->pd;
	object.pd.out = &pd;
	MUST(mlx5dv_init_obj(&object, MLX5DV_OBJ_PD));
	end->pdn = pd.pdn;
	create_cq(end);
	create_rmp(end);
}

/* Creates an RC QP whose receive queue is the RMP, with 16 WQEBBs to send. */
static struct queue_pair create_qp(struct end_of_queue *end)
{
	uint32_t in[0x110 / 4] = {}, *context = in + 6;
	struct queue_pair qp;

	put(in, 0, CREATE_QP << 16);
	put(context, 0, 3 << 11);
	put(context, 1, end->pdn);
	put(context, 2, 4 << 11);
	put(context, 3, end->uar->page_id);
	put(in, 37, end->cqn);
	put(in, 45, end->cqn);
	put(in, 47, QP_RECORD * PAGE);
	put(in, 49, 1 << 24 | end->rmpn);
	put(in, 58, 1 << 28);
	put(in, 63, end->umem->umem_id);
	put(in, 65, QP_RING * PAGE);
	put(in, 66, end->umem->umem_id);
	put(in, 67, 1u << 31);
	qp.object = create(end, in, sizeof(in), &qp.number);
	return qp;
}

static struct queue_pair create_dct(struct end_of_queue *end)
{
	uint32_t in[0x80 / 4] = {}, *context = in + 4;
	struct queue_pair dct;

	put(in, 0, CREATE_DCT << 16);
	put(context, 2, end->cqn);
	put(context, 4, 12 << 8);
	put(context, 5, end->rmpn);
	put(context, 6, end->pdn);
	put(context, 9, 0x1234);
	put(context, 10, 3 << 24 | 1 << 16);
	put(context, 11, 64);
	dct.object = create(end, in, sizeof(in), &dct.number);
	return dct;
}

static int modify(struct queue_pair *qp, uint32_t opcode)
{
	uint32_t in[0x110 / 4] = {}, out[4] = {};
	size_t length = opcode == RST2INIT_QP ? sizeof(in) : 16;

	put(in, 0, opcode << 16);
	put(in, 2, qp->number);
	if (opcode == RST2INIT_QP) {
		put(in, 6, 3 << 11);
		put(in, 21, 1 << 16);
		put(in, 42, 1 << 14); /* remote writes */
	}
	return mlx5dv_devx_obj_modify(qp->object, in, length, out, sizeof(out));
}

static int connect_to(struct queue_pair *qp, uint32_t peer, uint16_t lid)
{
	uint32_t in[0x110 / 4] = {}, out[4] = {}, *context = in + 6;

	if (modify(qp, RST2INIT_QP))
		return -1;
	put(in, 0, INIT2RTR_QP << 16);
	put(in, 2, qp->number);
	put(context, 0, 3 << 11);
	put(context, 2, 3 << 29 | 30 << 24);
	put(context, 5, peer);
	put(context, 7, lid);
	put(context, 15, 1 << 16);
	put(context, 37, 12 << 24);
	if (mlx5dv_devx_obj_modify(qp->object, in, sizeof(in), out, sizeof(out)))
		return -1;
	memset(in, 0, sizeof(in));
	put(in, 0, RTR2RTS_QP << 16);
	put(in, 2, qp->number);
	put(context, 8, 14u << 27);
	put(context, 28, 7 << 16 | 7 << 13);
	return mlx5dv_devx_obj_modify(qp->object, in, sizeof(in), out, sizeof(out));
}

/* Moves the QP to ERR: the RMP has no more WQEs for it. */
static void raise_last_wqe(struct queue_pair *qp)
{
	MUST(modify(qp, RST2INIT_QP));
	MUST(modify(qp, TO_ERROR_QP));
}

static struct mlx5dv_devx_event_channel *open_channel(struct end_of_queue *end, bool omit)
{
	return NEED(mlx5dv_devx_create_event_channel(end->context,
		omit ? MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA : 0));
}

static int subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *object, uint16_t type, uint64_t cookie)
{
	return mlx5dv_devx_subscribe_devx_event(channel, object, sizeof(type), &type, cookie);
}

static bool is_readable(int fd, int milliseconds)
{
	struct pollfd poll_fd = { fd, POLLIN, 0 };

	return poll(&poll_fd, 1, milliseconds) == 1;
}

static ssize_t read_event(struct mlx5dv_devx_event_channel *channel, struct eqe *event)
{
	return mlx5dv_devx_get_event(channel, (void *)event, sizeof(*event));
}

static void set_nonblocking(int fd)
{
	MUST(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK));
}

/* Expects no event within the time in which a wrong one would arrive. */
static void expect_silence(struct mlx5dv_devx_event_channel *channel, const char *of)
{
	struct eqe event;

	set_nonblocking(channel->fd);
	if (is_readable(channel->fd, 300) || read_event(channel, &event) != -1 || errno != EAGAIN)
		fail("%s: an event came", of);
}

static void expect_event(struct mlx5dv_devx_event_channel *channel, uint16_t type, uint64_t cookie, uint32_t number)
{
	struct eqe event = {};
	ssize_t length;

	if (!is_readable(channel->fd, LIMIT_MS))
		fail("no event came");
	length = read_event(channel, &event);
	if (length != sizeof(event))
		fail("read %zd bytes of an event: %s", length, strerror(errno));
	if (event.type != type || event.cookie != cookie)
		fail("event type 0x%x, cookie 0x%lx, not 0x%x, 0x%lx", event.type, event.cookie, type, cookie);
	if ((be32toh(event.data[6]) & 0xffffff) != number && type != EVENT_PORT && type != EVENT_DRAINED)
		fail("event about 0x%x, not 0x%x", be32toh(event.data[6]) & 0xffffff, number);
}

static void object_events(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp, other;
	struct mlx5dv_devx_event_channel *channel;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	qp = create_qp(&end);
	other = create_qp(&end);
	MUST(subscribe(channel, qp.object, EVENT_LAST_WQE, 0x1122334455667788));
	raise_last_wqe(&other);
	raise_last_wqe(&qp);
	expect_event(channel, EVENT_LAST_WQE, 0x1122334455667788, qp.number);
	expect_silence(channel, "a QP without subscription");
	MUST(mlx5dv_devx_obj_destroy(qp.object));
	MUST(modify(&other, TO_RESET_QP));
	raise_last_wqe(&other);
	expect_silence(channel, "a QP without subscription, the other one being destroyed");
	pass("events of objects");
}

/*
 * An event without data is queued once, however often it occurred, and can be read after its object
 * is destroyed.
 */
static void omitted_data(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp[2];
	struct mlx5dv_devx_event_channel *channel;
	uint64_t cookie = 0;
	int i;

	open_end(&end, 0);
	channel = open_channel(&end, true);
	for (i = 0; i < 2; i++) {
		qp[i] = create_qp(&end);
		MUST(subscribe(channel, qp[i].object, EVENT_LAST_WQE, 100 + i));
		raise_last_wqe(&qp[i]);
		if (!is_readable(channel->fd, LIMIT_MS))
			fail("no event came");
		MUST(modify(&qp[i], TO_RESET_QP));
		raise_last_wqe(&qp[i]);
	}
	usleep(300000);
	MUST(mlx5dv_devx_obj_destroy(qp[0].object));
	for (i = 0; i < 2; i++)
		if (mlx5dv_devx_get_event(channel, (void *)&cookie, sizeof(cookie)) != sizeof(cookie) ||
		    cookie != 100u + i)
			fail("event %d: cookie %lu: %s", i, cookie, strerror(errno));
	expect_silence(channel, "events that were read");
	mlx5dv_devx_destroy_event_channel(channel);
	pass("events without data");
}

static void arm(struct end_of_queue *end, unsigned int sequence)
{
	uint32_t *record = (uint32_t *)(end->memory + CQ_RECORD * PAGE);
	uint32_t command = htobe32(sequence << 28 | (end->consumed & 0xffffff));

	record[1] = command;
	__sync_synchronize();
	*(volatile uint64_t *)((char *)end->uar->base_addr + 0x20) = (uint64_t)htobe32(end->cqn) << 32 | command;
}

/* Posts a NOP, which the QP flushes. */
static void post(struct end_of_queue *end, struct queue_pair *qp, unsigned int index)
{
	uint32_t *wqe = (uint32_t *)(end->memory + QP_RING * PAGE + 64 * (index % BLOCKS));
	uint32_t *record = (uint32_t *)(end->memory + QP_RECORD * PAGE);

	memset(wqe, 0, 64);
	put(wqe, 0, (index & 0xffff) << 8);
	put(wqe, 1, qp->number << 8 | 1);
	put(wqe, 2, 2 << 2);
	__sync_synchronize();
	record[1] = htobe32((index + 1) & 0xffff);
	__sync_synchronize();
	*(volatile uint64_t *)end->uar->reg_addr = *(uint64_t *)wqe;
}

static int reset(struct end_of_queue *end, struct queue_pair *qp)
{
	memset(end->memory + QP_RECORD * PAGE, 0, 8);
	return modify(qp, TO_RESET_QP);
}

/* Posts a WRITE of four bytes with an rkey that the peer does not have. */
static void post_bad_write(struct end_of_queue *end, struct queue_pair *qp)
{
	uint32_t *wqe = (uint32_t *)(end->memory + QP_RING * PAGE);
	uint32_t *record = (uint32_t *)(end->memory + QP_RECORD * PAGE);

	memset(wqe, 0, 64);
	put(wqe, 0, 0x08);
	put(wqe, 1, qp->number << 8 | 3);
	put(wqe, 2, 2 << 2);
	put(wqe, 6, 0xdeadbe00);
	put(wqe, 8, 1u << 31 | 4);
	__sync_synchronize();
	record[1] = htobe32(1);
	__sync_synchronize();
	*(volatile uint64_t *)end->uar->reg_addr = *(uint64_t *)wqe;
}

static unsigned int take_cqes(struct end_of_queue *end)
{
	const uint8_t *ring = (uint8_t *)end->memory + CQ_RING * PAGE;
	uint32_t before = end->consumed;
	uint8_t owner;

	for (;; end->consumed++) {
		owner = *(volatile const uint8_t *)(ring + end->consumed % CQES * 64 + 63);
		if (owner >> 4 == 0xf || (owner & 1) != (end->consumed / CQES & 1))
			break;
	}
	*(volatile uint32_t *)(end->memory + CQ_RECORD * PAGE) = htobe32(end->consumed & 0xffffff);
	return end->consumed - before;
}

static uint16_t lid_of(struct ibv_context *context)
{
	struct ibv_port_attr attr;

	MUST(ibv_query_port(context, 1, &attr));
	return attr.lid;
}

/* A peer writes without access rights, and the QP goes to ERR. */
static void access_errors(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp, peer;
	struct mlx5dv_devx_event_channel *channel;
	uint16_t lid;
	int i;

	open_end(&end, 0);
	lid = lid_of(end.context);
	channel = open_channel(&end, false);
	qp = create_qp(&end);
	peer = create_qp(&end);
	MUST(subscribe(channel, qp.object, EVENT_ACCESS, 17));
	for (i = 0; i < 3; i++) {
		MUST(connect_to(&qp, peer.number, lid));
		MUST(connect_to(&peer, qp.number, lid));
		post_bad_write(&end, &peer);
		expect_event(channel, EVENT_ACCESS, 17, qp.number);
		MUST(reset(&end, &qp));
		MUST(reset(&end, &peer));
	}
	expect_silence(channel, "a QP that was reset");
	pass("access errors");
}

/*
 * A CQ to which a QP refers is not destroyed, and its events continue. Subscribers learn about
 * events lost in between.
 */
static void kept_objects(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	struct eqe event;
	uint64_t value;
	int signal = eventfd(0, 0);
	bool may_be_lost;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	qp = create_qp(&end);
	MUST(subscribe(channel, end.cq, EVENT_COMP, 7));
	MUST(mlx5dv_devx_subscribe_devx_event_fd(channel, signal, end.cq, EVENT_COMP));
	if (!mlx5dv_devx_obj_destroy(end.cq))
		fail("a CQ that a QP has is destroyed");
	may_be_lost = is_readable(channel->fd, 0);
	if (is_readable(signal, 0) != may_be_lost)
		fail("only the %s learns of lost events", may_be_lost ? "channel" : "eventfd");
	if (may_be_lost && (read_event(channel, &event) != -1 || errno != EOVERFLOW || read(signal, &value, sizeof(value)) == -1))
		fail("lost events: %s", strerror(errno));
	MUST(modify(&qp, RST2INIT_QP));
	MUST(modify(&qp, TO_ERROR_QP));
	arm(&end, 0);
	post(&end, &qp, 0);
	expect_event(channel, EVENT_COMP, 7, end.cqn);
	if (read(signal, &value, sizeof(value)) != sizeof(value) || value != 1)
		fail("eventfd: %lu: %s", value, strerror(errno));
	pass("events of kept objects, %s", may_be_lost ? "some of which may be lost" : "none of which is lost");
}

static void completion_events(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel, *omitting;
	uint64_t value = 0;
	int signal = eventfd(0, EFD_NONBLOCK);

	open_end(&end, 0);
	channel = open_channel(&end, false);
	omitting = open_channel(&end, true);
	qp = create_qp(&end);
	MUST(subscribe(channel, end.cq, EVENT_COMP, 7));
	MUST(subscribe(omitting, end.cq, EVENT_COMP, 8));
	MUST(mlx5dv_devx_subscribe_devx_event_fd(channel, signal, end.cq, EVENT_COMP));
	MUST(modify(&qp, RST2INIT_QP));
	MUST(modify(&qp, TO_ERROR_QP));
	arm(&end, 0);
	expect_silence(channel, "an empty CQ");
	post(&end, &qp, 0);
	expect_event(channel, EVENT_COMP, 7, end.cqn);
	if (mlx5dv_devx_get_event(omitting, (void *)&value, sizeof(value)) != sizeof(value) || value != 8)
		fail("cookie %lu: %s", value, strerror(errno));
	if (read(signal, &value, sizeof(value)) != sizeof(value) || value != 1)
		fail("eventfd: %lu: %s", value, strerror(errno));
	post(&end, &qp, 1);
	expect_silence(channel, "a CQ that was not armed");
	pass("completion events");
}

static void target_events(void)
{
	struct end_of_queue end = {};
	struct queue_pair dct;
	struct mlx5dv_devx_event_channel *channel;
	int i;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	for (i = 0; i < 3; i++) {
		dct = create_dct(&end);
		MUST(subscribe(channel, dct.object, EVENT_DRAINED, i));
		MUST(mlx5dv_devx_obj_destroy(dct.object));
		expect_event(channel, EVENT_DRAINED, i, dct.number);
	}
	pass("DCTs are drained and destroyed");
}

/* The test disturbs a port. */
static void device_events(void)
{
	struct end_of_queue end = {};
	struct mlx5dv_devx_event_channel *channel;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	MUST(subscribe(channel, NULL, EVENT_PORT, 5));
	printf("ready\n");
	fflush(stdout);
	expect_event(channel, EVENT_PORT, 5, 0);
	pass("events of ports");
}

static void expect_error(int result, int error, const char *what)
{
	/* libmlx5 returns the error number, or -1 and errno. */
	if (!result || (result != error && errno != error))
		fail("%s: %s, not %s", what, result ? strerror(errno) : "success", strerror(error));
}

static void wrong_requests(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	uint16_t types[17] = { [0 ... 16] = EVENT_LAST_WQE }, mixed[2] = { EVENT_LAST_WQE, EVENT_CMD };
	int other = open("/dev/null", O_RDONLY);
	struct eqe event;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	set_nonblocking(channel->fd);
	qp = create_qp(&end);
	expect_error(subscribe(channel, qp.object, EVENT_CMD, 0), EINVAL, "command events of an object");
	expect_error(subscribe(channel, qp.object, 0xffff, 0), EINVAL, "event type 0xffff");
	expect_error(subscribe(channel, NULL, EVENT_LAST_WQE, 0), EINVAL, "QP events of the device");
	expect_error(subscribe(channel, NULL, EVENT_CMD, 0), EINVAL, "command events of the device");
	expect_error(mlx5dv_devx_subscribe_devx_event(channel, qp.object, sizeof(types), types, 0), EINVAL, "17 types");
	expect_error(mlx5dv_devx_subscribe_devx_event(channel, qp.object, sizeof(mixed), mixed, 0), EINVAL, "a wrong type of two");
	expect_error(mlx5dv_devx_subscribe_devx_event_fd(channel, other, qp.object, EVENT_LAST_WQE), EINVAL, "no eventfd");
	expect_error(mlx5dv_devx_subscribe_devx_event_fd(channel, 9999, qp.object, EVENT_LAST_WQE), EBADF, "no file");
	raise_last_wqe(&qp);
	expect_silence(channel, "refused subscriptions");
	MUST(subscribe(channel, qp.object, EVENT_LAST_WQE, 1));
	MUST(modify(&qp, TO_RESET_QP));
	raise_last_wqe(&qp);
	if (!is_readable(channel->fd, LIMIT_MS))
		fail("no event came");
	if (mlx5dv_devx_get_event(channel, (void *)&event, sizeof(event) - 1) != -1 || errno != EINVAL)
		fail("a short buffer: %s", strerror(errno));
	expect_event(channel, EVENT_LAST_WQE, 1, qp.number);
	pass("wrong requests");
}

/* Unread events are kept, or their loss is reported as an error. */
static void flood(void)
{
	const int rounds = QUEUE_EVENTS + 50;
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	struct eqe event;
	int i, lost, count = 0;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	set_nonblocking(channel->fd);
	qp = create_qp(&end);
	MUST(subscribe(channel, qp.object, EVENT_LAST_WQE, 1));
	for (i = 0; i < rounds; i++) {
		raise_last_wqe(&qp);
		MUST(modify(&qp, TO_RESET_QP));
	}
	usleep(500000);
	lost = read_event(channel, &event) == -1;
	if (lost && errno != EOVERFLOW)
		fail("the first event: %s", strerror(errno));
	for (count = !lost; read_event(channel, &event) == sizeof(event); count++)
		;
	if (errno != EAGAIN || count != (lost ? QUEUE_EVENTS : rounds))
		fail("%d events of %d, %s: %s", count, rounds, lost ? "overflow" : "no overflow", strerror(errno));
	raise_last_wqe(&qp);
	expect_event(channel, EVENT_LAST_WQE, 1, qp.number);
	pass("%s", lost ? "the overflow is reported" : "all are kept");
}

/* Subscriptions to an object of another context, and to many objects. */
static void foreign_objects(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	struct ibv_context *own;
	int status;

	shell("chmod 666 /dev/infiniband/uverbs*");
	open_end(&end, 0);
	qp = create_qp(&end);
	if (!fork()) {
		MUST(setuid(65534));
		own = open_with_devx(0);
		channel = NEED(mlx5dv_devx_create_event_channel(own, 0));
		if (!subscribe(channel, qp.object, EVENT_LAST_WQE, 1))
			fail("subscription to an object of another context");
		printf("ready\n");
		fflush(stdout);
		expect_silence(channel, "an object of another context");
		_exit(0);
	}
	usleep(100000);
	raise_last_wqe(&qp);
	wait(&status);
	if (status)
		fail("the other process: status 0x%x", status);
	pass("objects of other contexts");
}

/* Subscribes until the kernel refuses a subscription or accepts all of them. */
static void many_subscriptions(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	struct eqe event;
	int i, taken = 0;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	set_nonblocking(channel->fd);
	qp = create_qp(&end);
	while (taken < 200 && !subscribe(channel, qp.object, EVENT_LAST_WQE, taken))
		taken++;
	if (taken < 16 || (taken < 200 && errno != ENOSPC))
		fail("%d subscriptions: %s", taken, strerror(errno));
	raise_last_wqe(&qp);
	usleep(300000);
	for (i = 0; i < taken; i++)
		if (read_event(channel, &event) != sizeof(event) || event.cookie != (uint64_t)i)
			fail("event %d of %d: %s", i, taken, strerror(errno));
	expect_silence(channel, "events that were read");
	pass("%d subscriptions", taken);
}

static void queries(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_cmd_comp *file;
	struct { uint64_t id; uint32_t out[68]; } answer;
	uint32_t in[4] = {};
	int i;

	open_end(&end, 0);
	qp = create_qp(&end);
	file = NEED(mlx5dv_devx_create_cmd_comp(end.context));
	put(in, 0, QUERY_QP << 16);
	put(in, 2, qp.number);
	for (i = 0; i < 3; i++)
		MUST(mlx5dv_devx_obj_query_async(qp.object, in, sizeof(in), sizeof(answer.out), 1000 + i, file));
	for (i = 0; i < 3; i++) {
		MUST(mlx5dv_devx_get_async_cmd_comp(file, (void *)&answer, sizeof(answer)));
		if (answer.id < 1000 || answer.id > 1002 || answer.out[0] || (get(answer.out, 7) & 0xffffff) != end.pdn)
			fail("output of %lu: 0x%x, PD 0x%x, not 0x%x", answer.id, answer.out[0], get(answer.out, 7), end.pdn);
	}
	in[2] = 0;
	put(in, 2, qp.number + 1);
	expect_error(mlx5dv_devx_obj_query_async(qp.object, in, sizeof(in), sizeof(answer.out), 1, file), EINVAL, "another QP");
	set_nonblocking(file->fd);
	if (is_readable(file->fd, 300) || read(file->fd, &answer, sizeof(answer)) != -1 || errno != EAGAIN)
		fail("a refused query has an output");
	in[2] = 0;
	put(in, 2, qp.number);
	for (i = 0; i < 20000; i++)
		if (mlx5dv_devx_obj_query_async(qp.object, in, sizeof(in), 60000, i, file))
			break;
	if (!i || i == 20000 || errno != EAGAIN)
		fail("%d unread outputs of 60000 bytes: %s", i, strerror(errno));
	mlx5dv_devx_destroy_cmd_comp(file);
	pass("outputs of queries, %d unread ones", i);
}

struct sleeper {
	int fd;
	const char *name;
};

static void *sleep_in_read(void *argument)
{
	const struct sleeper *sleeper = argument;
	char buffer[256];

	if (read(sleeper->fd, buffer, sizeof(buffer)) != -1 || errno != EIO)
		fail("%s: read: %s, not EIO", sleeper->name, strerror(errno));
	return NULL;
}

/* The test removes the device or kills the process. */
static void sleeping_readers(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channels[2];
	struct mlx5dv_devx_cmd_comp *file;
	struct sleeper sleepers[3];
	struct pollfd poll_fd = { .events = POLLIN | POLLRDHUP };
	pthread_t threads[3];
	int i;

	open_end(&end, 0);
	qp = create_qp(&end);
	file = NEED(mlx5dv_devx_create_cmd_comp(end.context));
	for (i = 0; i < 2; i++) {
		channels[i] = open_channel(&end, i);
		MUST(subscribe(channels[i], qp.object, EVENT_LAST_WQE, 1));
		sleepers[i] = (struct sleeper){ channels[i]->fd, i ? "omitting" : "with data" };
	}
	sleepers[2] = (struct sleeper){ file->fd, "outputs" };
	for (i = 0; i < 3; i++)
		MUST(pthread_create(&threads[i], NULL, sleep_in_read, &sleepers[i]));
	usleep(100000);
	printf("ready\n");
	fflush(stdout);
	poll_fd.fd = channels[0]->fd;
	MUST(poll(&poll_fd, 1, -1) != 1);
	for (i = 0; i < 3; i++)
		MUST(pthread_join(threads[i], NULL));
	if ((poll_fd.revents & (POLLIN | POLLRDHUP)) != (POLLIN | POLLRDHUP))
		fail("poll: 0x%x", poll_fd.revents);
	if (!subscribe(channels[0], qp.object, EVENT_LAST_WQE, 1))
		fail("subscription without a device");
	sleep_in_read(&sleepers[0]);
	mlx5dv_devx_destroy_event_channel(channels[0]);
	pass("readers wake");
}

/*
 * Threads subscribe to objects that other threads destroy, close files that receive events, and
 * read them, all at the same time. A parent may kill the process or remove the device.
 */
#define SUBSCRIBERS	4
#define OWNERS		2

static struct end_of_queue shared, faulty;
static volatile bool stop;

/*
 * A subscription needs only the handle. The copies stay valid after libmlx5 has freed the objects.
 */
static struct { uint64_t bytes[32]; } copies[OWNERS + 2];

static struct {
	unsigned long created, subscribed, refused, events, completions, accesses;
} did;

static struct mlx5dv_devx_obj *copy_of(unsigned int index)
{
	return (struct mlx5dv_devx_obj *)&copies[index];
}

static void publish(unsigned int index, const struct mlx5dv_devx_obj *object)
{
	memcpy(&copies[index], object, 16); /* context, handle */
}

static void count(unsigned long *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

/* Errors of a request whose object another thread has destroyed, or whose device is gone. */
static bool may_fail(int error)
{
	return error == ENOENT || error == EBUSY || error == EINVAL || error == ENOSPC || error == EIO || error == ENODEV;
}

static void try_subscribe(struct mlx5dv_devx_event_channel *channel, struct mlx5dv_devx_obj *object, uint16_t type, uint64_t cookie,
			  int signal)
{
	int result = signal < 0 ? subscribe(channel, object, type, cookie) :
				  mlx5dv_devx_subscribe_devx_event_fd(channel, signal, object, type);

	if (!result)
		return count(&did.subscribed);
	count(&did.refused);
	if (!may_fail(errno))
		fail("subscription: %s", strerror(errno));
}

static void read_events(struct mlx5dv_devx_event_channel *channel, bool omits, uint64_t cookie)
{
	union {
		uint64_t cookie;
		struct eqe event;
	} record;
	ssize_t length;

	for (;;) {
		length = mlx5dv_devx_get_event(channel, (void *)&record, sizeof(record));
		if (length < 0 && errno == EOVERFLOW)
			continue;
		if (length < 0)
			return;
		if (length != (ssize_t)(omits ? sizeof(record.cookie) : sizeof(record.event)))
			fail("a record of %zd bytes", length);
		if (record.cookie != cookie)
			fail("cookie 0x%lx, not 0x%lx", record.cookie, cookie);
		count(&did.events);
	}
}

static void *come_and_go(void *argument)
{
	static const uint16_t types[] = { EVENT_LAST_WQE, EVENT_COMP, EVENT_ACCESS, EVENT_DRAINED };
	const uint64_t self = (uintptr_t)argument + 1;
	struct mlx5dv_devx_event_channel *channel;
	unsigned int i, round, seed = self;
	int signal;

	for (round = 0; !stop; round++) {
		channel = mlx5dv_devx_create_event_channel(shared.context, round & 1);
		if (!channel) {
			if (!may_fail(errno))
				fail("event channel: %s", strerror(errno));
			continue;
		}
		set_nonblocking(channel->fd);
		signal = eventfd(0, EFD_NONBLOCK);
		try_subscribe(channel, NULL, EVENT_PORT, self << 32 | round, -1);
		for (i = 0; i < 8; i++)
			try_subscribe(channel, copy_of(rand_r(&seed) % (OWNERS + 2)), types[rand_r(&seed) % 4], self << 32 | round,
				      rand_r(&seed) % 4 ? -1 : signal);
		is_readable(channel->fd, rand_r(&seed) % 8);
		read_events(channel, round & 1, self << 32 | round);
		close(signal);
		mlx5dv_devx_destroy_event_channel(channel);
	}
	return argument;
}

/* A request in progress for the object prevents its destruction. */
static void destroy(struct mlx5dv_devx_obj *object)
{
	while (mlx5dv_devx_obj_destroy(object) && errno == EBUSY && !stop)
		usleep(100);
}

/* Creates and destroys QPs and DCTs that raise events. */
static void *own_objects(void *argument)
{
	const unsigned int index = (uintptr_t)argument;
	struct queue_pair qp;
	unsigned int round;

	for (round = 0; !stop; round++) {
		const bool is_dct = round % 8 == 7;

		qp = is_dct ? create_dct(&shared) : create_qp(&shared);
		if (!qp.object)
			break;
		publish(index, qp.object);
		count(&did.created);
		usleep(1000 * (round % 4));
		if (!is_dct && !modify(&qp, RST2INIT_QP))
			modify(&qp, TO_ERROR_QP);
		destroy(qp.object);
	}
	return argument;
}

/* Raises completion events of the shared CQ. */
static void *complete(void *argument)
{
	struct queue_pair *qp = argument;
	unsigned int round;
	int patience;

	if (modify(qp, RST2INIT_QP) || modify(qp, TO_ERROR_QP))
		return NULL;
	for (round = 0; !stop; round++) {
		arm(&shared, round & 3);
		post(&shared, qp, round);
		for (patience = 0; !stop && !take_cqes(&shared) && patience < 20000; patience++)
			usleep(500);
		count(&did.completions);
	}
	return NULL;
}

/* Two QPs of another context, one of which fails repeatedly. */
static struct {
	struct queue_pair qp, peer;
	struct mlx5dv_devx_event_channel *channel;
	uint16_t lid;
} failing;

static bool fail_once(void)
{
	struct eqe event;

	if (connect_to(&failing.qp, failing.peer.number, failing.lid) ||
	    connect_to(&failing.peer, failing.qp.number, failing.lid))
		return false;
	post_bad_write(&faulty, &failing.peer);
	while (!stop && !is_readable(failing.channel->fd, 100))
		;
	if (stop || read_event(failing.channel, &event) == -1)
		return false;
	if (event.type != EVENT_ACCESS || (be32toh(event.data[6]) & 0xffffff) != failing.qp.number)
		fail("event type 0x%x about 0x%x", event.type, be32toh(event.data[6]));
	count(&did.accesses);
	return true;
}

static void *fail_by_access(void *argument)
{
	while (!stop && fail_once()) {
		reset(&faulty, &failing.qp);
		reset(&faulty, &failing.peer);
		take_cqes(&faulty);
	}
	return argument;
}

static void prepare_failing(void)
{
	open_end(&faulty, 0);
	failing.qp = create_qp(&faulty);
	failing.peer = create_qp(&faulty);
	failing.channel = open_channel(&faulty, false);
	failing.lid = lid_of(faulty.context);
	set_nonblocking(failing.channel->fd);
	MUST(subscribe(failing.channel, failing.qp.object, EVENT_ACCESS, 1));
}

static void start_threads(pthread_t *threads, struct queue_pair *completing)
{
	unsigned int i, n = 0;

	for (i = 0; i < SUBSCRIBERS; i++)
		MUST(pthread_create(&threads[n++], NULL, come_and_go, (void *)(uintptr_t)i));
	for (i = 0; i < OWNERS; i++)
		MUST(pthread_create(&threads[n++], NULL, own_objects, (void *)(uintptr_t)i));
	MUST(pthread_create(&threads[n++], NULL, complete, completing));
	MUST(pthread_create(&threads[n++], NULL, fail_by_access, NULL));
}

static void storm(void)
{
	struct mlx5dv_devx_event_channel *channel;
	pthread_t threads[SUBSCRIBERS + OWNERS + 2];
	struct queue_pair lasting, completing;
	struct pollfd poll_fd = { .events = POLLRDHUP };
	unsigned int i;

	open_end(&shared, 0);
	prepare_failing();
	channel = open_channel(&shared, false);
	lasting = create_qp(&shared);
	completing = create_qp(&shared);
	for (i = 0; i < OWNERS; i++)
		publish(i, lasting.object);
	publish(OWNERS, shared.cq);
	publish(OWNERS + 1, lasting.object);
	device_may_go = true;
	start_threads(threads, &completing);
	printf("ready\n");
	fflush(stdout);
	poll_fd.fd = channel->fd;
	poll(&poll_fd, 1, 1000 * (getenv("CASE_SECONDS") ? duration() : 5));
	stop = true;
	for (i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		MUST(pthread_join(threads[i], NULL));
	if (!poll_fd.revents && !(did.created && did.subscribed && did.refused && did.events && did.completions && did.accesses))
		fail("%lu objects, %lu subscriptions, %lu refused, %lu events, %lu completions, %lu access errors", did.created,
		     did.subscribed, did.refused, did.events, did.completions, did.accesses);
	pass("%lu objects, %lu subscriptions, %lu refused, %lu events, %lu completions, %lu access errors", did.created,
	     did.subscribed, did.refused, did.events, did.completions, did.accesses);
}

/* A child shares the files of its parent. */
static void forks(void)
{
	struct end_of_queue end = {};
	struct queue_pair qp;
	struct mlx5dv_devx_event_channel *channel;
	int status, i;

	open_end(&end, 0);
	channel = open_channel(&end, false);
	qp = create_qp(&end);
	MUST(subscribe(channel, qp.object, EVENT_LAST_WQE, 1));
	for (i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child) {
			if (i == 1)
				close(channel->fd);
			if (i == 2)
				expect_event(channel, EVENT_LAST_WQE, 1, qp.number);
			_exit(0);
		}
		raise_last_wqe(&qp);
		if (waitpid(child, &status, 0) != child || status)
			fail("child %d: status 0x%x", i, status);
		if (i != 2)
			expect_event(channel, EVENT_LAST_WQE, 1, qp.number);
		MUST(modify(&qp, TO_RESET_QP));
	}
	expect_silence(channel, "events that were read");
	pass("children");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "objects", object_events },
	{ "omitted", omitted_data },
	{ "completions", completion_events },
	{ "targets", target_events },
	{ "ports", device_events },
	{ "wrong", wrong_requests },
	{ "flood", flood },
	{ "foreign", foreign_objects },
	{ "many", many_subscriptions },
	{ "queries", queries },
	{ "sleepers", sleeping_readers },
	{ "access", access_errors },
	{ "kept", kept_objects },
	{ "forks", forks },
	{ "storm", storm },
};

int main(int count, char **arguments)
{
	unsigned int i;

	for (i = 0; count == 2 && i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(arguments[1], cases[i].name))
			cases[i].run();
	fail("no such case");
}
