// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers much more memory than a few thousand translations can cover. The same 2 MiB of separate
 * pages fill the address range, so each page needs a translation. Expected: an RDMA WRITE reaches the
 * first and the last page.
 *
 * large_regions GIB [on-demand]
 */
#include "verbs_pair.h"

#define PIECE (2UL << 20)

/* Allocates pages that are not contiguous: every other page that the kernel returns. */
static int scattered(void)
{
	int fd = memfd_create("used", 0);
	int other = memfd_create("between", 0);
	char *a, *b;
	size_t i;

	MUST(ftruncate(fd, PIECE));
	MUST(ftruncate(other, PIECE));
	a = NEED(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
	b = NEED(mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0));
	for (i = 0; i < PIECE; i += PAGE) {
		a[i] = 1;
		b[i] = 1;
	}
	return fd;
}

static char *addresses(size_t length, int fd)
{
	char *memory = NEED(mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
	size_t i;

	madvise(memory, length, MADV_NOHUGEPAGE);
	for (i = 0; fd >= 0 && i < length; i += PIECE)
		NEED(mmap(memory + i, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0));
	return memory;
}

static void check_page(struct end *a, const struct ibv_mr *mr, char *page, int value)
{
	memset(a->memory, value, PAGE);
	MUST(post_rdma(a->qp, IBV_WR_RDMA_WRITE, (uintptr_t)a->memory, a->mr->lkey, PAGE, (uintptr_t)page, mr->rkey, 1));
	if (await(a->cq).status || memcmp(page, a->memory, PAGE))
		fail("a write to page %p fails or is wrong", page);
}

int main(int count, char **words)
{
	bool on_demand = count > 2;
	size_t length = (count > 1 ? strtoul(words[1], NULL, 0) : 0) << 30;
	struct end a = {}, b = {};
	double start;
	struct ibv_mr *mr;
	char *memory;

	make_pair(&a, &b, 1 << 20);
	memory = addresses(length, on_demand ? -1 : scattered());
	start = now();
	errno = 0;
	mr = ibv_reg_mr(b.pd, memory, length, ALL_ACCESS | (on_demand ? IBV_ACCESS_ON_DEMAND : 0));
	if (!mr)
		fail("%zu bytes%s: %s", length, on_demand ? " on demand" : "", strerror(errno));
	printf("registered after %.1f s\n", now() - start);
	check_page(&a, mr, memory, 0x41);
	check_page(&a, mr, memory + length / 2, 0x42);
	check_page(&a, mr, memory + length - PAGE, 0x43);
	start = now();
	MUST(ibv_dereg_mr(mr));
	printf("ended after %.1f s\n", now() - start);
	pass("the region works");
}
