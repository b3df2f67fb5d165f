// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "poll_world.h"

#define SEQUENCE_MASK	3

static const struct model *model;

static u8 available(const struct world *w)
{
	return w->is_dma_off ? model->completions : w->written;
}

static void violate(struct world *w, enum violation violation)
{
	if (!w->violation)
		w->violation = violation;
}

/* The memory of the CQ is accessed. */
static void touch(struct world *w)
{
	if (w->is_freed)
		violate(w, TOUCHED_AFTER_FREE);
}

static void touch_as_owner(struct world *w, const struct poller *poller)
{
	touch(w);
	if (!poller->owns)
		violate(w, TOUCHED_WITHOUT_OWNING);
}

/* The device */

static void raise_event(struct world *w, u8 sn)
{
	w->device_armed = false;
	w->event_sn = sn;
	w->events += 1 + w->repeats;
	w->repeats = 0;
}

static bool write_cqe(struct world *w)
{
	if (w->is_dead || w->is_dma_off || w->written == model->completions)
		return false;
	w->written++;
	if (w->device_armed && w->written > w->device_ci)
		raise_event(w, w->device_sn);
	return true;
}

static bool read_doorbell(struct world *w)
{
	u8 sn = w->doorbell_sn[0], ci = w->doorbell_ci[0];
	unsigned int i;

	if (!w->num_doorbells || w->is_dead || w->is_dma_off)
		return false;
	w->num_doorbells--;
	for (i = 0; i < NUM_DOORBELLS - 1; i++) {
		w->doorbell_sn[i] = w->doorbell_sn[i + 1];
		w->doorbell_ci[i] = w->doorbell_ci[i + 1];
	}
	w->doorbell_sn[i] = 0;
	w->doorbell_ci[i] = 0;
	if (sn == w->event_sn)
		return true;
	w->device_armed = true;
	w->device_ci = ci;
	w->device_sn = sn;
	if (w->written > ci)
		raise_event(w, sn);
	return true;
}

static bool stop_device(struct world *w)
{
	if (!model->can_fail || w->is_dma_off || w->is_dead)
		return false;
	w->is_dma_off = true;
	w->has_pending_flush = true;
	return true;
}

/* cxib_cq_deliver_event(), with the scheduler's queue(), or the comp_handler of the RDMA core */

static void have_polled(struct world *w)
{
	touch(w);
	if (w->is_fair) {
		if (cxib_poll_change(&w->phase, CXIB_POLL_ARMED, CXIB_POLL_QUEUED)) {
			w->references++;
			w->is_linked = true;
		}
	} else if (w->core == CORE_IDLE) {
		w->core = CORE_QUEUED;
		w->core_arm.owns = true;
	} else {
		w->core_again = true;
	}
}

static void deliver(struct world *w)
{
	if (w->outstanding)
		w->outstanding--;
	else
		violate(w, MORE_EVENTS_THAN_ARMS);
	have_polled(w);
}

/* cxib_completion_event() */
static bool handle_event(struct world *w)
{
	switch (w->handler) {
	case HANDLER_IDLE:
		if (!w->events)
			return false;
		w->events--;
		if (!w->is_erased)
			w->handler = HANDLER_FOUND;
		return true;
	case HANDLER_FOUND:
		touch(w);
		cxib_arming_count_event(&w->arming);
		w->handler = HANDLER_COUNTED;
		return true;
	case HANDLER_COUNTED:
		touch(w);
		if (cxib_arming_take(&w->arming) || model->ignores_arming)
			w->handler = HANDLER_CLAIMED;
		else
			w->handler = HANDLER_IDLE;
		return true;
	default:
		deliver(w);
		w->handler = HANDLER_IDLE;
		return true;
	}
}

/* cxib_req_notify_cq(), which holds the lock of the CQ from the first step to the last */

static bool is_cq_locked(const struct world *w)
{
	unsigned int i;

	for (i = 0; i < NUM_RUNNERS; i++)
		if (w->runners[i].arm.step)
			return true;
	return w->core_arm.step || w->intruder.step;
}

static void ring_doorbell(struct world *w)
{
	if (w->num_doorbells == NUM_DOORBELLS)
		return violate(w, OUT_OF_BOUNDS);
	w->doorbell_sn[w->num_doorbells] = cxib_arming_sn(&w->arming) & SEQUENCE_MASK;
	w->doorbell_ci[w->num_doorbells] = w->consumed;
	w->num_doorbells++;
}

