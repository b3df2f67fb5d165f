// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An unprivileged process cannot reach QP1. The Q_Key of QP1 is controlled, so the process's QP
 * must not have it, and a controlled Q_Key in a WR means that of the QP (IBA 10.2.5). The peer's
 * port counts each datagram as a violation. root's QP may have the Q_Key and gets a response, so
 * the datagrams are valid for QP1.
 */
#include "verbs_pair.h"

#define QP1_Q_KEY 0x80010000
#define PLAIN_Q_KEY 0x11111111
#define UNPRIVILEGED_ID 65534
#define MAD_LENGTH 256
#define GRH_LENGTH 40
#define RECEIVE_OFFSET 1024
#define PERFORMANCE_CLASS 4
#define METHOD_GET 1
#define METHOD_RESPONSE 0x81
#define CLASS_PORT_INFO 1

static int ready_with(struct end *end, uint32_t q_key)
{
	struct ibv_qp_attr attr = path_to(end, end);

	attr.qkey = q_key;
	return connect_with(end->qp, attr);
}

static void put_request(char *mad)
{
	memset(mad, 0, MAD_LENGTH);
	mad[0] = 1; /* base version */
	mad[1] = PERFORMANCE_CLASS;
	mad[2] = 1; /* class version */
	mad[3] = METHOD_GET;
	mad[15] = 1; /* transaction */
	mad[17] = CLASS_PORT_INFO;
}

static void send_to_qp1(struct end *end, uint16_t lid, uint32_t q_key)
{
	struct ibv_ah_attr attr = { .dlid = lid, .port_num = end->port };
	struct ibv_sge sge = { .addr = (uintptr_t)end->memory, .length = MAD_LENGTH, .lkey = end->mr->lkey };
	struct ibv_send_wr *bad, request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = NEED(ibv_create_ah(end->pd, &attr)), .remote_qpn = 1, .remote_qkey = q_key },
	};
	struct ibv_wc wc;

	put_request(end->memory);
	MUST(ibv_post_send(end->qp, &request, &bad));
	wc = await(end->cq);
	if (wc.status || wc.opcode != IBV_WC_SEND)
		fail("a datagram was not sent: %s", ibv_wc_status_str(wc.status));
	MUST(ibv_destroy_ah(request.wr.ud.ah));
}

static void expect_answer_for_root(uint16_t lid)
{
	struct end root = {};
	struct ibv_wc wc;

	set_up(&root, 0, 1, PAGE, -1, IBV_QPT_UD);
	MUST(ready_with(&root, QP1_Q_KEY));
	MUST(post_receive(&root, RECEIVE_OFFSET, GRH_LENGTH + MAD_LENGTH, 1));
	send_to_qp1(&root, lid, QP1_Q_KEY);
	wc = await(root.cq);
	if (wc.status || wc.opcode != IBV_WC_RECV ||
	    (unsigned char)root.memory[RECEIVE_OFFSET + GRH_LENGTH + 3] != METHOD_RESPONSE)
		fail("QP1 does not answer root: %s", ibv_wc_status_str(wc.status));
}

static uint32_t violations(struct ibv_context *context)
{
	struct ibv_port_attr attr;

	MUST(ibv_query_port(context, 1, &attr));
	return attr.qkey_viol_cntr;
}

static void expect_no_answer(struct end *end, struct ibv_context *peer, uint16_t lid)
{
	static const uint32_t q_keys[] = { QP1_Q_KEY, 0x80000000, QP1_Q_KEY & 0x7fffffff, PLAIN_Q_KEY };
	uint32_t before = violations(peer), sent = sizeof(q_keys) / sizeof(*q_keys), i;
	double end_of_patience = now() + PATIENCE;

	MUST(post_receive(end, RECEIVE_OFFSET, GRH_LENGTH + MAD_LENGTH, 1));
	for (i = 0; i < sent; i++)
		send_to_qp1(end, lid, q_keys[i]);
	while (violations(peer) - before < sent)
		if (now() > end_of_patience)
			fail("the peer counted %u of %u datagrams as violations", violations(peer) - before, sent);
	if (ibv_poll_cq(end->cq, 1, &(struct ibv_wc){}))
		fail("QP1 answers a program without privileges");
}

int main(void)
{
	struct end ordinary = {};
	struct ibv_context *peer = open_device(1);
	struct ibv_port_attr attr;
	int err;

	MUST(ibv_query_port(peer, 1, &attr));
	expect_answer_for_root(attr.lid);
	shell("chmod 666 /dev/infiniband/uverbs*");
	MUST(setgid(UNPRIVILEGED_ID));
	MUST(setuid(UNPRIVILEGED_ID));
	set_up(&ordinary, 0, 1, PAGE, -1, IBV_QPT_UD);
	err = ready_with(&ordinary, QP1_Q_KEY);
	if (err != EPERM)
		fail("a program without privileges gets the Q_Key of QP1: %s", strerror(err));
	MUST(ready_with(&ordinary, PLAIN_Q_KEY));
	expect_no_answer(&ordinary, peer, attr.lid);
	pass("QP1 takes nothing from a program without privileges");
}
