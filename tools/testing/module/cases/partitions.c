// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Partitions, which the switches enforce as well. Expected: a full and a limited member
 * communicate, two limited members do not. A connection ends with "retry exceeded" when the subnet
 * manager removes the partition, and a new one succeeds when the partition is back.
 */
#include "verbs_pair.h"

static struct end a, b;
static char guids[2][32];

static void partitions(const char *lines)
{
	FILE *file = NEED(fopen("/tmp/partitions.conf", "w"));

	fputs("Default=0x7fff,ipoib: ALL=full;\n", file);
	fputs(lines, file);
	fclose(file);
	shell("pkill -x opensm; for i in $(seq 50); do pgrep -x opensm > /dev/null || break; sleep 0.2; done; "
	      "opensm --daemon --part_enforce both --Pconfig /tmp/partitions.conf --log_file /tmp/opensm.log > /tmp/opensm.out 2>&1");
}

static int find(struct end *end, uint16_t key)
{
	__be16 found;
	int i;

	for (i = 0; i < 128; i++)
		if (!ibv_query_pkey(end->context, 1, i, &found) && be16toh(found) == key)
			return i;
	return -1;
}

static int await_key(struct end *end, uint16_t key, bool there)
{
	double limit = now() + PATIENCE;
	int index;

	while (((index = find(end, key)) >= 0) != there) {
		if (now() > limit)
			fail("P_Key 0x%04x is %s the table of %s after %d s", key, there ? "not in" : "still in",
			     ibv_get_device_name(end->context->device), PATIENCE);
		usleep(200000);
	}
	return index;
}

static enum ibv_wc_status try(int index_a, int index_b)
{
	struct ibv_qp_attr to_b, to_a;
	enum ibv_wc_status status;

	if (a.qp)
		MUST(ibv_destroy_qp(a.qp));
	if (b.qp)
		MUST(ibv_destroy_qp(b.qp));
	a.qp = make_qp(&a, IBV_QPT_RC);
	b.qp = make_qp(&b, IBV_QPT_RC);
	to_b = path_to(&a, &b);
	to_a = path_to(&b, &a);
	to_b.pkey_index = index_a;
	to_a.pkey_index = index_b;
	to_b.timeout = 12;
	to_b.retry_cnt = 3;
	MUST(connect_with(a.qp, to_b));
	MUST(connect_with(b.qp, to_a));
	status = transfer(&a, &b, IBV_WR_RDMA_WRITE, 0, PAGE);
	return status;
}

static void guid_of(struct end *end, char *text)
{
	sprintf(text, "0x%016lx", (unsigned long)be64toh(end->gid.global.interface_id));
}

static int full, limited;

/* The switch's ports get their tables some time after the HCAs, and drop packets until then. */
static void await_partitions(const char *lines)
{
	double limit = now() + PATIENCE;
	enum ibv_wc_status status;

	partitions(lines);
	full = await_key(&a, 0x8123, true);
	limited = await_key(&b, 0x0123, true);
	do
		status = try(full, limited);
	while (status == IBV_WC_RETRY_EXC_ERR && now() < limit);
	if (status)
		fail("full and limited member: %s", ibv_wc_status_str(status));
}

static void check_members(void)
{
	if (try(await_key(&a, 0x0456, true), await_key(&b, 0x0456, true)) != IBV_WC_RETRY_EXC_ERR)
		fail("two limited members can talk");
	if (try(full, find(&b, 0xffff)) != IBV_WC_RETRY_EXC_ERR)
		fail("members of different partitions can talk");
}

static void check_partition_goes_and_comes(const char *lines)
{
	enum ibv_wc_status status = try(full, limited);

	if (status)
		fail("before the partition goes: %s", ibv_wc_status_str(status));
	partitions("");
	await_key(&a, 0x8123, false);
	await_key(&b, 0x0123, false);
	status = transfer(&a, &b, IBV_WR_RDMA_WRITE, 0, PAGE);
	if (status != IBV_WC_RETRY_EXC_ERR)
		fail("a connection in a partition that has gone: %s", ibv_wc_status_str(status));
	await_partitions(lines);
}

int main(void)
{
	char lines[512];

	set_up(&a, 0, 1, PAGE, -1, IBV_QPT_RC);
	set_up(&b, 1, 1, PAGE, -1, IBV_QPT_RC);
	guid_of(&a, guids[0]);
	guid_of(&b, guids[1]);
	snprintf(lines, sizeof(lines), "One=0x0123,ipoib: %s=full, %s=limited;\nTwo=0x0456: %s=limited, %s=limited;\n",
		 guids[0], guids[1], guids[0], guids[1]);
	await_partitions(lines);
	check_members();
	check_partition_goes_and_comes(lines);
	partitions("");
	pass("partitions are kept");
}
