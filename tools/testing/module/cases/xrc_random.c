// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes make random calls for registrations of XRC receive QPs on the second device: they
 * register, unregister, open and close domains and the device, fork, and pass files to each other,
 * while processes are killed and the device is removed. Expected: each call returns what the
 * process knows it must return, and no object is left at the end.
 */
#include "xrc_registration.h"

#include <stdatomic.h>
#include <sys/prctl.h>

#define DOMAINS_MAX	64
#define SLOTS		4	/* QP numbers known for a domain */
#define OWN_MAX		32	/* registrations of a process with one context */
#define OPERATIONS	10	/* operations of each process in a round */
#define OF_A_CHILD	20
#define GROUP		"/tmp/xrc_random_cgroup/all"

/* Shared by all processes. */
struct shared {
	_Atomic uint32_t qpns[DOMAINS_MAX][SLOTS];
	_Atomic long operations;
	_Atomic long counts[8];
	_Atomic long removals;	/* odd while the device is being removed */
	_Atomic bool is_over;
};

/* A file passed to another process, and its use. */
struct parcel {
	int file, events;
	uint32_t handle;
	int domain;
};

struct registration {
	int domain;
	uint32_t qpn;
};

struct worker {
	uint64_t random;
	struct ibv_context *context;
	struct ibv_xrcd *domains[DOMAINS_MAX];
	struct registration own[OWN_MAX];
	int num_own;
	long removals;		/* value of removals when the context was opened */
	bool is_shared;		/* others can register with this context */
	struct parcel parcel;
	bool has_parcel;
};

static struct shared *shared;
static int num_domains, mail[2];

static uint32_t choose(struct worker *worker, uint32_t limit)
{
	worker->random = worker->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (worker->random >> 33) % limit;
}

/* Whether calls may have failed because the device was removed. */
static bool is_removed(const struct worker *worker)
{
	return worker->removals % 2 || atomic_load(&shared->removals) != worker->removals;
}

/* Whether the process knows the result of a call. */
static bool is_sure(const struct worker *worker)
{
	return !worker->is_shared && !is_removed(worker);
}

static void drop_parcel(struct worker *worker)
{
	if (worker->has_parcel) {
		close(worker->parcel.file);
		close(worker->parcel.events);
	}
	worker->has_parcel = false;
}

static void close_all(struct worker *worker)
{
	if (worker->context)
		ibv_close_device(worker->context);
	worker->context = NULL;
	worker->num_own = 0;
	worker->is_shared = false;
	memset(worker->domains, 0, sizeof(worker->domains));
}

/* Returns NULL while the device is being removed. */
static struct ibv_context *try_open(void)
{
	struct ibv_context *context;
	struct ibv_device **list;
	int count;

	list = ibv_get_device_list(&count);
	if (!list)
		return NULL;
	qsort(list, count, sizeof(*list), by_name);
	context = count > 1 ? ibv_open_device(list[1]) : NULL;
	ibv_free_device_list(list);
	return context;
}

static struct ibv_xrcd *domain_of(struct worker *worker, int number)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .oflags = O_CREAT,
	};
	char path[64];

	if (worker->domains[number])
		return worker->domains[number];
	snprintf(path, sizeof(path), "/tmp/xrc_random_%d", number);
	attr.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	worker->domains[number] = ibv_open_xrcd(worker->context, &attr);
	close(attr.fd);
	return worker->domains[number];
}

static int own_index(const struct worker *worker, int domain, uint32_t qpn)
{
	int i;

	for (i = 0; i < worker->num_own; i++)
		if (worker->own[i].domain == domain && worker->own[i].qpn == qpn)
			return i;
	return -1;
}

static bool has_registration_in(const struct worker *worker, int domain)
{
	int i;

	for (i = 0; i < worker->num_own; i++)
		if (worker->own[i].domain == domain)
			return true;
	return false;
}

static int do_register(struct worker *worker, int domain, uint32_t qpn)
{
	const bool is_own = own_index(worker, domain, qpn) >= 0;
	int err = register_qp(worker->context->cmd_fd, handle_of(worker->domains[domain]), qpn, worker->context->async_fd);

	if (!err)
		worker->own[worker->num_own++] = (struct registration){ domain, qpn };
	if (is_sure(worker) && (is_own != (err == EEXIST) || (err && err != EEXIST && err != EINVAL)))
		fail("register QP 0x%x, %sregistered: %s", qpn, is_own ? "" : "not ", strerror(err));
	return err;
}

/* Afterwards only the registration keeps the QP. */
static void create(struct worker *worker)
{
	const int domain = choose(worker, num_domains);
	struct ibv_qp *qp;

	if (worker->num_own == OWN_MAX || !domain_of(worker, domain))
		return;
	qp = create_receive_qp(worker->context, worker->domains[domain]);
	if (!qp)
		return;
	if (!do_register(worker, domain, qp->qp_num))
		atomic_store(&shared->qpns[domain][choose(worker, SLOTS)], qp->qp_num);
	ibv_destroy_qp(qp);
	atomic_fetch_add(&shared->counts[0], 1);
}