/* Returns -EBUSY if the lock is held, -EAGAIN if there is a next step, else the result. */
static int arm_step(struct world *w, struct poller *poller)
{
	int missed = 0;

	switch (poller->step) {
	case ARM_SET:
		if (is_cq_locked(w))
			return -EBUSY;
		if (!model->intruders)
			touch_as_owner(w, poller);
		if (w->is_stopped) {
			poller->owns = false;
			return 0;
		}
		cxib_arming_set(&w->arming);
		w->outstanding = min(w->outstanding + 1, 3);
		poller->owns = false;
		break;
	case ARM_DOORBELL:
		ring_doorbell(w);
		break;
	case ARM_LOOK:
		/* What is flushed is not in the ring. */
		if (w->written > w->consumed)
			break;
		poller->step = ARM_SET;
		w->has_pending_flush |= w->is_dma_off;
		return 0;
	case ARM_TAKE:
		missed = cxib_arming_take(&w->arming);
		poller->owns = missed;
		poller->step = ARM_SET;
		w->has_pending_flush |= w->is_dma_off;
		return missed;
	}
	touch(w);
	poller->step++;
	return -EAGAIN;
}

/* A ULP arms a CQ that is armed already, or polled, as MADs do when their port starts. */
static bool arm_as_ulp(struct world *w)
{
	int missed;

	if (!w->intruder.step) {
		/* Not before ib_alloc_cq() has returned. */
		if (!w->intruders || w->core != CORE_IDLE || is_cq_locked(w))
			return false;
		w->intruders--;
		w->intruder.owns = true;
	}
	missed = arm_step(w, &w->intruder);
	/* Without IB_CQ_REPORT_MISSED_EVENTS. */
	if (w->intruder.step == ARM_TAKE)
		w->intruder.step = ARM_SET;
	return missed != -EBUSY;
}

/* The work of the flush, cxib_flush_cqs() */

static bool flush(struct world *w)
{
	switch (w->flush) {
	case FLUSH_IDLE:
		if (!w->has_pending_flush)
			return false;
		w->has_pending_flush = false;
		w->flush = FLUSH_DUE;
		return true;
	case FLUSH_DUE:
		w->flush = w->is_erased ? FLUSH_IDLE : FLUSH_HOLDS_CQ;
		return true;
	case FLUSH_HOLDS_CQ:
		if (is_cq_locked(w))
			return false;
		touch(w);
		w->flush = FLUSH_IDLE;
		if (available(w) > w->consumed && cxib_arming_take(&w->arming))
			w->flush = FLUSH_CLAIMED;
		return true;
	default:
		deliver(w);
		w->flush = FLUSH_IDLE;
		return true;
	}
}

/* The work of the RDMA core, ib_cq_poll_work(): budget of one completion, or of many */

static void core_leave(struct world *w)
{
	w->core = w->core_again ? CORE_QUEUED : CORE_IDLE;
	w->core_arm.owns |= w->core_again;
	w->core_again = false;
}

static bool run_core(struct world *w, bool uses_up_budget)
{
	int missed;

	if (uses_up_budget && w->core != CORE_POLLS)
		return false;
	switch (w->core) {
	case CORE_QUEUED:
		w->core = CORE_POLLS;
		return true;
	case CORE_POLLS:
		touch_as_owner(w, &w->core_arm);
		if (w->consumed == available(w)) {
			w->core = CORE_ARMS;
			return !uses_up_budget;
		}
		w->consumed++;
		if (uses_up_budget)
			w->core = CORE_QUEUED;
		return true;
	case CORE_ARMS:
		missed = arm_step(w, &w->core_arm);
		if (missed == -EBUSY)
			return false;
		if (missed > 0) {
			w->core_again = true;
			w->core_arm.owns = false;
		}
		if (missed >= 0)
			w->core = CORE_LEAVES;
		return true;
	case CORE_LEAVES:
		touch(w);
		core_leave(w);
		return true;
	default:
		return false;
	}
}

/* A turn: runner_poll(), and the atomic operations before and after it */

static bool begin_turn(struct world *w, unsigned int number)
{
	struct runner *runner = &w->runners[number];

	/* Runners are alike. */
	if (!w->is_linked || (number && !w->runners[number - 1].step))
		return false;
	w->is_linked = false;
	if (!cxib_poll_change(&w->phase, CXIB_POLL_QUEUED, CXIB_POLL_RUNNING))
		violate(w, TOUCHED_WITHOUT_OWNING);
	*runner = (struct runner){ .arm.owns = true, .step = RUNNER_POLLS };
	return true;
}

