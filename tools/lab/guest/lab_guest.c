// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does for the guest's scripts what a shell can do only with more processes. On an emulated processor
 * with the debug kernel each process takes about half a second, so one call replaces many of them.
 *
 *   lab-guest system                    file systems, links, pipes, loopback
 *   lab-guest relay [PIPE PORT]...      copies pipes to ports until they end
 *   lab-guest load [NAME | FILE.ko]...  modules with their dependencies
 *
 * The program is linked statically, because guests may have another Debian release as their root.
 *
 * Exit status: 0 success, 1 a failure (see standard error), 2 bad arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/module.h>
#include <net/if.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define MODULE_NAME_SIZE	64
#define MAX_RELAYS		8

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

/* Returns 1, the exit status of a failure. */
static int __attribute__((format(printf, 1, 2))) complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return 1;
}

/* ---- modules ---- */

/* Returns the contents of a file with a terminating 0; NULL if it cannot be read. */
static char *read_file(const char *path)
{
	struct stat status;
	char *text = NULL;
	ssize_t length = 0;
	int file;

	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	if (!fstat(file, &status))
		text = malloc(status.st_size + 1);
	for (ssize_t more = 1; text && more > 0 && length < status.st_size; length += more) {
		more = read(file, text + length, status.st_size - length);
		if (more < 0)
			break;
	}
	if (text)
		text[length] = 0;
	close(file);
	return text;
}

/* "kernel/lib/some-name.ko.xz" is the module some_name. */
static void name_of(const char *path, size_t length, char name[MODULE_NAME_SIZE])
{
	const char *start = memrchr(path, '/', length);
	size_t i;

	start = start ? start + 1 : path;
	for (i = 0; i < MODULE_NAME_SIZE - 1 && start + i < path + length && start[i] != '.'; i++)
		name[i] = start[i] == '-' ? '_' : start[i];
	name[i] = 0;
}

static bool is_loaded(const char *name)
{
	char path[sizeof("/sys/module/") + MODULE_NAME_SIZE];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	return !access(path, F_OK);
}

