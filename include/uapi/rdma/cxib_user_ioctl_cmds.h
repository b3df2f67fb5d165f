/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * uverbs objects, methods and attributes of cxib beyond those of
 * mlx5_user_ioctl_cmds.h. rdma-core's libmlx5 does not use them.
 */
#ifndef CXIB_USER_IOCTL_CMDS_H
#define CXIB_USER_IOCTL_CMDS_H

#include <linux/types.h>

/**
 * enum cxib_objects - object types
 * @CXIB_OBJECT_XRC_REGISTRATION: registration of an XRC_TGT QP. The QP exists as long as it has a
 *	registration or a QP handle, and its asynchronous events are delivered to each of them. A
 *	context has at most one registration of a QP.
 */
enum cxib_objects {
	CXIB_OBJECT_XRC_REGISTRATION = 0x100b,
};

/**
 * enum cxib_xrc_registration_methods - methods of %CXIB_OBJECT_XRC_REGISTRATION
 * @CXIB_METHOD_XRC_REGISTRATION_FIND: return the handle of the context's registration of a QP.
 *	ENOENT: the context has no registration of the QP
 * @CXIB_METHOD_XRC_REGISTRATION_REGISTER: register a QP. EEXIST: the context has already registered
 *	the QP, whose events are delivered to the new file from now on; EINVAL: the XRC domain has
 *	no XRC_TGT QP of that number
 * @CXIB_METHOD_XRC_REGISTRATION_UNREGISTER: destroy a registration, and the QP with its last
 *	registration or handle. EINVAL: the registration is of another QP or XRC domain, and
 *	remains, or the handle is that of another object; ENOENT: there is no object with that
 *	handle, or the REGISTER that creates it has not returned; EBUSY: another UNREGISTER uses
 *	the registration
 *
 * FIND and REGISTER fail with EOPNOTSUPP if the kernel lacks functions that they need; then
 * UNREGISTER finds no registration (ENOENT). All methods fail with ENOENT if there is no XRC domain
 * with that handle, with EBUSY while the XRC domain is being closed, and with EIO if the device was
 * removed. A driver without these methods fails with EPROTONOSUPPORT.
 */
enum cxib_xrc_registration_methods {
	CXIB_METHOD_XRC_REGISTRATION_FIND = 0x1005,
	CXIB_METHOD_XRC_REGISTRATION_REGISTER = 0x1006,
	CXIB_METHOD_XRC_REGISTRATION_UNREGISTER = 0x1007,
};

/**
 * enum cxib_xrc_registration_attrs - attributes of these methods; all mandatory
 * @CXIB_ATTR_XRC_REGISTRATION_HANDLE: REGISTER, UNREGISTER: the registration
 * @CXIB_ATTR_XRC_REGISTRATION_DOMAIN: all: XRC domain of the QP, a handle of this context. The XRC
 *	domain cannot be closed while the registration exists
 * @CXIB_ATTR_XRC_REGISTRATION_QPN: all: __u32, number of the QP
 * @CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE: FIND: returned __u32, the registration
 * @CXIB_ATTR_XRC_REGISTRATION_EVENTS: REGISTER: file descriptor of asynchronous
 *	events of this context, to which events of the QP are delivered
 */
enum cxib_xrc_registration_attrs {
	CXIB_ATTR_XRC_REGISTRATION_HANDLE = 0x1010,
	CXIB_ATTR_XRC_REGISTRATION_DOMAIN = 0x1011,
	CXIB_ATTR_XRC_REGISTRATION_QPN = 0x1012,
	CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE = 0x1013,
	CXIB_ATTR_XRC_REGISTRATION_EVENTS = 0x1014,
};

/*
 * Set in event_type of struct ib_uverbs_async_event_desc if the event is about a registered QP.
 * Then element is the number of the QP, not a user handle.
 */
#define CXIB_XRC_QP_EVENT_FLAG 0x80000000U

#endif
