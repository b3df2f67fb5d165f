// SPDX-License-Identifier: GPL-2.0-only
/* The uverbs objects, methods and attributes of the driver: the list of them all. */
#include <rdma/uverbs_ioctl.h>

#include "user/devx.h"
#include "user/dm.h"
#include "user/user.h"

const struct uapi_definition cxib_user_definitions[] = {
	UAPI_DEF_CHAIN(cxib_uar_definitions),
	UAPI_DEF_CHAIN(cxib_cq_definitions),
	UAPI_DEF_CHAIN(cxib_devx_definitions),
	UAPI_DEF_CHAIN(cxib_devx_object_definitions),
	UAPI_DEF_CHAIN(cxib_devx_umem_definitions),
	UAPI_DEF_CHAIN(cxib_dm_definitions),
	UAPI_DEF_CHAIN(cxib_query_definitions),
	{},
};
