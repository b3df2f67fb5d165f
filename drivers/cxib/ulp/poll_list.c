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
	return entry->deficit_ns > 0 ?
		       0 :
		       div64_u64(-entry->deficit_ns, poll_list_turn_ns(list, entry));
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

/**
 * cxib_poll_list_init() - makes an empty list
 * @list: the list
 * @quantum_ns: time that a CQ of weight 1 gets in a round; not 0
 */
void cxib_poll_list_init(struct cxib_poll_list *list, u32 quantum_ns)
{
	INIT_LIST_HEAD(&list->fresh);
	INIT_LIST_HEAD(&list->old);
	list->quantum_ns = quantum_ns;
	/* Not the round of new entries: those have not been served in it. */
	list->round = 1;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_init);

/**
 * cxib_poll_entry_init() - makes an entry that is in no list
 * @entry: the entry
 * @weight: quanta in a round; not 0
 *
 * Needed again before the entry is added to another list, whose rounds are different ones.
 */
void cxib_poll_entry_init(struct cxib_poll_entry *entry, u32 weight)
{
	*entry = (struct cxib_poll_entry){ .weight = weight };
	INIT_LIST_HEAD(&entry->node);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_entry_init);

/**
 * cxib_poll_list_add() - lets a CQ wait for its turn after an event
 * @list: the list
 * @entry: new, or emptied since its last turn; in no list
 *
 * A CQ that is mostly empty is served before the others, but only once a round: a few CQs that
 * empty and fill quickly would otherwise starve the others. An empty CQ keeps its debt for the same
 * reason: a CQ with one completion at a time, each longer than a quantum, would take all the time.
 */
void cxib_poll_list_add(struct cxib_poll_list *list, struct cxib_poll_entry *entry)
{
	unsigned long passed = list->round - entry->round;

	if (passed)
		poll_list_repay(list, entry, passed - 1);
	if (passed && !entry->deficit_ns) {
		list_add_tail(&entry->node, &list->fresh);
		return;
	}
	if (passed)
		poll_list_repay(list, entry, 1);
	cxib_poll_list_requeue(list, entry);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_add);

/**
 * cxib_poll_list_requeue() - lets a CQ whose turn is over wait for the next round
 * @list: the list
 * @entry: the entry; in no list
 *
 * Time that the turn left unused is lost: saved, it would make a later turn longer than the bound.
 */
void cxib_poll_list_requeue(struct cxib_poll_list *list, struct cxib_poll_entry *entry)
{
	entry->deficit_ns = min_t(s64, entry->deficit_ns, 0);
	entry->round = list->round + 1;
	list_add_tail(&entry->node, &list->old);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_requeue);

/* Skips the rounds in which no CQ in @old would get a turn: they may be thousands. */
static void poll_list_skip_rounds(struct cxib_poll_list *list)
{
	struct cxib_poll_entry *entry;
	u64 rounds = U64_MAX;

	list_for_each_entry(entry, &list->old, node)
		rounds = min_t(u64, rounds, poll_list_rounds_in_debt(list, entry));
	list_for_each_entry(entry, &list->old, node) {
		entry->deficit_ns += rounds * poll_list_turn_ns(list, entry);
		entry->round += rounds;
	}
}

static struct cxib_poll_entry *poll_list_next_old(struct cxib_poll_list *list)
{
	struct cxib_poll_entry *entry = list_first_entry(&list->old, struct cxib_poll_entry, node);

	if (poll_list_rounds_in_debt(list, entry))
		poll_list_skip_rounds(list);
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

/**
 * cxib_poll_list_idle() - end the rounds if no CQ waits
 * @list: the list
 *
 * An empty list cancels all debts: no other CQ has waited for the time that they stand for.
 *
 * Return: true if the list is empty.
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
 * says that the turn is over, then calls cxib_poll_list_requeue(); or until the CQ is empty, then
 * calls cxib_poll_entry_emptied().
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

/**
 * cxib_poll_list_repay() - take a quantum from the debt of a CQ that is alone in its list
 * @list: the list
 *
 * For a list whose CQ shares the processor with those of other lists: each call stands for a turn
 * that the CQ does without. cxib_poll_list_next() would let the rounds pass at once.
 *
 * Return: true if the CQ had a debt; false if it may have a turn, or the list is empty.
 */
bool cxib_poll_list_repay(struct cxib_poll_list *list)
{
	struct cxib_poll_entry *entry = list_first_entry_or_null(&list->old,
								 struct cxib_poll_entry, node);

	if (!entry || !poll_list_rounds_in_debt(list, entry))
		return false;
	poll_list_repay(list, entry, 1);
	entry->round++;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_list_repay);

/**
 * cxib_poll_entry_batch() - how many completions to poll before looking at the clock
 * @entry: the CQ that has its turn
 *
 * Return: 1 to CXIB_POLL_MAX_BATCH; as many as seem to fit the rest of the turn
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

/**
 * cxib_poll_entry_emptied() - ends the turn of a CQ that has no completions left
 * @entry: the entry; in no list
 *
 * Time that the turn left unused is lost, a debt is kept.
 */
void cxib_poll_entry_emptied(struct cxib_poll_entry *entry)
{
	entry->deficit_ns = min_t(s64, entry->deficit_ns, 0);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_entry_emptied);
