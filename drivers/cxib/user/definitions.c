// SPDX-License-Identifier: GPL-2.0-only
/* The list of all uverbs objects, methods and attributes of the driver. */
#include <rdma/cxib_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "user/devx.h"
#include "user/dm.h"
#include "user/user.h"

/*
 * The RDMA core reserves a fixed number of object ids for drivers. On a kernel that reserves fewer,
 * an id beyond that number would disable uverbs for the whole device.
 */
#define HAS_ID(object)	(((object) & ~UVERBS_API_NS_FLAG) < UVERBS_API_OBJ_KEY_NUM_DRIVER)

const struct uapi_definition cxib_user_definitions[] = {
	UAPI_DEF_CHAIN(cxib_uar_definitions),
	UAPI_DEF_CHAIN(cxib_cq_definitions),
	UAPI_DEF_CHAIN(cxib_devx_definitions),
	UAPI_DEF_CHAIN(cxib_devx_object_definitions),
	UAPI_DEF_CHAIN(cxib_devx_event_definitions),
	UAPI_DEF_CHAIN(cxib_devx_output_definitions),
	UAPI_DEF_CHAIN(cxib_devx_umem_definitions),
	UAPI_DEF_CHAIN(cxib_dm_definitions),
	UAPI_DEF_CHAIN(cxib_query_definitions),
	UAPI_DEF_CHAIN(HAS_ID(CXIB_OBJECT_XRC_REGISTRATION) ?
		       cxib_xrc_registration_definitions : NULL),
	{},
};
