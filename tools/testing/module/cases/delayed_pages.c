// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process serves a FUSE file, registers a mapping of it as an ODP MR, and never delivers the pages
 * that a prefetch of the MR needs. Expected: nothing of the device waits for these pages.
 */
#include "verbs_pair.h"
#include <linux/fuse.h>
#include <sys/mount.h>
#include <sys/uio.h>

#define FILE_NODE 2
#define LENGTH (256 * PAGE)
#define HIGH_FD 300
#define PREFETCH IBV_ADVISE_MR_ADVICE_PREFETCH

static int fuse_fd;
static volatile int reads;
static char directory[] = "/tmp/delayed_pages_XXXXXX";

static void answer(uint64_t unique, int error, const void *data, size_t length)
{
	struct fuse_out_header header = {
		.len = sizeof(header) + length, .error = error, .unique = unique,
	};
	struct iovec parts[2] = { { &header, sizeof(header) }, { (void *)data, length } };

	if (writev(fuse_fd, parts, length ? 2 : 1) < 0)
		fprintf(stderr, "answer of FUSE server: %s\n", strerror(errno));
}

static struct fuse_attr attributes(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node, .nlink = 1, .blksize = PAGE, .size = node == FILE_NODE ? LENGTH : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0644 : S_IFDIR | 0755,
	};
}

static void handle(const struct fuse_in_header *in)
{
	const struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = PAGE,
	};
	const struct fuse_attr_out got = { .attr_valid = 1000, .attr = attributes(in->nodeid) };
	const struct fuse_entry_out found = {
		.nodeid = FILE_NODE, .attr_valid = 1000, .entry_valid = 1000, .attr = attributes(FILE_NODE),
	};
	const struct fuse_open_out opened = {};

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(in->unique, 0, &got, sizeof(got));
		break;
	case FUSE_LOOKUP:
		answer(in->unique, 0, &found, sizeof(found));
		break;
	case FUSE_OPEN:
		answer(in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		reads++;
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in->unique, -ENOSYS, NULL, 0);
	}
}

static void *serve(void *unused)
{
	static char buffer[1 << 18];

	(void)unused;
	while (read(fuse_fd, buffer, sizeof(buffer)) > 0)
		handle((const void *)buffer);
	return NULL;
}

/* Returns memory whose pages are never delivered. */
static char *map_file(void)
{
	char text[128];
	pthread_t thread;
	void *memory;
	int fd;

	snprintf(text, sizeof(text), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	MUST(mount("delayed", directory, "fuse", 0, text));
	MUST(pthread_create(&thread, NULL, serve, NULL));
	snprintf(text, sizeof(text), "%s/file", directory);
	fd = open(text, O_RDONLY);
	if (fd < 0)
		fail("%s: %s", text, strerror(errno));
	memory = NEED(mmap(NULL, LENGTH, PROT_READ, MAP_PRIVATE, fd, 0));
	close(fd);
	return memory;
}

/* Mappings would keep the device open until the process's memory is released. */
static void unmap_device(void)
{
	unsigned long start[64], end[64];
	FILE *maps = NEED(fopen("/proc/self/maps", "r"));
	char line[512];
	int count = 0;

	while (count < 64 && fgets(line, sizeof(line), maps))
		if (strstr(line, "uverbs") && sscanf(line, "%lx-%lx", &start[count], &end[count]) == 2)
			count++;
	fclose(maps);
	while (count--)
		MUST(munmap((void *)start[count], end[count] - start[count]));
}

static int prefetch(const struct ibv_mr *mr, size_t offset, uint32_t flags)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)mr->addr + offset, .length = 8, .lkey = mr->lkey,
	};

	return ibv_advise_mr(mr->pd, PREFETCH, flags, &sge, 1);
}

static void *prefetch_synchronously(void *mr)
{
	prefetch(mr, LENGTH / 2, IBV_ADVISE_MR_FLAG_FLUSH);
	return NULL;
}

static void wait_for_reads(int count)
{
	while (reads < count)
		usleep(10000);
}

static struct ibv_mr *register_file(struct ibv_pd *pd)
{
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, map_file(), LENGTH, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND));

	MUST(madvise(mr->addr, LENGTH, MADV_RANDOM));
	MUST(prefetch(mr, 0, 0));
	wait_for_reads(1);
	return mr;
}

/*
 * When a process ends, Linux closes the file that was opened last first, so fuse_first lets the HCA
 * be closed while the FUSE server still exists.
 */
