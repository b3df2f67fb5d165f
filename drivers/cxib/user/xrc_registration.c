// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registrations of XRC_TGT QPs: each keeps its QP, and delivers the events of the QP to the file of
 * asynchronous events of its context. A registration ends with its context at the latest.
 *
 * Lock order: the RDMA core's hw_destroy_rwsem, registrations_lock, tgt_qps_rwsem,
 * qp_open_list_lock, the lock of the file's event queue.
 */
#include <linux/slab.h>
#include <rdma/cxib_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "user/uobject.h"
#include "user/user.h"
#include "verbs/xrc/opener.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct cxib_xrc_registration - registration of an XRC_TGT QP by a context
 * @opener: QP handle
 * @domain: uobject of the XRC domain, pinned so that it is destroyed after all its QPs
 * @events: uobject of the file of asynchronous events, with a reference because @opener uses its
 *	handler; protected by registrations_lock until the registration is destroyed
 * @handle: number of the registration's uobject
 */
struct cxib_xrc_registration {
	struct cxib_xrc_opener opener;
	struct ib_uobject *domain;
	struct ib_uobject *events;
	u32 handle;
};

/*
 * Handles of a context that refer to the same file have the same XRC domain, so the domains are
 * compared.
 */
static bool xrcreg_is_in_domain(const struct cxib_xrc_registration *registration,
				const struct ib_uobject *domain)
{
	return registration->domain->object == domain->object;
}

/*
 * Processes that share a context by ibv_import_device() have different files of events, and the one
 * of the process that has registered the QP may be closed.
 */
static int xrcreg_repeat_registration(struct cxib_xrc_registration *existing,
				      const struct cxib_xrc_registration *repeated)
{
	if (!xrcreg_is_in_domain(existing, repeated->domain))
		return -EINVAL;
	if (existing->events == repeated->events)
		return -EEXIST;
	cxib_xrc_set_events(&existing->opener, repeated->opener.events);
	uverbs_uobject_get(repeated->events);
	uverbs_uobject_put(existing->events);
	existing->events = repeated->events;
	return -EEXIST;
}

/*
 * Inserts the registration before it opens the QP: if the insertion failed later, the function
 * would have to destroy the handle, which needs the lock again.
 */
static int xrcreg_open_registration(struct cxib_ucontext *context,
				    struct cxib_xrc_registration *registration)
{
	const u32 qpn = registration->opener.qpn;
	struct cxib_xrc_registration *existing;
	int err;

	guard(mutex)(&context->registrations_lock);
	existing = xa_load(&context->registrations, qpn);
	if (existing)
		return xrcreg_repeat_registration(existing, registration);
	err = xa_insert(&context->registrations, qpn, registration, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	err = cxib_xrc_open(&registration->opener, registration->domain->object);
	if (err)
		xa_erase(&context->registrations, qpn);
	return err;
}

static int xrcreg_register_qp(struct ib_uobject *uobject, struct ib_uobject *domain,
			      struct ib_uobject *events, u32 qpn)
{
	struct ib_event_handler *handler = cxib_async_event_handler(events);
	struct cxib_xrc_registration *registration;
	int err;

	if (!handler)
		return -EOPNOTSUPP;
	registration = kzalloc(sizeof(*registration), GFP_KERNEL_ACCOUNT);
	if (!registration)
		return -ENOMEM;
	*registration = (struct cxib_xrc_registration){
		.opener = { .qpn = qpn, .events = handler },
		.domain = domain,
		.events = events,
		.handle = uobject->id,
	};
	err = xrcreg_open_registration(to_ucontext(uobject->context), registration);
	if (err) {
		ibdev_dbg(uobject->context->device, "QP 0x%x: not registered: %pe\n", qpn,
			  ERR_PTR(err));
		kfree(registration);
		return err;
	}
	cxib_uobject_pin(domain);
	uverbs_uobject_get(events);
	uobject->object = registration;
	return 0;
}

static int UVERBS_HANDLER(CXIB_METHOD_XRC_REGISTRATION_REGISTER)(struct uverbs_attr_bundle *attrs)
{
	u32 qpn;
	int err;

	if (!cxib_has_uobject_fields())
		return -EOPNOTSUPP;
	err = uverbs_copy_from(&qpn, attrs, CXIB_ATTR_XRC_REGISTRATION_QPN);
	if (err)
		return err;
	err = xrcreg_register_qp(uverbs_attr_get_uobject(attrs, CXIB_ATTR_XRC_REGISTRATION_HANDLE),
				 uverbs_attr_get_uobject(attrs, CXIB_ATTR_XRC_REGISTRATION_DOMAIN),
				 uverbs_attr_get_uobject(attrs, CXIB_ATTR_XRC_REGISTRATION_EVENTS),
				 qpn);
	if (err)
		return err;
	uverbs_finalize_uobj_create(attrs, CXIB_ATTR_XRC_REGISTRATION_HANDLE);
	return 0;
}

static int UVERBS_HANDLER(CXIB_METHOD_XRC_REGISTRATION_FIND)(struct uverbs_attr_bundle *attrs)
{
	const struct ib_uobject *domain =
		uverbs_attr_get_uobject(attrs, CXIB_ATTR_XRC_REGISTRATION_DOMAIN);
	struct cxib_ucontext *context = to_ucontext(domain->context);
	const struct cxib_xrc_registration *registration;
	u32 handle, qpn;
	int err;

	if (!cxib_has_uobject_fields())
		return -EOPNOTSUPP;
	err = uverbs_copy_from(&qpn, attrs, CXIB_ATTR_XRC_REGISTRATION_QPN);
	if (err)
		return err;
	scoped_guard(mutex, &context->registrations_lock) {
		registration = xa_load(&context->registrations, qpn);
		if (!registration || !xrcreg_is_in_domain(registration, domain))
			return -ENOENT;
		handle = registration->handle;
	}
	return uverbs_copy_to(attrs, CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE, &handle,
			      sizeof(handle));
}

/* A handle that FIND has returned may be the handle of another registration by now. */
static int xrcreg_check_unregister(const struct cxib_xrc_registration *registration,
				   struct uverbs_attr_bundle *attrs)
{
	u32 qpn;
	int err = uverbs_copy_from(&qpn, attrs, CXIB_ATTR_XRC_REGISTRATION_QPN);

