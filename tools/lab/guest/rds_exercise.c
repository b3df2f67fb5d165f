// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exercises RDS sockets: round trips, and a stream of messages whose contents
 * the receiver verifies. Every wait has a limit, since RDS itself tries to
 * reach an absent peer for minutes.
 *
 *   rds_exercise serve  --local ADDRESS [--time-limit S]
 *   rds_exercise ping   --local ADDRESS --remote ADDRESS [--count N]
 *   rds_exercise stream --local ADDRESS --remote ADDRESS [--count N] [--size BYTES]
 *
 * Exit status: 0 all arrived and was right, 1 not so, 2 bad arguments.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAGIC		0x72647321
#define SERVER_PORT	4791
#define MAX_SIZE	(1 << 20)
#define MAX_COUNT	100000000L
/* The receiver confirms each so many messages; the sender waits for that. */
#define WINDOW		64

enum kind { PING = 1, PONG, DATA, CONFIRM };

/* Start of every message; all in network byte order. */
struct header {
	uint32_t magic;
	uint32_t kind;
	uint32_t sequence;
	uint32_t length;	/* of the contents behind the header */
	uint32_t errors;	/* CONFIRM: messages of this sender that were wrong */
};

struct settings {
	const char *mode;
	struct sockaddr_in local;
	struct sockaddr_in remote;
	long count;
	long size;
	long time_limit;	/* seconds for each wait; 0: for ever */
};

struct message {
	struct header header;
	uint8_t contents[MAX_SIZE];
};

static volatile sig_atomic_t ended;
/* Signals as before main(): those that end the program arrive in ppoll() only. */
static sigset_t signals_of_waits;

static void note_end(int number)
{
	(void)number;
	ended = 1;
}

/*
 * Blocked but for waits: a signal between a failed recvfrom() and an unlimited wait would be noted, and the wait
 * would never end.
 */
