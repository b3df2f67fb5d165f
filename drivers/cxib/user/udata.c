// SPDX-License-Identifier: GPL-2.0-only
/* Driver-specific requests and responses of verbs (udata). */
#include <rdma/uverbs_ioctl.h>

#include "user/user.h"

/**
 * cxib_copy_req() - copies the driver's part of a request from user space
 * @udata: udata of the verb
 * @request: output; fields beyond the length of the user's request are 0
 * @size: size of @request, bytes
 * @min: length of the shortest request of any libmlx5 version, bytes
 *
 * Return: 0, or
 *	-EINVAL when the request is shorter than @min,
 *	-EOPNOTSUPP when bytes beyond @size are not 0,
 *	-EFAULT when the request cannot be read.
 */
int cxib_copy_req(struct ib_udata *udata, void *request, size_t size, size_t min)
{
	memset(request, 0, size);
	if (udata->inlen < min)
		return -EINVAL;
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return -EOPNOTSUPP;
	return ib_copy_from_udata(request, udata, min(size, udata->inlen));
}

/**
 * cxib_copy_resp() - copies the driver's part of a response to user space
 * @udata: udata of the verb
 * @response: response
 * @size: size of @response, bytes; truncated to the length that the user has passed
 *
 * Return: 0, or -EFAULT when the response cannot be written.
 */
int cxib_copy_resp(struct ib_udata *udata, const void *response, size_t size)
{
	size = min(size, udata->outlen);
	return size ? ib_copy_to_udata(udata, (void *)response, size) : 0;
}

/**
 * cxib_refuse_attributes() - refuses attributes of the RDMA core that the driver does not implement
 * @ib: RDMA device
 * @verb: name of the verb, for the message
 * @attrs: attributes of the request
 * @ids: attributes that the driver would ignore
 * @count: number of @ids
 *
 * Return: 0; -EOPNOTSUPP when the request has one of them.
 */
int cxib_refuse_attributes(struct ib_device *ib, const char *verb,
			   const struct uverbs_attr_bundle *attrs, const u16 *ids, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!uverbs_attr_is_valid(attrs, ids[i]))
			continue;
		ibdev_dbg(ib, "%s: attribute %u not supported\n", verb, ids[i]);
		return -EOPNOTSUPP;
	}
	return 0;
}