/* Returns in most cases a domain whose QPs are known. */
static int known_domain(struct worker *worker)
{
	int domain, tries;

	for (tries = 0; tries < 8; tries++) {
		domain = choose(worker, num_domains);
		if (atomic_load(&shared->qpns[domain][0]))
			break;
	}
	return domain;
}

/* Returns in most cases an open domain. */
static int open_domain_of(struct worker *worker)
{
	int domain, tries;

	for (tries = 0; tries < 16; tries++) {
		domain = choose(worker, num_domains);
		if (worker->domains[domain])
			break;
	}
	return domain;
}

static void join_known(struct worker *worker)
{
	const int domain = known_domain(worker);

	if (worker->num_own == OWN_MAX || !domain_of(worker, domain))
		return;
	if (!do_register(worker, domain, atomic_load(&shared->qpns[domain][choose(worker, SLOTS)])))
		atomic_fetch_add(&shared->counts[1], 1);
}

static void leave(struct worker *worker)
{
	struct registration last;
	int err;

	if (!worker->num_own)
		return;
	last = worker->own[--worker->num_own];
	err = unregister_qp(worker->context->cmd_fd, handle_of(worker->domains[last.domain]), last.qpn);
	if (err && is_sure(worker))
		fail("unregister QP 0x%x: %s", last.qpn, strerror(err));
	atomic_fetch_add(&shared->counts[2], 1);
}

static void leave_unknown(struct worker *worker)
{
	const int domain = open_domain_of(worker);
	const uint32_t qpn = atomic_load(&shared->qpns[domain][choose(worker, SLOTS)]);
	int err;

	if (!worker->domains[domain] || own_index(worker, domain, qpn) >= 0)
		return;
	err = unregister_qp(worker->context->cmd_fd, handle_of(worker->domains[domain]), qpn);
	if (err != ENOENT && is_sure(worker))
		fail("unregister QP 0x%x, not registered: %s", qpn, strerror(err));
}

static void close_domain(struct worker *worker)
{
	const int domain = open_domain_of(worker);
	const bool is_used = has_registration_in(worker, domain);
	int err;

	if (!worker->domains[domain] || worker->is_shared)
		return;
	err = ibv_close_xrcd(worker->domains[domain]);
	if (is_sure(worker) && is_used != (err == EBUSY))
		fail("close domain %d, %sin use: %s", domain, is_used ? "" : "not ", strerror(err));
	if (!err)
		worker->domains[domain] = NULL;
	atomic_fetch_add(&shared->counts[3], 1);
}

static void pass_on(struct worker *worker)
{
	const int domain = choose(worker, num_domains);
	struct parcel parcel = { .domain = domain };
	char control[CMSG_SPACE(2 * sizeof(int))] = {};
	struct iovec data = { &parcel, sizeof(parcel) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (!domain_of(worker, domain))
		return;
	parcel.handle = handle_of(worker->domains[domain]);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(header), (int[]){ worker->context->cmd_fd, worker->context->async_fd }, 2 * sizeof(int));
	worker->is_shared = true;
	if (sendmsg(mail[0], &message, MSG_DONTWAIT) > 0)
		atomic_fetch_add(&shared->counts[4], 1);
}