static const char *what_went_wrong(void)
{
	switch (errno) {
	case ENOENT:
		return "unknown symbol or parameter; see the kernel log";
	case ENOEXEC:
		return "invalid module format; see the kernel log";
	default:
		return strerror(errno);
	}
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

/* Loads a single file. needed_by is only for the message and may be NULL. */
static int load_file(const char *path, const char *needed_by)
{
	int flags = ends_with(path, ".xz") ? MODULE_INIT_COMPRESSED_FILE : 0;
	char name[MODULE_NAME_SIZE];
	int status;
	int file;

	name_of(path, strlen(path), name);
	if (is_loaded(name))
		return 0;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return complain("cannot load %s: %s: %s", name, path, strerror(errno));
	if (!syscall(SYS_finit_module, file, "", flags) || errno == EEXIST)
		status = 0;
	else if (needed_by)
		status = complain("cannot load %s, which %s needs: %s", name, needed_by,
				  what_went_wrong());
	else
		status = complain("cannot load %s: %s", name, what_went_wrong());
	close(file);
	return status;
}

/* Returns the directory with the modules of the running kernel. */
static const char *module_directory(void)
{
	static char path[sizeof("/lib/modules/") + sizeof(((struct utsname *)NULL)->release)];
	struct utsname kernel;

	if (!path[0]) {
		uname(&kernel);
		snprintf(path, sizeof(path), "/lib/modules/%s", kernel.release);
	}
	return path;
}

/* Returns the line of a list that begins with this module, or NULL. */
static const char *line_of(const char *list, const char *name)
{
	char other[MODULE_NAME_SIZE];
	const char *next;

	for (const char *line = list; line && *line; line = next) {
		size_t length = strcspn(line, ":\n");

		name_of(line, length, other);
		if (!strcmp(name, other))
			return line;
		next = strchr(line, '\n');
		next = next ? next + 1 : NULL;
	}
	return NULL;
}

static bool is_built_in(const char *name)
{
	char path[PATH_MAX];
	bool found;
	char *list;

	snprintf(path, sizeof(path), "%s/modules.builtin", module_directory());
	list = read_file(path);
	found = list && line_of(list, name);
	free(list);
	return found;
}

/*
 * A line of modules.dep is "FILE: FILE FILE ...": a module and its dependencies, the last of which
 * must be loaded first.
 */
static int load_line(const char *line, const char *name, const char *needed_by)
{
	size_t rest = strcspn(line, "\n");
	char path[PATH_MAX];
	int status = 0;

	while (rest && !status) {
		const char *blank = memrchr(line, ' ', rest);
		const char *file = blank ? blank + 1 : line;
		size_t length = strcspn(file, ": \n");

		snprintf(path, sizeof(path), "%s/%.*s", module_directory(), (int)length, file);
		if (length)
			status = load_file(path, file == line ? needed_by : name);
		rest = blank ? blank - line : 0;
	}
	return status;
}

static int load_name(const char *name, const char *needed_by)
{
	static char *list;
	char path[PATH_MAX];
	const char *line;

	if (is_loaded(name))
		return 0;
	if (!list) {
		snprintf(path, sizeof(path), "%s/modules.dep", module_directory());
		list = read_file(path);
	}
	line = list ? line_of(list, name) : NULL;
	if (line)
		return load_line(line, name, needed_by);
	if (is_built_in(name))
		return 0;
	if (needed_by)
		return complain("cannot load %s, which %s needs: not in %s", name, needed_by,
				module_directory());
	return complain("cannot load %s: not in %s", name, module_directory());
}

/* Loads the modules that a file's "depends=" names, separated by commas. */
static int load_dependencies(const char *names, const char *needed_by)
{
	char name[MODULE_NAME_SIZE];
	int status = 0;

	while (*names && !status) {
		size_t length = strcspn(names, ",");

		name_of(names, length, name);
		status = load_name(name, needed_by);
		names += length + (names[length] == ',');
	}
	return status;
}

/* Loads a file that modules.dep does not contain. */
static int load_foreign(const char *path)
{
	static const char key[] = "\0depends=";
	char name[MODULE_NAME_SIZE];
	struct stat status;
	const char *found;
	int result = 0;
	char *module;
	int file;

	name_of(path, strlen(path), name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || fstat(file, &status))
		return complain("cannot load %s: %s", path, strerror(errno));
	module = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (module == MAP_FAILED)
		return complain("cannot load %s: %s", path, strerror(errno));
	found = memmem(module, status.st_size, key, sizeof(key) - 1);
	if (found)
		result = load_dependencies(found + sizeof(key) - 1, name);
	munmap(module, status.st_size);
	return result ? result : load_file(path, NULL);
}

static int load(char **names)
{
	int status = 0;

	for (; *names && !status; names++)
		status = strchr(*names, '/') ? load_foreign(*names) : load_name(*names, NULL);
	return status;
}

/* ---- system ---- */

static int mount_one(const char *type, const char *directory, const char *options)
{
	if (mount(type, directory, type, 0, options))
		return complain("lab: cannot mount %s on %s: %s", type, directory, strerror(errno));
	return 0;
}

static int make_directory(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return complain("lab: cannot make %s: %s", path, strerror(errno));
	return 0;
}

static int make_pipe(const char *path)
{
	if (mkfifo(path, 0644))
		return complain("lab: cannot make %s: %s", path, strerror(errno));
	return 0;
}

static int make_link(const char *target, const char *path)
{
	unlink(path);
	if (symlink(target, path))
		return complain("lab: cannot make %s: %s", path, strerror(errno));
	return 0;
}

static int mount_memory(void)
{
	static const char * const directories[] = {
		"/run/lock", "/run/lock/iscsi", "/run/dbus", "/run/lab", "/dev/shm", "/dev/pts",
	};
	int status = 0;

	status |= mount_one("tmpfs", "/tmp", "mode=1777");
	status |= mount_one("tmpfs", "/run", "mode=755");
	for (size_t i = 0; i < ARRAY_SIZE(directories); i++)
		status |= make_directory(directories[i]);
	status |= mount_one("tmpfs", "/dev/shm", "mode=1777");
	return status;
}

static int fill_devices(void)
{
	int status = 0;

	status |= mount_one("devpts", "/dev/pts", "mode=620,ptmxmode=666");
	if (access("/dev/ptmx", F_OK))
		status |= make_link("pts/ptmx", "/dev/ptmx");
	status |= make_link("/proc/self/fd", "/dev/fd");
	status |= make_link("/proc/self/fd/0", "/dev/stdin");
	status |= make_link("/proc/self/fd/1", "/dev/stdout");
	status |= make_link("/proc/self/fd/2", "/dev/stderr");
	return status;
}

/* Without all_errors the DMA checker stops after its first finding. */
static void keep_dma_checker(void)
{
	int file = open("/sys/kernel/debug/dma-api/all_errors", O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return;
	if (write(file, "1\n", 2) != 2)
		complain("lab: cannot have all findings of the DMA checker: %s", strerror(errno));
	close(file);
}

static int mount_kernel(void)
{
	int status = 0;

	status |= mount_one("debugfs", "/sys/kernel/debug", NULL);
	keep_dma_checker();
	/* Kernels without tracing lack this file system. */
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	if (access("/sys/kernel/config", F_OK))
		status |= load_name("configfs", NULL);
	status |= mount_one("configfs", "/sys/kernel/config", NULL);
	status |= mount_one("cgroup2", "/sys/fs/cgroup", NULL);
	return status;
}

static int start_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int status = 0;
	int any;

	any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (any < 0 || ioctl(any, SIOCGIFFLAGS, &request))
		status = 1;
	request.ifr_flags |= IFF_UP;
	if (status || ioctl(any, SIOCSIFFLAGS, &request))
		status = complain("lab: lo does not come up: %s", strerror(errno));
	if (any >= 0)
		close(any);
	return status;
}

static int set_up_system(void)
{
	int status = 0;

	umask(0022);
	status |= mount_memory();
	status |= fill_devices();
	status |= mount_kernel();
	status |= start_loopback();
	status |= make_pipe("/run/lab/output");
	status |= make_pipe("/run/lab/errors");
	/* This pipe never has data: a process that reads it sleeps until its time-out. */
	status |= make_pipe("/run/lab/never");
	return status;
}

/* ---- relays ---- */

struct relay {
	const char *pipe;
	const char *port;
};

static bool write_all(int file, const char *data, ssize_t length)
{
	while (length > 0) {
		ssize_t written = write(file, data, length);

		if (written < 0 && errno != EINTR)
			return false;
		if (written > 0) {
			data += written;
			length -= written;
		}
	}
	return true;
}

/* Copies data as they arrive. Each pipe has a thread, so that no output waits for another. */
static void *copy(void *argument)
{
	static __thread char data[65536];
	const struct relay *relay = argument;
	ssize_t length;
	int from, to;

	to = open(relay->port, O_WRONLY | O_CLOEXEC);
	from = open(relay->pipe, O_RDONLY | O_CLOEXEC);
	if (to < 0 || from < 0) {
		complain("lab: cannot relay %s to %s: %s", relay->pipe, relay->port,
			 strerror(errno));
		return NULL;
	}
	do {
		length = read(from, data, sizeof(data));
	} while (length > 0 ? write_all(to, data, length) : length < 0 && errno == EINTR);
	if (length)
		complain("lab: the relay from %s to %s ends: %s", relay->pipe, relay->port,
			 strerror(errno));
	close(from);
	close(to);
	return NULL;
}

static int relay_all(char **names)
{
	struct relay relays[MAX_RELAYS];
	pthread_t threads[MAX_RELAYS];
	int count = 0;

	for (; count < MAX_RELAYS && names[0] && names[1]; names += 2, count++)
		relays[count] = (struct relay){ names[0], names[1] };
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, copy, &relays[i]))
			return complain("lab: cannot start a thread");
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "system") && argc == 2)
		return set_up_system();
	if (!strcmp(what, "relay") && argc > 2 && argc % 2 == 0)
		return relay_all(argv + 2);
	if (!strcmp(what, "load") && argc > 2)
		return load(argv + 2);
	complain("usage: lab-guest system | relay [PIPE PORT]... | load [NAME | FILE.ko]...");
	return 2;
}
