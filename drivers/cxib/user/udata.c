// SPDX-License-Identifier: GPL-2.0-only
/* What a program wants of a verb beyond what the RDMA core knows, and what it is told. */
#include "user/user.h"

/**
 * cxib_copy_req() - takes the driver's part of a request
 * @udata: the request
 * @request: filled; zero where the program has sent less
 * @size: its size
 * @min: what even the oldest library sends, bytes
 *
 * Return: 0, or
 *	-EINVAL when there is less than that,
 *	-EOPNOTSUPP when there is more than is known, and it says something,
 *	-EFAULT when it cannot be read.
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
 * cxib_copy_resp() - gives the driver's part of a response
 * @udata: the response
 * @response: what there is to say
 * @size: its size; cut to what the program has room for
 *
 * Return: 0, or -EFAULT when it cannot be written.
 */
int cxib_copy_resp(struct ib_udata *udata, const void *response, size_t size)
{
	size = min(size, udata->outlen);
	return size ? ib_copy_to_udata(udata, (void *)response, size) : 0;
}