	if (err)
		return err;
	if (qpn != registration->opener.qpn ||
	    !xrcreg_is_in_domain(registration,
				 uverbs_attr_get_uobject(attrs, CXIB_ATTR_XRC_REGISTRATION_DOMAIN)))
		return -EINVAL;
	return 0;
}

static int xrcreg_destroy_registration(struct ib_uobject *uobject, enum rdma_remove_reason why,
				       struct uverbs_attr_bundle *attrs)
{
	struct cxib_ucontext *context = to_ucontext(uobject->context);
	struct cxib_xrc_registration *registration = uobject->object;
	int err = why == RDMA_REMOVE_DESTROY ? xrcreg_check_unregister(registration, attrs) : 0;

	if (err)
		return err;
	scoped_guard(mutex, &context->registrations_lock)
		xa_erase(&context->registrations, registration->opener.qpn);
	cxib_xrc_close(&registration->opener);
	uverbs_uobject_put(registration->events);
	cxib_uobject_unpin(registration->domain);
	kfree(registration);
	return 0;
}

/*
 * The RDMA core has already called xrcreg_destroy_registration(). This empty method exists because
 * the macro of the RDMA core for methods that only destroy takes no attributes except the handle.
 */
static int UVERBS_HANDLER(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

#define DOMAIN_ATTR	UVERBS_ATTR_IDR(CXIB_ATTR_XRC_REGISTRATION_DOMAIN, UVERBS_OBJECT_XRCD, \
					UVERBS_ACCESS_READ, UA_MANDATORY)
#define QPN_ATTR	UVERBS_ATTR_PTR_IN(CXIB_ATTR_XRC_REGISTRATION_QPN, \
					   UVERBS_ATTR_TYPE(u32), UA_MANDATORY)

DECLARE_UVERBS_NAMED_METHOD(CXIB_METHOD_XRC_REGISTRATION_FIND,
			    DOMAIN_ATTR, QPN_ATTR,
			    UVERBS_ATTR_PTR_OUT(CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(CXIB_METHOD_XRC_REGISTRATION_REGISTER,
			    UVERBS_ATTR_IDR(CXIB_ATTR_XRC_REGISTRATION_HANDLE,
					    CXIB_OBJECT_XRC_REGISTRATION, UVERBS_ACCESS_NEW,
					    UA_MANDATORY),
			    DOMAIN_ATTR, QPN_ATTR,
			    UVERBS_ATTR_FD(CXIB_ATTR_XRC_REGISTRATION_EVENTS,
					   UVERBS_OBJECT_ASYNC_EVENT, UVERBS_ACCESS_READ,
					   UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER,
			    UVERBS_ATTR_IDR(CXIB_ATTR_XRC_REGISTRATION_HANDLE,
					    CXIB_OBJECT_XRC_REGISTRATION, UVERBS_ACCESS_DESTROY,
					    UA_MANDATORY),
			    DOMAIN_ATTR, QPN_ATTR);

DECLARE_UVERBS_NAMED_OBJECT(CXIB_OBJECT_XRC_REGISTRATION,
			    UVERBS_TYPE_ALLOC_IDR(xrcreg_destroy_registration),
			    &UVERBS_METHOD(CXIB_METHOD_XRC_REGISTRATION_FIND),
			    &UVERBS_METHOD(CXIB_METHOD_XRC_REGISTRATION_REGISTER),
			    &UVERBS_METHOD(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER));

const struct uapi_definition cxib_xrc_registration_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(CXIB_OBJECT_XRC_REGISTRATION),
	{},
};
