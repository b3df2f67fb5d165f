/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures where and when completions are handled. All CQs share one completion vector, and each
 * has a QP connected to itself, so that one HCA with one port is sufficient.
 */
#ifndef BENCH_POLLING_H
#define BENCH_POLLING_H

#include <cxib/poll_context.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

#define POLLING_MAX_HOGS	16
#define POLLING_MAX_SECONDS	120
#define POLLING_PORT		1
/* Completion vector of all CQs. */
#define POLLING_VECTOR		0
/* Ends only a measurement that has already failed. */
#define POLLING_PATIENCE	(600 * HZ)

/**
 * struct polling_context - where done() of a CQ runs
 * @name: name of the context
 * @alloc: creates a CQ with room for @nr_cqe completions, which ib_free_cq() frees
 * @core: polling context of the RDMA core, for @alloc
 * @options: polling context of cxib, for @alloc
 */
struct polling_context {
	const char *name;
	struct ib_cq *(*alloc)(const struct polling_context *context, struct ib_device *device,
			       void *private, int nr_cqe);
	enum ib_poll_context core;
	struct cxib_cq_options options;
};

/**
 * struct polling_settings - what to measure
 * @context: polling context of all CQs
 * @costs_us: cost of done() of each hog
 * @hogs: number of @costs_us
 * @period_us: time between two WRs of the mostly idle CQ
 * @seconds: duration
 * @completions: ends the measurement earlier, when each hog has this number of completions
 *	and the idle CQ has one; 0: no such end
 * @samples: number of WRs of a CQ that is alone
 */
struct polling_settings {
	const struct polling_context *context;
	u32 costs_us[POLLING_MAX_HOGS];
	u32 hogs;
	u32 period_us;
	u32 seconds;
	u32 completions;
	u32 samples;
};

/**
 * struct polling_endpoint - a CQ and its QP
 * @cq: the CQ, NULL if there is none
 * @qp: the QP, connected to itself; NULL if there is none
 * @cqe: ib_cqe of each WR
 */
struct polling_endpoint {
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
};

/* contexts.c */
extern const struct polling_context polling_contexts[];
const struct polling_context *polling_context_find(const char *name);

/* endpoint.c */
int polling_endpoint_create(struct polling_endpoint *endpoint, struct ib_pd *pd,
			    const struct polling_context *context, u32 depth,
			    void (*done)(struct ib_cq *cq, struct ib_wc *wc));
void polling_endpoint_destroy(struct polling_endpoint *endpoint);
int polling_endpoint_post(struct polling_endpoint *endpoint);

/* main.c */
__printf(1, 2) void polling_say(const char *format, ...);

/* tracepoints.c */
int polling_watch(const char *name, void *probe, void *data);
void polling_ignore(const char *name, void *probe, void *data);

/* load.c, alone.c, core.c */
int polling_measure_load(struct ib_pd *pd, const struct polling_settings *settings);
int polling_measure_alone(struct ib_pd *pd, const struct polling_settings *settings);
int polling_measure_core(struct ib_pd *pd, const struct polling_settings *settings);

#endif
