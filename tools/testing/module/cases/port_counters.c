// SPDX-License-Identifier: GPL-2.0-or-later
/* Expected: traffic of port 2 counts only at port 2, in counters/ and hw_counters/. */
#include "verbs_pair.h"

#define TRANSFERS 200

static const char *const names[] = { "hw_counters/rx_write_requests", "hw_counters/rx_read_requests",
				     "counters/port_rcv_data", "counters/port_rcv_packets" };

#define COUNTERS (int)(sizeof(names) / sizeof(*names))

static long counter(const struct end *end, int port, const char *name)
{
	char path[256], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/%s",
		 ibv_get_device_name(end->context->device), port, name);
	usleep(50000); /* the kernel reads hardware counters at most every 10 ms */
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		fail("cannot read %s: %s", path, strerror(errno));
	close(fd);
	return atol(text);
}

static void read_all(const struct end *end, long values[COUNTERS][2])
{
	int i, port;

	for (i = 0; i < COUNTERS; i++)
		for (port = 1; port <= 2; port++)
			values[i][port - 1] = counter(end, port, names[i]);
}

static void use_port_2(struct end *a, struct end *b)
{
	const uint32_t length = 64 << 10;
	int i;

	set_up(a, 0, 2, length, -1, IBV_QPT_RC);
	set_up(b, 1, 2, length, -1, IBV_QPT_RC);
	join(a, b);
	for (i = 0; i < TRANSFERS; i++)
		if (transfer(a, b, i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, length))
			fail("a transfer over port 2 fails");
}

int main(void)
{
	struct end a = {}, b = { .context = open_device(1) };
	long before[COUNTERS][2], after[COUNTERS][2];
	int i, wrong = 0;

	read_all(&b, before);
	use_port_2(&a, &b);
	read_all(&b, after);
	for (i = 0; i < COUNTERS; i++) {
		long first = after[i][0] - before[i][0], second = after[i][1] - before[i][1];

		printf("%s: port 1 %ld, port 2 %ld\n", names[i], first, second);
		/* MADs may arrive at the same time. */
		wrong += second < TRANSFERS / 2 || first > second / 10;
	}
	if (wrong)
		fail("%d of %d counters do not belong to the port that had the traffic", wrong, COUNTERS);
	pass("the traffic of port 2 counts at port 2");
}
