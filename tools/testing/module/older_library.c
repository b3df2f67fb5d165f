// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes a process's request for a context into that of an older libmlx5 without dynamic UAR
 * pages; to be preloaded. The request loses that flag and all bytes from CXIB_REQUEST_LENGTH on.
 * libmlx5 then runs its code for such contexts.
 *
 * For each context opened in this way the library adds a line to the file CXIB_CONTEXTS.
 */
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct ib_uverbs_attr *find(struct ib_uverbs_ioctl_hdr *request, uint16_t id)
{
	for (unsigned int i = 0; i < request->num_attrs; i++)
		if (request->attrs[i].attr_id == id)
			return &request->attrs[i];
	return NULL;
}

static void note(unsigned int registers)
{
	const char line[] = "a context with registers of its own\n";
	int file = open(getenv("CXIB_CONTEXTS"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (!registers || file < 0 || write(file, line, strlen(line)) < 0)
		abort();
	close(file);
}

static int open_context(int descriptor, struct ib_uverbs_ioctl_hdr *request)
{
	struct ib_uverbs_attr *input = find(request, UVERBS_ATTR_UHW_IN);
	struct ib_uverbs_attr *output = find(request, UVERBS_ATTR_UHW_OUT);
	struct mlx5_ib_alloc_ucontext_req_v2 older;
	const char *length = getenv("CXIB_REQUEST_LENGTH");
	uint64_t whole;
	int result;

	if (!input || !output || input->len != sizeof(older))
		abort();
	memcpy(&older, (const void *)(uintptr_t)input->data, sizeof(older));
	older.lib_caps &= ~(uint64_t)MLX5_LIB_CAP_DYN_UAR;
	whole = input->data;
	input->data = (uintptr_t)&older;
	input->len = length ? atoi(length) : sizeof(older);
	result = syscall(SYS_ioctl, descriptor, RDMA_VERBS_IOCTL, request);
	input->data = whole;
	input->len = sizeof(older);
	if (!result)
		note(((const struct mlx5_ib_alloc_ucontext_resp *)(uintptr_t)output->data)->tot_bfregs);
	return result;
}

int ioctl(int descriptor, unsigned long number, ...)
{
	struct ib_uverbs_ioctl_hdr *request;
	va_list arguments;
	void *argument;

	va_start(arguments, number);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	request = argument;
	if (number == RDMA_VERBS_IOCTL && request->object_id == UVERBS_OBJECT_DEVICE &&
	    request->method_id == UVERBS_METHOD_GET_CONTEXT)
		return open_context(descriptor, request);
	return syscall(SYS_ioctl, descriptor, number, argument);
}
