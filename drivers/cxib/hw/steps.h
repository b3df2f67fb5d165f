/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of steps: what has to be done in order, and undone in reverse. A
 * failure at any step undoes exactly the steps before it.
 */
#ifndef CXIB_HW_STEPS_H
#define CXIB_HW_STEPS_H

struct cxib_hw;

/**
 * struct cxib_step - one step
 * @name: what is done, for messages: "failed at <name>"
 * @take: does it; leaves nothing behind if it returns an error
 * @undo: undoes it; NULL if there is nothing to undo
 */
struct cxib_step {
	const char *name;
	int (*take)(struct cxib_hw *hw);
	void (*undo)(struct cxib_hw *hw);
};

/**
 * struct cxib_step_list - steps in order
 * @steps: the steps
 * @count: their number
 */
struct cxib_step_list {
	const struct cxib_step *steps;
	unsigned int count;
};

int cxib_steps_take(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int *taken);
void cxib_steps_undo(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int taken);

#endif
