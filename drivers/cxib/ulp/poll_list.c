// SPDX-License-Identifier: GPL-2.0-only
/* Deficit round robin in nanoseconds between the CQs of one vector: poll_list.h. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "ulp/poll_list.h"

/*
 * The estimate of the cost falls by this share of the difference with each batch, log2: one cheap
 * batch must not make the next one too long.
 */
#define LOG_COST_DECAY	3

static u64 poll_list_turn_ns(const struct cxib_poll_list *list, const struct cxib_poll_entry *entry)
{
	return (u64)list->quantum_ns * entry->weight;
}

/* Rounds in which the entry pays its debt without getting a turn. */
static u64 poll_list_rounds_in_debt(const struct cxib_poll_list *list,
				    const struct cxib_poll_entry *entry)
{
	s64 debt_ns = -entry->deficit_ns;

	return debt_ns > 0 ? div64_u64(debt_ns, poll_list_turn_ns(list, entry)) : 0;
}

/* Credits rounds in which the entry was not served. They pay a debt, but are not saved. */
static void poll_list_repay(const struct cxib_poll_list *list, struct cxib_poll_entry *entry,
			    unsigned long rounds)
{
	if (rounds > poll_list_rounds_in_debt(list, entry))
		entry->deficit_ns = 0;
	else
		entry->deficit_ns += rounds * poll_list_turn_ns(list, entry);
}

/* Makes an empty list. A CQ of weight 1 gets @quantum_ns, which is not 0, in a round. */
void cxib_poll_list_init(struct cxib_poll_list *list, u32 quantum_ns)
{
	INIT_LIST_HEAD(&list->fresh);
	INIT_LIST_HEAD(&list->old);
	list->quantum_ns = quantum_ns;
	/* Not the round of new entries: those have not been served in it. */
	list->round = 1;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_init);

/*
 * Makes an entry that is in no list and gets @weight quanta, not 0, in a round. Needed again before
 * the entry is added to another list, whose rounds are different ones.
 */
void cxib_poll_entry_init(struct cxib_poll_entry *entry, u32 weight)
{
	*entry = (struct cxib_poll_entry){ .weight = weight };
	INIT_LIST_HEAD(&entry->node);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_entry_init);

/* Time that a turn left unused is lost: saved, it would make a later turn longer than the bound. */
static void poll_list_keep_debt(struct cxib_poll_entry *entry)
{
	entry->deficit_ns = min_t(s64, entry->deficit_ns, 0);
}

/**
 * cxib_poll_list_add() - lets a CQ wait for its turn after an event
 * @list: the list
 * @entry: new, or emptied in its last turn; in no list
 *
 * A CQ that is mostly empty is served before the others, but only once a round: a few CQs that
 * empty and fill quickly would otherwise starve the others. An empty CQ keeps its debt for the same
 * reason: a CQ with one completion at a time, each longer than a quantum, would take all the time.
 */
void cxib_poll_list_add(struct cxib_poll_list *list, struct cxib_poll_entry *entry)
{
	unsigned long passed = list->round - entry->round;

	poll_list_keep_debt(entry);
	if (passed) {
		poll_list_repay(list, entry, passed - 1);
		if (!entry->deficit_ns) {
			list_add_tail(&entry->node, &list->fresh);
			return;
		}
		poll_list_repay(list, entry, 1);
	}
	cxib_poll_list_requeue(list, entry);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_add);

/* Lets a CQ that is in no list and whose turn is over wait for the next round. */
void cxib_poll_list_requeue(struct cxib_poll_list *list, struct cxib_poll_entry *entry)
{
	poll_list_keep_debt(entry);
	entry->round = list->round + 1;
	list_add_tail(&entry->node, &list->old);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_requeue);

/*
 * Lets at most @rounds pass at once in which no CQ in @old would get a turn: they may be thousands.
 * Returns their number.
 */
static u64 poll_list_skip_rounds(struct cxib_poll_list *list, u64 rounds)
{
	struct cxib_poll_entry *entry;

	list_for_each_entry(entry, &list->old, node)
		rounds = min_t(u64, rounds, poll_list_rounds_in_debt(list, entry));
	list_for_each_entry(entry, &list->old, node) {
		entry->deficit_ns += rounds * poll_list_turn_ns(list, entry);
		entry->round += rounds;
	}
	return rounds;
}