static struct ibv_context *open_both(bool fuse_first)
{
	struct ibv_context *context;
	int fd = open("/dev/fuse", O_RDWR);

	if (fd < 0)
		fail("/dev/fuse: %s", strerror(errno));
	fuse_fd = fd;
	if (!fuse_first) {
		fuse_fd = dup2(fd, HIGH_FD);
		close(fd);
	}
	context = open_device(0);
	unmap_device();
	return context;
}

static void killed(bool fuse_first)
{
	register_file(NEED(ibv_alloc_pd(open_both(fuse_first))));
	kill(getpid(), SIGKILL);
}

static void killed_fuse_first(void)
{
	killed(true);
}

static void killed_fuse_last(void)
{
	killed(false);
}

static void killed_in_prefetch(void)
{
	struct ibv_mr *mr = register_file(NEED(ibv_alloc_pd(open_both(true))));
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, prefetch_synchronously, mr));
	wait_for_reads(2);
	kill(getpid(), SIGKILL);
}

/* The second MR has a prefetch that cannot begin: 32 others occupy the workers of the user. */
static void killed_with_queue(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(open_both(true)));
	struct ibv_mr *mr = register_file(pd), *second;
	size_t i;

	for (i = 1; i < 40; i++)
		MUST(prefetch(mr, i * PAGE, 0));
	second = NEED(ibv_reg_mr(pd, mr->addr, PAGE, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND));
	MUST(prefetch(second, 0, 0));
	kill(getpid(), SIGKILL);
}

static void implicit_killed(void)
{
	struct ibv_pd *pd = NEED(ibv_alloc_pd(open_both(true)));
	struct ibv_mr *mr = NEED(ibv_reg_mr(pd, NULL, SIZE_MAX, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND));
	struct ibv_sge sge = { .length = 8, .lkey = mr->lkey };

	sge.addr = (uintptr_t)map_file();
	MUST(ibv_advise_mr(pd, PREFETCH, 0, &sge, 1));
	wait_for_reads(1);
	kill(getpid(), SIGKILL);
}

static void deregistered(void)
{
	struct ibv_context *context = open_both(false);
	struct ibv_pd *pd = NEED(ibv_alloc_pd(context));
	struct ibv_mr *mr = register_file(pd);

	MUST(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ON_DEMAND));
	MUST(prefetch(mr, LENGTH / 2, 0));
	wait_for_reads(2);
	MUST(ibv_dereg_mr(mr));
	MUST(ibv_dealloc_pd(pd));
	MUST(ibv_close_device(context));
	kill(getpid(), SIGKILL);
}

/* The test removes the device. Then it kills the program. */
static void removed(void)
{
	struct ibv_mr *mr = register_file(NEED(ibv_alloc_pd(open_both(false))));
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, prefetch_synchronously, mr));
	wait_for_reads(2);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

/* Ends all page faults of the process. */
static void abort_fuse(void)
{
	shell("mount -t fusectl none /sys/fs/fuse/connections 2>/dev/null; "
	      "for i in /sys/fs/fuse/connections/*/abort; do echo 1 > $i; done");
}

static void expect_end(void (*process)(void))
{
	const double begin = now();
	pid_t pid = fork(), ended = 0;
	int status = 0;

	if (!pid) {
		process();
		_exit(0);
	}
	while (!ended && now() - begin < PATIENCE) {
		usleep(10000);
		ended = waitpid(pid, &status, WNOHANG);
	}
	if (!ended)
		abort_fuse();
	umount2(directory, MNT_DETACH);
	if (!ended)
		fail("the process waits for pages that it delivers itself");
	if (!WIFSIGNALED(status))
		fail("the process has failed");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*process)(void);
	} cases[] = {
		{ "killed-fuse-first", killed_fuse_first },
		{ "killed-fuse-last", killed_fuse_last },
		{ "killed-in-prefetch", killed_in_prefetch },
		{ "killed-with-queue", killed_with_queue },
		{ "implicit-killed", implicit_killed },
		{ "deregistered", deregistered },
	};
	const char *name = argc > 1 ? argv[1] : "";
	size_t i;

	shell("modprobe fuse");
	NEED(mkdtemp(directory));
	if (!strcmp(name, "removed"))
		removed();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(name, cases[i].name)) {
			expect_end(cases[i].process);
			pass("%s", name);
		}
	fail("no case '%s'", name);
}
