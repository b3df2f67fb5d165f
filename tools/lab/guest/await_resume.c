// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs before and after a snapshot: reports to the lab that the guest can be stopped, and gives
 * each resumed guest the time, random seed, checkout and HCAs of its run.
 *
 * The snapshot contains the running program, because starting a process takes time in each guest.
 *
 * usage: await_resume FILE
 *
 * Standard input and output are the control port. FILE gets the directory of the run.
 */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include <linux/random.h>

#define SEED_BYTES 32
#define DEVICES "/sys/bus/pci/devices"

static const char vendor_of_hcas[] = "0x15b3\n";

/* What the lab sends when it resumes the guest. */
struct orders {
	struct timespec now;
	unsigned int hcas;
	unsigned char seed[SEED_BYTES];
	char directory[PATH_MAX];
};

static void fail(const char *what)
{
	printf("failed %s: %m\n", what);
	fflush(stdout);
	exit(1);
}

static void tell(const char *word)
{
	puts(word);
	if (fflush(stdout))
		exit(1);
}

/* The lab always sends complete lines, so an end of file has no meaning. */
static void read_line(char *line, size_t size)
{
	size_t length = 0;

	while (length < size - 1 && read(STDIN_FILENO, line + length, 1) == 1)
		if (line[length++] == '\n')
			break;
	line[length] = '\0';
}

static void parse_orders(const char *line, struct orders *orders)
{
	char seed[2 * SEED_BYTES + 1];
	int i;

	if (sscanf(line, "resume %ld %ld %u %64s %4095s", &orders->now.tv_sec, &orders->now.tv_nsec,
		   &orders->hcas, seed, orders->directory) != 5)
		fail("cannot understand the lab");
	for (i = 0; i < SEED_BYTES; i++)
		if (sscanf(seed + 2 * i, "%2hhx", &orders->seed[i]) != 1)
			fail("cannot understand the seed");
}

/*
 * All guests of a snapshot share the state of the random number generator. The seed counts as
 * entropy, which the kernel then uses at once instead of a minute later.
 */
static void seed_random_numbers(const unsigned char *seed)
{
	union {
		struct rand_pool_info info;
		unsigned char room[sizeof(struct rand_pool_info) + SEED_BYTES];
	} entropy = { .info = { .entropy_count = 8 * SEED_BYTES, .buf_size = SEED_BYTES } };
	int device = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	memcpy(entropy.info.buf, seed, SEED_BYTES);
	if (device < 0 || ioctl(device, RNDADDENTROPY, &entropy) || ioctl(device, RNDRESEEDCRNG))
		fail("cannot seed the random numbers");
	close(device);
}

static void mount_checkout(void)
{
	if (mount("lab-repo", "/repo", "9p", 0, "trans=virtio,version=9p2000.L,msize=512000,cache=mmap"))
		fail("cannot mount the checkout");
}

static int is_hca(const char *device)
{
	char path[PATH_MAX], vendor[sizeof(vendor_of_hcas)] = "";
	int file;

	snprintf(path, sizeof(path), DEVICES "/%s/vendor", device);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	if (read(file, vendor, sizeof(vendor) - 1) < 0)
		vendor[0] = '\0';
	close(file);
	return !strcmp(vendor, vendor_of_hcas);
}

/*
 * A device appears in sysfs before it can have a driver. The kernel adds devices under the lock
 * that a rescan takes, so after a rescan the device is complete.
 */
static void await_completion(const char *device)
{
	char path[PATH_MAX];
	int file;

	snprintf(path, sizeof(path), DEVICES "/%s/rescan", device);
	file = open(path, O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, "1", 1) != 1)
		fail("cannot wait for an HCA");
	close(file);
}

/* Returns the number of HCAs that the kernel has found; all of them are complete. */
static unsigned int count_hcas(void)
{
	DIR *devices = opendir(DEVICES);
	struct dirent *entry;
	unsigned int count = 0;

	if (!devices)
		fail("cannot list the devices");
	while ((entry = readdir(devices))) {
		if (is_hca(entry->d_name)) {
			await_completion(entry->d_name);
			count++;
		}
	}
	closedir(devices);
	return count;
}

/*
 * The lab plugs an HCA in when the previous one is complete. Otherwise the kernel might find them
 * in another order.
 */
static void await_hcas(unsigned int hcas)
{
	static const struct timespec pause = { .tv_nsec = 20000000 };
	unsigned int found;

	for (found = 0; found < hcas; found++) {
		while (count_hcas() <= found)
			nanosleep(&pause, NULL);
		tell("found");
	}
}

static void write_directory(const char *path, const char *directory)
{
	FILE *file = fopen(path, "w");

	if (!file || fprintf(file, "%s\n", directory) < 0 || fclose(file))
		fail("cannot write the directory's name");
}

int main(int argc, char **argv)
{
	char line[2 * PATH_MAX];
	struct orders orders;

	if (argc != 2)
		return 2;
	tell("stopped");
	read_line(line, sizeof(line));
	parse_orders(line, &orders);
	if (clock_settime(CLOCK_REALTIME, &orders.now))
		fail("cannot set the clock");
	seed_random_numbers(orders.seed);
	mount_checkout();
	await_hcas(orders.hcas);
	write_directory(argv[1], orders.directory);
	tell("resumed");
	return 0;
}
