/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers XRC receive QPs with ioctls instead of a library; creates XRC objects with libibverbs.
 */
#ifndef CXIB_TESTING_XRC_REGISTRATION_H
#define CXIB_TESTING_XRC_REGISTRATION_H
#include "fork.h"
#include "verbs_pair.h"

#include <limits.h>
#include <rdma/cxib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>

#define ATTRS_MAX 8

/* A method of the driver with its attributes. */
struct method {
	struct ib_uverbs_ioctl_hdr header;
	struct ib_uverbs_attr attrs[ATTRS_MAX];
};

static struct method method(int number)
{
	return (struct method){
		.header = {
			.object_id = CXIB_OBJECT_XRC_REGISTRATION, .method_id = number,
			.driver_id = RDMA_DRIVER_MLX5,
		},
	};
}

static struct ib_uverbs_attr *add(struct method *method, int number, int length, uint64_t data)
{
	struct ib_uverbs_attr *attr = &method->attrs[method->header.num_attrs++];

	*attr = (struct ib_uverbs_attr){
		.attr_id = number, .len = length, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
	return attr;
}

/* Returns 0 or an error number. */
static int call(int file, struct method *method)
{
	method->header.length = sizeof(method->header) + method->header.num_attrs * sizeof(*method->attrs);
	return ioctl(file, RDMA_VERBS_IOCTL, &method->header) ? errno : 0;
}

static void add_domain_and_qpn(struct method *method, uint32_t domain, uint32_t qpn)
{
	add(method, CXIB_ATTR_XRC_REGISTRATION_DOMAIN, 0, domain);
	add(method, CXIB_ATTR_XRC_REGISTRATION_QPN, sizeof(qpn), qpn);
}

static int register_qp(int file, uint32_t domain, uint32_t qpn, int events)
{
	struct method request = method(CXIB_METHOD_XRC_REGISTRATION_REGISTER);

	add(&request, CXIB_ATTR_XRC_REGISTRATION_HANDLE, 0, 0);
	add_domain_and_qpn(&request, domain, qpn);
	add(&request, CXIB_ATTR_XRC_REGISTRATION_EVENTS, 0, events);
	return call(file, &request);
}

static int find_qp(int file, uint32_t domain, uint32_t qpn, uint32_t *handle)
{
	struct method request = method(CXIB_METHOD_XRC_REGISTRATION_FIND);

	add_domain_and_qpn(&request, domain, qpn);
	add(&request, CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE, sizeof(*handle), (uintptr_t)handle);
	return call(file, &request);
}

static int unregister_handle(int file, uint32_t handle, uint32_t domain, uint32_t qpn)
{
	struct method request = method(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER);

	add(&request, CXIB_ATTR_XRC_REGISTRATION_HANDLE, 0, handle);
	add_domain_and_qpn(&request, domain, qpn);
	return call(file, &request);
}

__attribute__((unused)) static int unregister_qp(int file, uint32_t domain, uint32_t qpn)
{
	uint32_t handle;
	int err = find_qp(file, domain, qpn, &handle);

	return err ?: unregister_handle(file, handle, domain, qpn);
}

/*
 * Returns the kernel's handle of a domain, which libibverbs stores after the public part (struct
 * verbs_xrcd).
 */
static uint32_t handle_of(struct ibv_xrcd *domain)
{
	const struct {
		struct ibv_xrcd xrcd;
		uint32_t comp_mask;
		uint32_t handle;
	} *private = (const void *)domain;

	return private->handle;
}

/* Finds the PCI function of a device in sysfs. */
__attribute__((unused)) static void find_function(struct ibv_context *context, char *function, size_t size)
{
	char path[PATH_MAX], link[PATH_MAX];

	snprintf(link, sizeof(link), "/sys/class/infiniband/%s/device", ibv_get_device_name(context->device));
	snprintf(function, size, "%s", strrchr(NEED(realpath(link, path)), '/') + 1);
}

/* Unbinds the device from its driver, and binds it again. */
__attribute__((unused)) static void unbind(const char *function)
{
	put_file("/sys/bus/pci/drivers/cxib/unbind", function);
}

__attribute__((unused)) static void bind_again(const char *function)
{
	put_file("/sys/bus/pci/drivers/cxib/bind", function);
}

__attribute__((unused)) static struct ibv_xrcd *open_domain(struct ibv_context *context, const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = O_CREAT,
	};
	struct ibv_xrcd *domain = NEED(ibv_open_xrcd(context, &attr));

	if (fd >= 0)
		close(fd);
	return domain;
}

static struct ibv_qp *create_receive_qp(struct ibv_context *context, struct ibv_xrcd *domain)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain,
	};

	return ibv_create_qp_ex(context, &init);
}

#endif
