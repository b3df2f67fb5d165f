/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CXIB_TESTING_FORK_H
#define CXIB_TESTING_FORK_H
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Forks without the device pages that the process has mapped. The kernel (6.12) copies them with
 * mmap_lock held and then takes the file's disassociation_lock; the removal of a device takes the
 * two locks in reverse order.
 */
static inline pid_t fork_without_pages(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];
	int err = 0;

	if (!maps)
		return -1;
	while (!err && fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/infiniband/") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			err = madvise((void *)start, end - start, MADV_DONTFORK);
	fclose(maps);
	return err ? -1 : fork();
}

#endif