static void end_turn_with(struct runner *runner, enum cxib_poll_end end)
{
	runner->end = end;
	runner->step = RUNNER_ENDS;
}

static void poll_batch(struct world *w, struct runner *runner)
{
	int polled = min_t(int, model->batch, available(w) - w->consumed);

	w->consumed += polled;
	runner->is_empty = polled < model->batch;
	runner->step = polled ? RUNNER_CHARGES : RUNNER_LINGERS;
}

static void charge(struct runner *runner, bool is_over)
{
	if (is_over && !runner->is_empty)
		end_turn_with(runner, CXIB_POLL_END_QUANTUM);
	else
		runner->step = runner->is_empty ? RUNNER_LINGERS : RUNNER_POLLS;
}

static bool linger(struct world *w, struct runner *runner, bool goes_on)
{
	if (goes_on && !w->lingers)
		return false;
	w->lingers -= goes_on;
	if (goes_on)
		runner->step = RUNNER_POLLS;
	else
		runner->step = model->arms_first ? RUNNER_ARMS : RUNNER_LEAVES;
	return true;
}

static void leave(struct world *w, struct runner *runner)
{
	if (!cxib_poll_change(&w->phase, CXIB_POLL_RUNNING, CXIB_POLL_ARMED))
		end_turn_with(runner, CXIB_POLL_END_GONE);
	else
		runner->step = model->arms_first ? RUNNER_ENDS : RUNNER_ARMS;
}

static bool arm(struct world *w, struct runner *runner)
{
	int missed = arm_step(w, &runner->arm);

	if (missed >= 0)
		end_turn_with(runner, missed ? CXIB_POLL_END_MISSED : CXIB_POLL_END_ARMED);
	if (missed >= 0 && model->arms_first)
		runner->step = RUNNER_LEAVES;
	return missed != -EBUSY;
}

/* With the lock of the list. */
static void end_turn(struct world *w, struct runner *runner)
{
	bool has_left = cxib_poll_leave(&w->phase, runner->end,
					w->is_fair ? CXIB_POLL_QUEUED : CXIB_POLL_ARMED);

	if (has_left && !w->is_fair) {
		runner->step = RUNNER_HANDS_OVER;
		return;
	}
	w->is_linked |= has_left;
	w->references -= !has_left;
	*runner = (struct runner){};
}

static void hand_over(struct world *w, struct runner *runner)
{
	*runner = (struct runner){};
	have_polled(w);
	w->references--;
}

static bool run_runner(struct world *w, unsigned int number, bool choice)
{
	struct runner *runner = &w->runners[number];

	if (choice && runner->step != RUNNER_CHARGES && runner->step != RUNNER_LINGERS)
		return false;
	if (runner->step == RUNNER_IDLE)
		return begin_turn(w, number);
	touch(w);
	if (runner->step < RUNNER_LEAVES)
		touch_as_owner(w, &runner->arm);
	switch (runner->step) {
	case RUNNER_POLLS:
		poll_batch(w, runner);
		return true;
	case RUNNER_CHARGES:
		charge(runner, choice);
		return true;
	case RUNNER_LINGERS:
		return linger(w, runner, choice);
	case RUNNER_LEAVES:
		leave(w, runner);
		return true;
	case RUNNER_ARMS:
		return arm(w, runner);
	case RUNNER_ENDS:
		end_turn(w, runner);
		return true;
	default:
		hand_over(w, runner);
		return true;
	}
}

/* Freeing */

static bool cancel_core(struct world *w)
{
	if (w->core != CORE_IDLE && w->core != CORE_QUEUED)
		return false;
	w->core = CORE_IDLE;
	w->core_arm.owns = false;
	return true;
}

static bool free_step(struct world *w, char step)
{
	switch (step) {
	case 's':
		w->is_stopped = !is_cq_locked(w);
		return w->is_stopped;
	case 'e':
		w->is_erased = true;
		return true;
	case 'd':
		w->is_dead = true;
		memset(w->doorbell_sn, 0, sizeof(w->doorbell_sn));
		memset(w->doorbell_ci, 0, sizeof(w->doorbell_ci));
		w->num_doorbells = 0;
		return true;
	case 'y':
		return w->handler == HANDLER_IDLE;
	case 'r':
		return w->flush != FLUSH_HOLDS_CQ && w->flush != FLUSH_CLAIMED;
	case 'p':
		if (cxib_poll_free(&w->phase)) {
			w->is_linked = false;
			w->references--;
		}
		w->is_gone = true;
		return true;
	case 'w':
		return !w->references;
	case 'c':
		return cancel_core(w);
	default:
		w->is_freed = true;
		return true;
	}
}