static void end_in_waits(void)
{
	struct sigaction action = { .sa_handler = note_end };
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &signals_of_waits);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void __attribute__((noreturn, format(printf, 2, 3)))
fail(int status, const char *format, ...)
{
	va_list arguments;

	fputs("rds_exercise: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(status);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static const char *name_of(const struct sockaddr_in *address)
{
	static char text[INET_ADDRSTRLEN];

	return inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
}

/* Contents that differ from message to message and from byte to byte. */
static void fill(uint8_t *contents, size_t length, uint32_t sequence)
{
	uint32_t state = sequence * 2654435761u + 1;

	for (size_t i = 0; i < length; i++) {
		state ^= state << 13;
		state ^= state >> 17;
		state ^= state << 5;
		contents[i] = (uint8_t)state;
	}
}

static int open_socket(const struct sockaddr_in *local)
{
	int fd = socket(AF_RDS, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	if (fd < 0)
		fail(1, "no RDS socket: %s (is the module rds loaded?)",
		     strerror(errno));
	if (bind(fd, (const struct sockaddr *)local, sizeof(*local)))
		fail(1, "cannot bind to %s: %s (does an RDS transport serve this address? modules rds_rdma, rds_tcp)",
		     name_of(local), strerror(errno));
	return fd;
}

/* False after a signal to end. */
static bool wait_for(int fd, short events, const struct settings *settings,
		     const char *what)
{
	struct pollfd entry = { .fd = fd, .events = events };
	long limit = settings->time_limit;
	struct timespec time = { .tv_sec = limit };
	int ready = ppoll(&entry, 1, limit ? &time : NULL, &signals_of_waits);

	if (ready == 0)
		fail(1, "%s: nothing for %ld s", what, limit);
	if (ready < 0 && errno != EINTR)
		fail(1, "%s: %s", what, strerror(errno));
	return !ended;
}

static void send_message(int fd, const struct sockaddr_in *to,
			 struct message *message,
			 const struct settings *settings)
{
	size_t length = sizeof(message->header) + ntohl(message->header.length);

	while (sendto(fd, message, length, 0, (const struct sockaddr *)to,
		      sizeof(*to)) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
			fail(1, "cannot send to %s: %s", name_of(to),
			     strerror(errno));
		if (!wait_for(fd, POLLOUT, settings, "waiting for room to send"))
			exit(1);
	}
}

/* False after a signal to end that arrived before a message. */
static bool receive_message(int fd, struct sockaddr_in *from,
			    struct message *message,
			    const struct settings *settings)
{
	socklen_t from_length = sizeof(*from);
	ssize_t got;

	while ((got = recvfrom(fd, message, sizeof(*message), 0,
			       (struct sockaddr *)from, &from_length)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			fail(1, "cannot receive: %s", strerror(errno));
		if (!wait_for(fd, POLLIN, settings, "waiting for a message"))
			return false;
	}
	if ((size_t)got < sizeof(message->header) ||
	    ntohl(message->header.magic) != MAGIC ||
	    ntohl(message->header.length) != got - sizeof(message->header))
		fail(1, "a message of %zd bytes from %s is not ours", got,
		     name_of(from));
	return true;
}

static void set_header(struct message *message, enum kind kind,
		       uint32_t sequence, uint32_t length)
{
	message->header = (struct header){
		.magic = htonl(MAGIC),
		.kind = htonl(kind),
		.sequence = htonl(sequence),
		.length = htonl(length),
	};
}

static bool contents_are_right(const struct message *message)
{
	static uint8_t expected[MAX_SIZE];
	uint32_t length = ntohl(message->header.length);

	fill(expected, length, ntohl(message->header.sequence));
	return memcmp(expected, message->contents, length) == 0;
}

/* What the server knows of the one stream it receives. */
struct stream {
	uint32_t next;
	uint32_t errors;
};

static void take_data(int fd, const struct sockaddr_in *from,
		      struct message *message, struct stream *stream,
		      const struct settings *settings)
{
	uint32_t sequence = ntohl(message->header.sequence);

	if (sequence == 0)
		*stream = (struct stream){};
	if (sequence != stream->next || !contents_are_right(message)) {
		fprintf(stderr, "rds_exercise: message %" PRIu32 " from %s is wrong (expected %" PRIu32 ")\n",
			sequence, name_of(from), stream->next);
		stream->errors++;
	}
	stream->next = sequence + 1;
	if (stream->next % WINDOW == 0) {
		set_header(message, CONFIRM, sequence, 0);
		message->header.errors = htonl(stream->errors);
		send_message(fd, from, message, settings);
	}
}

static int serve(int fd, const struct settings *settings)
{
	static struct message message;
	struct stream stream = {};
	struct sockaddr_in from;

	printf("serving on %s\n", name_of(&settings->local));
	fflush(stdout);
	while (receive_message(fd, &from, &message, settings)) {
		switch (ntohl(message.header.kind)) {
		case PING:
			message.header.kind = htonl(PONG);
			send_message(fd, &from, &message, settings);
			break;
		case DATA:
			take_data(fd, &from, &message, &stream, settings);
			break;
		}
	}
	return 0;
}

static int ping(int fd, const struct settings *settings)
{
	static struct message message;
	struct sockaddr_in from;
	double sum = 0, least = 1e9, most = 0;

	for (long i = 0; i < settings->count; i++) {
		double start = now(), took;

		set_header(&message, PING, (uint32_t)i, (uint32_t)settings->size);
		fill(message.contents, settings->size, (uint32_t)i);
		send_message(fd, &settings->remote, &message, settings);
		if (!receive_message(fd, &from, &message, settings))
			return 1;
		took = now() - start;
		if (ntohl(message.header.kind) != PONG ||
		    ntohl(message.header.sequence) != (uint32_t)i ||
		    !contents_are_right(&message))
			fail(1, "the answer to message %ld is wrong", i);
		sum += took;
		least = took < least ? took : least;
		most = took > most ? took : most;
	}
	printf("%ld round trips of %ld bytes to %s, microseconds: least %.0f, mean %.0f, most %.0f\n",
	       settings->count, settings->size, name_of(&settings->remote),
	       least * 1e6, sum / settings->count * 1e6, most * 1e6);
	return 0;
}

static void await_confirmation(int fd, uint32_t sequence,
			       const struct settings *settings)
{
	static struct message answer;
	struct sockaddr_in from;

	if (!receive_message(fd, &from, &answer, settings))
		exit(1);
	if (ntohl(answer.header.kind) != CONFIRM ||
	    ntohl(answer.header.sequence) != sequence)
		fail(1, "message %" PRIu32 " was not confirmed", sequence);
	if (answer.header.errors)
		fail(1, "the receiver found %" PRIu32 " wrong messages up to %" PRIu32,
		     ntohl(answer.header.errors), sequence);
}

static int stream(int fd, const struct settings *settings)
{
	static struct message message;
	/* Whole windows, so that the last message is confirmed. */
	long count = (settings->count + WINDOW - 1) / WINDOW * WINDOW;
	double start = now(), took;

	for (long i = 0; i < count; i++) {
		set_header(&message, DATA, (uint32_t)i, (uint32_t)settings->size);
		fill(message.contents, settings->size, (uint32_t)i);
		send_message(fd, &settings->remote, &message, settings);
		if ((i + 1) % WINDOW == 0)
			await_confirmation(fd, (uint32_t)i, settings);
	}
	took = now() - start;
	printf("%ld messages of %ld bytes to %s verified there, %.2f s, %.1f MB/s\n",
	       count, settings->size, name_of(&settings->remote), took,
	       count * settings->size / took / 1e6);
	return 0;
}

static long number(const char *option, const char *text, long least, long most)
{
	char *end;
	long value = strtol(text, &end, 0);

	if (*end || end == text || value < least || value > most)
		fail(2, "--%s %s: not a number from %ld to %ld", option, text,
		     least, most);
	return value;
}

static void address(const char *option, const char *text,
		    struct sockaddr_in *result)
{
	result->sin_family = AF_INET;
	if (inet_pton(AF_INET, text, &result->sin_addr) != 1)
		fail(2, "--%s %s: not an IPv4 address", option, text);
}

static void parse(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		{ "local", required_argument, NULL, 'l' },
		{ "remote", required_argument, NULL, 'r' },
		{ "count", required_argument, NULL, 'c' },
		{ "size", required_argument, NULL, 's' },
		{ "time-limit", required_argument, NULL, 't' },
		{}
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'l':
			address("local", optarg, &settings->local);
			break;
		case 'r':
			address("remote", optarg, &settings->remote);
			break;
		case 'c':
			settings->count = number("count", optarg, 1, MAX_COUNT);
			break;
		case 's':
			settings->size = number("size", optarg, 0, MAX_SIZE);
			break;
		case 't':
			settings->time_limit = number("time-limit", optarg, 0, 86400);
			break;
		default:
			exit(2);
		}
	}
	settings->mode = argv[optind];
	if (!settings->mode || argc - optind != 1)
		fail(2, "one of: serve, ping, stream");
	if (!settings->local.sin_family)
		fail(2, "--local ADDRESS is missing");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int fd, const struct settings *settings);
		bool needs_remote;
	} modes[] = {
		{ "serve", serve, false },
		{ "ping", ping, true },
		{ "stream", stream, true },
	};
	struct settings settings = { .count = 10, .size = 64, .time_limit = 60 };

	parse(argc, argv, &settings);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(settings.mode, modes[i].name))
			continue;
		if (modes[i].needs_remote && !settings.remote.sin_family)
			fail(2, "--remote ADDRESS is missing");
		if (!modes[i].needs_remote)
			settings.local.sin_port = htons(SERVER_PORT);
		settings.remote.sin_port = htons(SERVER_PORT);
		end_in_waits();
		return modes[i].run(open_socket(&settings.local), &settings);
	}
	fail(2, "unknown mode '%s': serve, ping or stream", settings.mode);
}
