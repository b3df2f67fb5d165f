// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the time to create a QP when there are few and many QPs, and the rate of memory
 * registrations.
 *
 * usage: objects DEVICE
 *
 * Prints one line of JSON:
 *   {"create_us": {"100": T, "1000": T, "10000": T}, "registrations": {"4096": N, ...}}
 * Each T is the median time of the last 101 creations up to that number of QPs. Each N is the
 * number of registrations per second of so many bytes, computed from the median time of a
 * registration with its deregistration.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	WINDOW = 101, /* the median of so many creations is reported */
	OBJECTS_MAX = 10000,
	ROUNDS_MIN = 5,
	ROUNDS_MAX = 1001,
};

static const size_t lengths[] = {4ul << 10, 64ul << 10, 1ul << 20, 16ul << 20, 256ul << 20, 1ul << 30};
static const unsigned int marks[] = {100, 1000, OBJECTS_MAX};

static void fail(const char *what)
{
	fprintf(stderr, "objects: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static int compare(const void *one, const void *other)
{
	return *(const double *)one < *(const double *)other ? -1 : *(const double *)one > *(const double *)other;
}

static double median_up_to(const double *times, unsigned int count)
{
	double window[WINDOW];
	unsigned int first = count > WINDOW ? count - WINDOW : 0;

	memcpy(window, times + first, (count - first) * sizeof(*times));
	qsort(window, count - first, sizeof(*window), compare);
	return window[(count - first) / 2];
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	unsigned int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			return ibv_open_device(list[i]);
	errno = ENODEV;
	return NULL;
}

static void measure_queue_pairs(struct ibv_context *context, struct ibv_pd *domain)
{
	struct ibv_cq *completions = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = completions,
		.recv_cq = completions,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	static struct ibv_qp *queue_pairs[OBJECTS_MAX];
	static double times[OBJECTS_MAX];
	unsigned int i;

	if (!completions)
		fail("no completion queue");
	for (i = 0; i < OBJECTS_MAX; i++) {
		double begin = microseconds();

		queue_pairs[i] = ibv_create_qp(domain, &init);
		times[i] = microseconds() - begin;
		if (!queue_pairs[i])
			fail("no queue pair");
	}
	printf("{\"create_us\": {");
	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		printf("%s\"%u\": %.1f", i ? ", " : "", marks[i], median_up_to(times, marks[i]));
	for (i = 0; i < OBJECTS_MAX; i++)
		if (ibv_destroy_qp(queue_pairs[i]))
			fail("a queue pair cannot be destroyed");
	if (ibv_destroy_cq(completions))
		fail("a completion queue cannot be destroyed");
}

static double registrations_a_second(struct ibv_pd *domain, void *memory, size_t length)
{
	const double enough = 2e6;
	static double times[ROUNDS_MAX];
	double first = microseconds();
	unsigned int rounds;

	for (rounds = 0; rounds < ROUNDS_MIN || (rounds < ROUNDS_MAX && microseconds() - first < enough); rounds++) {
		double begin = microseconds();
		struct ibv_mr *region = ibv_reg_mr(domain, memory, length, IBV_ACCESS_LOCAL_WRITE);

		if (!region || ibv_dereg_mr(region))
			fail("memory cannot be registered");
		times[rounds] = microseconds() - begin;
	}
	qsort(times, rounds, sizeof(*times), compare);
	return 1e6 / times[rounds / 2];
}

static void measure_registrations(struct ibv_pd *domain)
{
	size_t max = lengths[sizeof(lengths) / sizeof(*lengths) - 1];
	void *memory = mmap(NULL, max, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	unsigned int i;

	if (memory == MAP_FAILED)
		fail("no memory");
	printf("}, \"registrations\": {");
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		printf("%s\"%zu\": %.1f", i ? ", " : "", lengths[i], registrations_a_second(domain, memory, lengths[i]));
	printf("}}\n");
}

int main(int count, char **arguments)
{
	struct ibv_context *context = count == 2 ? open_device(arguments[1]) : NULL;
	struct ibv_pd *domain = context ? ibv_alloc_pd(context) : NULL;

	if (!domain)
		fail("no device");
	measure_queue_pairs(context, domain);
	measure_registrations(domain);
	return 0;
}