static bool free_cq(struct world *w)
{
	if (!model->free_steps || !model->free_steps[w->num_freed])
		return false;
	return free_step(w, model->free_steps[w->num_freed++]);
}

static bool flip(struct world *w)
{
	if (!w->flips)
		return false;
	w->flips--;
	w->is_fair = !w->is_fair;
	return true;
}

/* Returns false if the move cannot be made; then the world may have changed. */
bool poll_world_move(struct world *w, enum move move)
{
	switch (move) {
	case HANDLE_EVENT:
		return handle_event(w);
	case READ_DOORBELL:
		return read_doorbell(w);
	case FLUSH:
		return flush(w);
	case CORE:
	case CORE_BUDGET:
		return run_core(w, move == CORE_BUDGET);
	case RUNNER_0:
	case RUNNER_0_CHOICE:
		return run_runner(w, 0, move == RUNNER_0_CHOICE);
	case RUNNER_1:
	case RUNNER_1_CHOICE:
		return model->num_runners > 1 && run_runner(w, 1, move == RUNNER_1_CHOICE);
	case FREE:
		return free_cq(w);
	case WRITE_CQE:
		return write_cqe(w);
	case STOP_DEVICE:
		return stop_device(w);
	case FLIP:
		return flip(w);
	default:
		return arm_as_ulp(w);
	}
}

/* At most one: an arming, an event on its way that has taken it, or an owner. */
static unsigned int num_owners(const struct world *w)
{
	unsigned int owners = w->core_arm.owns + w->core_again + w->is_linked;
	unsigned int i;

	for (i = 0; i < NUM_RUNNERS; i++)
		owners += w->runners[i].arm.owns;
	owners += atomic_read(&w->arming.count);
	return owners + (w->handler == HANDLER_CLAIMED) + (w->flush == FLUSH_CLAIMED);
}

/* Whether the turn has polls before it: it has not left the loop of runner_poll(). */
static bool may_poll(const struct runner *runner)
{
	return runner->step >= RUNNER_POLLS && runner->step <= RUNNER_LEAVES;
}

/* The event of the ULP's arming may queue the CQ while the last runner still arms it. */
static unsigned int num_pollers(const struct world *w)
{
	return w->is_linked + may_poll(&w->runners[0]) + may_poll(&w->runners[1]);
}

static void check_owners(struct world *w)
{
	if ((model->intruders ? num_pollers(w) : num_owners(w)) > 1)
		violate(w, TWO_OWNERS);
}

static void check_gone(struct world *w)
{
	if (w->is_gone && (w->is_linked || atomic_read(&w->phase) != CXIB_POLL_GONE))
		violate(w, NOT_GONE);
}

/* Numbers that only grow would make the worlds infinitely many. */
static void wrap_counters(struct world *w)
{
	atomic_and(2 * SEQUENCE_MASK + 1, &w->arming.arm_sn);
	w->arming.num_events = 0;
	w->arming.num_late = 0;
}

/* After a move. */
void poll_world_check(struct world *w)
{
	wrap_counters(w);
	check_owners(w);
	check_gone(w);
}

/* When no move is left that must come. */
void poll_world_check_end(struct world *w)
{
	if (model->free_steps) {
		if (!w->is_freed)
			violate(w, FREE_NEVER_ENDS);
	} else if (w->consumed < available(w)) {
		violate(w, LOST_COMPLETION);
	}
}

/* The core has just created the CQ, and arms it. */
void poll_world_init(struct world *w, const struct model *explored)
{
	model = explored;
	memset(w, 0, sizeof(*w));
	atomic_set(&w->phase, CXIB_POLL_ARMED);
	w->event_sn = SEQUENCE_MASK + 1;
	w->core = CORE_ARMS;
	w->core_arm.owns = true;
	w->is_fair = model->starts_fair;
	w->flips = model->flips;
	w->repeats = model->repeats;
	w->lingers = model->lingers;
	w->intruders = model->intruders;
}