static void take(struct worker *worker)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = {};
	struct iovec data = { &worker->parcel, sizeof(worker->parcel) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	int files[2];

	drop_parcel(worker);
	if (recvmsg(mail[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return;
	memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(files));
	worker->parcel.file = files[0];
	worker->parcel.events = files[1];
	worker->has_parcel = true;
}

/* Uses the file of another process, which uses it at the same time. */
static void use_parcel(struct worker *worker)
{
	const struct parcel *parcel = &worker->parcel;
	const uint32_t qpn = atomic_load(&shared->qpns[parcel->domain][choose(worker, SLOTS)]);

	if (!worker->has_parcel)
		return;
	if (choose(worker, 2))
		register_qp(parcel->file, parcel->handle, qpn, parcel->events);
	else
		unregister_qp(parcel->file, parcel->handle, qpn);
	atomic_fetch_add(&shared->counts[5], 1);
}

static void work(struct worker *worker);

/* The child has the same open files, and continues with a copy of its parent's records. */
static void split(struct worker *worker)
{
	int i;

	worker->is_shared = true;
	atomic_fetch_add(&shared->counts[6], 1);
	if (fork_without_pages())
		return;
	worker->random ^= getpid();
	for (i = 0; i < OF_A_CHILD && !atomic_load(&shared->is_over); i++)
		work(worker);
	_exit(0);
}

static void work(struct worker *worker)
{
	const uint32_t what = choose(worker, 100);

	if (worker->context && is_removed(worker))
		close_all(worker);
	if (!worker->context) {
		worker->removals = atomic_load(&shared->removals);
		worker->context = try_open();
	}
	if (!worker->context) {
		/*
		 * Looking for devices costs as much as a few operations, and all processes do it.
		 * The pause leaves the processors to the driver; a process still meets a device
		 * that is being added or removed.
		 */
		usleep(choose(worker, 500000));
		return;
	}
	atomic_fetch_add(&shared->operations, 1);
	if (what < 20)
		create(worker);
	else if (what < 50)
		join_known(worker);
	else if (what < 65)
		leave(worker);
	else if (what < 70)
		leave_unknown(worker);
	else if (what < 80)
		close_domain(worker);
	else if (what < 84)
		pass_on(worker);
	else if (what < 88)
		take(worker);
	else if (what < 95)
		use_parcel(worker);
	else if (what < 97)
		split(worker);
	else
		close_all(worker);
}

static pid_t start_worker(uint64_t seed)
{
	pid_t pid = fork();

	if (!pid) {
		struct worker *worker = NEED(calloc(1, sizeof(*worker)));

		worker->random = seed;
		signal(SIGCHLD, SIG_IGN);
		while (!atomic_load(&shared->is_over))
			work(worker);
		_exit(0);
	}
	return pid;
}

static void remove_device(const char *function)
{
	atomic_fetch_add(&shared->removals, 1);
	unbind(function);
	bind_again(function);
	atomic_fetch_add(&shared->removals, 1);
	atomic_fetch_add(&shared->counts[7], 1);
}

static void kill_worker(pid_t *pid)
{
	int status;

	kill(*pid, SIGKILL);
	waitpid(*pid, &status, 0);
	if (WIFEXITED(status))
		fail("a process ended with %d", WEXITSTATUS(status));
}

/* A round ends when every process has had time for its operations with an open device. */
static void await_operations(long wanted)
{
	const long before = atomic_load(&shared->operations);
	double end = now() + 3600;
	long done;

	while ((done = atomic_load(&shared->operations) - before) < wanted) {
		if (now() > end)
			fail("%ld of %ld operations are done after an hour", done, wanted);
		usleep(20000);
	}
}

static void await_children(void)
{
	int status;

	while (waitpid(-1, &status, 0) > 0)
		if (WIFEXITED(status) && WEXITSTATUS(status))
			fail("a process ended with %d", WEXITSTATUS(status));
}

/* Prints lines such as "cxib1 hca_handle=0 hca_object=0" with the resources of the processes. */
static void expect_nothing_used(void)
{
	char text[256] = "", *place = text;
	int fd = open(GROUP "/rdma.current", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		fail("rdma.current: %s", strerror(errno));
	close(fd);
	while ((place = strstr(place, "hca_object=")))
		if (atoi(place += strlen("hca_object=")))
			fail("objects are left: %s", text);
}

static void make_group(void)
{
	if (shell("mkdir -p /tmp/xrc_random_cgroup && mount -t cgroup2 none /tmp/xrc_random_cgroup && "
		  "echo +rdma > /tmp/xrc_random_cgroup/cgroup.subtree_control && mkdir -p " GROUP " && "
		  "echo %d > " GROUP "/cgroup.procs", getpid()))
		fail("no control group");
}

static void run(struct worker *chance, int processes, int rounds, const char *function)
{
	const double begin = now();
	pid_t workers[processes];
	int i, round;

	for (i = 0; i < processes; i++)
		workers[i] = start_worker(chance->random + i);
	for (round = 1; round <= rounds; round++) {
		await_operations((long)processes * OPERATIONS);
		if (!choose(chance, 20))
			remove_device(function);
		i = choose(chance, processes);
		kill_worker(&workers[i]);
		workers[i] = start_worker(chance->random + round * processes);
		if (round % 10 == 0)
			fprintf(stderr, "%d rounds, %ld operations, %ld removals, %.0f s\n", round,
				atomic_load(&shared->operations), atomic_load(&shared->counts[7]), now() - begin);
	}
	atomic_store(&shared->is_over, true);
	await_children();
}

int main(int argc, char **argv)
{
	struct worker chance = {};
	struct ibv_context *context;
	char function[64];
	long before;

	if (argc != 5 || atoi(argv[3]) < 1 || atoi(argv[3]) > DOMAINS_MAX)
		fail("usage: xrc_random SEED PROCESSES DOMAINS ROUNDS");
	chance.random = atoll(argv[1]);
	num_domains = atoi(argv[3]);
	shared = NEED(mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
	MUST(prctl(PR_SET_CHILD_SUBREAPER, 1));
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, mail));
	context = open_device(1);
	find_function(context, function, sizeof(function));
	MUST(ibv_close_device(context));
	make_group();
	before = resources("qp");
	run(&chance, atoi(argv[2]), atoi(argv[4]), function);
	/* Closes files that no process has received. */
	close(mail[0]);
	close(mail[1]);
	await_resources("qp", before, PATIENCE);
	expect_nothing_used();
	/* Any object left in the device would be a rule violation. */
	remove_device(function);
	pass("created %ld, joined %ld, left %ld, domains closed %ld, passed on %ld, used by others %ld, forked %ld, removed %ld",
	     shared->counts[0], shared->counts[1], shared->counts[2], shared->counts[3], shared->counts[4],
	     shared->counts[5], shared->counts[6], shared->counts[7]);
}