static struct cxib_poll_entry *poll_list_next_old(struct cxib_poll_list *list)
{
	struct cxib_poll_entry *entry = list_first_entry(&list->old, struct cxib_poll_entry, node);

	if (poll_list_rounds_in_debt(list, entry))
		poll_list_skip_rounds(list, U64_MAX);
	for (;;) {
		entry = list_first_entry(&list->old, struct cxib_poll_entry, node);
		list->round = entry->round;
		entry->deficit_ns += poll_list_turn_ns(list, entry);
		if (entry->deficit_ns > 0)
			return entry;
		entry->round++;
		list_move_tail(&entry->node, &list->old);
	}
}

/*
 * Ends the rounds if no CQ waits, and returns whether that is so. An empty list cancels all debts:
 * no other CQ has waited for the time that they stand for.
 */
bool cxib_poll_list_idle(struct cxib_poll_list *list)
{
	if (!list_empty(&list->fresh) || !list_empty(&list->old))
		return false;
	list->round += CXIB_POLL_MAX_DEBT_NS / list->quantum_ns + 2;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_idle);

/**
 * cxib_poll_list_next() - starts the turn of the next CQ
 * @list: the list
 *
 * The caller polls batches of cxib_poll_entry_batch() completions until cxib_poll_entry_charge()
 * says that the turn is over, then calls cxib_poll_list_requeue(); or until the CQ is empty: then
 * its next event calls cxib_poll_list_add().
 *
 * Return: the entry, removed from the list; NULL if the list is empty
 */
struct cxib_poll_entry *cxib_poll_list_next(struct cxib_poll_list *list)
{
	struct cxib_poll_entry *entry;

	if (cxib_poll_list_idle(list))
		return NULL;
	if (!list_empty(&list->fresh)) {
		entry = list_first_entry(&list->fresh, struct cxib_poll_entry, node);
		entry->round = list->round;
		entry->deficit_ns += poll_list_turn_ns(list, entry);
	} else {
		entry = poll_list_next_old(list);
	}
	list_del_init(&entry->node);
	return entry;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_next);

/*
 * Takes a quantum from the debt of a CQ that is alone in its list and shares the processor with the
 * CQs of other lists: each call stands for a turn that the CQ does without, while
 * cxib_poll_list_next() lets these rounds pass at once. Returns false if the CQ may have a turn, or
 * the list is empty.
 */
bool cxib_poll_list_repay(struct cxib_poll_list *list)
{
	return !list_empty(&list->old) && poll_list_skip_rounds(list, 1);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_repay);

/*
 * How many completions the CQ that has its turn polls before looking at the clock: as many as seem
 * to fit the rest of the turn, 1 to CXIB_POLL_MAX_BATCH.
 */
unsigned int cxib_poll_entry_batch(const struct cxib_poll_entry *entry)
{
	if (!entry->cost_ns || entry->deficit_ns <= 0)
		return 1;
	return clamp_t(u64, div_u64(entry->deficit_ns, entry->cost_ns), 1, CXIB_POLL_MAX_BATCH);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_entry_batch);

/* A high estimate costs one more look at the clock; a low one delays all other CQs. */
static void poll_list_learn_cost(struct cxib_poll_entry *entry, u32 cost_ns)
{
	if (cost_ns > entry->cost_ns)
		entry->cost_ns = cost_ns;
	else
		entry->cost_ns -= (entry->cost_ns - cost_ns) >> LOG_COST_DECAY;
}

/**
 * cxib_poll_entry_charge() - takes the time of a batch from the turn
 * @entry: the CQ that has its turn
 * @completions: completions of the batch
 * @ns: its duration by the caller's clock; any value, also negative
 *
 * Return: whether the turn is over
 */
bool cxib_poll_entry_charge(struct cxib_poll_entry *entry, unsigned int completions, s64 ns)
{
	s64 cost = max_t(s64, ns, (s64)completions * CXIB_POLL_MIN_COST_NS);

	cost = min_t(s64, cost, entry->deficit_ns + CXIB_POLL_MAX_DEBT_NS);
	entry->deficit_ns -= cost;
	if (completions)
		poll_list_learn_cost(entry,
				     min_t(u64, div_u64(cost, completions), CXIB_POLL_MAX_DEBT_NS));
	return entry->deficit_ns <= 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_entry_charge);
