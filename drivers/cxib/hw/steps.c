// SPDX-License-Identifier: GPL-2.0-only
/* Lists of steps. */
#include <kunit/visibility.h>
#include <linux/export.h>

#include "hw/steps.h"

/**
 * cxib_steps_undo() - undoes the first steps of a list in reverse order
 * @list: the list
 * @hw: argument of the steps
 * @taken: number of steps to undo
 */
void cxib_steps_undo(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int taken)
{
	while (taken--)
		if (list->steps[taken].undo)
			list->steps[taken].undo(hw);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_steps_undo);

/**
 * cxib_steps_take() - takes all steps of a list, or none
 * @list: the list
 * @hw: argument of the steps
 * @taken: filled: number of steps that succeeded
 *
 * Return: 0, or the error of the step that failed; the steps before it are undone.
 */
int cxib_steps_take(const struct cxib_step_list *list, struct cxib_hw *hw, unsigned int *taken)
{
	int err;

	for (*taken = 0; *taken < list->count; ++*taken) {
		err = list->steps[*taken].take(hw);
		if (err) {
			cxib_steps_undo(list, hw, *taken);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_steps_take);
