// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel accepts the access flags IBV_ACCESS_HUGETLB and IBV_ACCESS_ZERO_BASED for every MR.
 * Expected: an RDMA WRITE to the MR succeeds, whichever flags it was registered or reregistered
 * with.
 */
#include "verbs_pair.h"

#define LENGTH (4UL << 20)

static const struct kind {
	const char *name;
	unsigned int flags;
	bool huge;
} kinds[] = {
	{ "HUGETLB on huge pages", IBV_ACCESS_HUGETLB, true },
	{ "HUGETLB on other pages", IBV_ACCESS_HUGETLB, false },
	{ "ZERO_BASED", IBV_ACCESS_ZERO_BASED, false },
	{ "ZERO_BASED and MW_BIND", IBV_ACCESS_ZERO_BASED | IBV_ACCESS_MW_BIND, false },
	{ "ON_DEMAND and ZERO_BASED", IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED, false },
	{ "all optional ones", 0x3ff00000, false },
};

static char *map(const struct kind *kind)
{
	char *memory = NEED(mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | (kind->huge ? MAP_HUGETLB : 0), -1, 0));

	memset(memory, 0, LENGTH);
	return memory;
}

static bool takes_write(struct end *a, char *memory, const struct ibv_mr *mr, const struct kind *kind)
{
	enum ibv_wc_status status;

	memset(a->memory, 0x50 + (kind - kinds), LENGTH);
	memset(memory, 0, LENGTH);
	MUST(post_rdma(a->qp, IBV_WR_RDMA_WRITE, (uintptr_t)a->memory, a->mr->lkey, LENGTH, (uintptr_t)memory, mr->rkey, 1));
	status = await(a->cq).status;
	if (!status && !memcmp(a->memory, memory, LENGTH))
		return true;
	printf("%s: status %d, or wrong data\n", kind->name, status);
	return false;
}

static bool try_flags(struct end *a, struct end *b, const struct kind *kind)
{
	char *memory = map(kind);
	struct ibv_mr *mr = ibv_reg_mr(b->pd, memory, LENGTH, ALL_ACCESS | kind->flags);
	bool good;

	if (!mr) {
		printf("%s: ibv_reg_mr: %s\n", kind->name, strerror(errno));
		return false;
	}
	good = takes_write(a, memory, mr, kind);
	MUST(ibv_dereg_mr(mr));
	if (!good)
		return false;
	mr = NEED(ibv_reg_mr(b->pd, memory, LENGTH, ALL_ACCESS));
	if (ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL_ACCESS | kind->flags)) {
		printf("%s: ibv_rereg_mr: %s\n", kind->name, strerror(errno));
		return false;
	}
	good = takes_write(a, memory, mr, kind);
	MUST(ibv_dereg_mr(mr));
	return good;
}

int main(void)
{
	const int count = sizeof(kinds) / sizeof(*kinds);
	struct end a = {}, b = {};
	int i, wrong = 0;

	put_file("/proc/sys/vm/nr_hugepages", "16");
	make_pair(&a, &b, LENGTH);
	for (i = 0; i < count; i++)
		wrong += !try_flags(&a, &b, &kinds[i]);
	if (wrong)
		fail("%d of %d sets of flags do not work", wrong, count);
	pass("regions with each set of flags take an RDMA write");
}
