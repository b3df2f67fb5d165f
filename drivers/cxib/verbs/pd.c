// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains. */
#include "hw/objects.h"
#include "verbs/verbs.h"

int cxib_create_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);

	return cxib_alloc_pd(commands_of(verbs), &to_pd(ib)->number);
}

int cxib_destroy_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);

	return cxib_end_in_device(verbs, udata,
				  cxib_dealloc_pd(commands_of(verbs), to_pd(ib)->number));
}
