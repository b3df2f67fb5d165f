/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lists of steps that are taken in order and undone in reverse. A failure undoes exactly the steps
 * before the one that failed.
 */
#ifndef CXIB_HW_STEPS_H
#define CXIB_HW_STEPS_H

struct cxib_hw;

/**
 * struct cxib_step - one step
 * @name: name of the step for messages: a command or an object
 * @take: takes the step; has undone its work if it returns an error
 * @undo: undoes the step; NULL if there is nothing to undo
 */
struct cxib_step {
	const char *name;
	int (*take)(struct cxib_hw *hw);
	void (*undo)(struct cxib_hw *hw);
};

/**
 * struct cxib_step_list - steps in order
 * @steps: steps, in order
 * @count: number of @steps
 */
struct cxib_step_list {
	const struct cxib_step *steps;
	unsigned int count;
};

int cxib_steps_take(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int *taken);
void cxib_steps_undo(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int taken);

#endif
