// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module: finds two HCAs and runs cases by name.
 *
 * Files in debugfs below cxib_kverbs/: `cases` lists the names. Writing "NAME [seed=N] [rounds=N]"
 * to `run` runs a case, and fails if the case fails. `report` then contains the complaint.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kverbs.h"

#define DEVICES		2
#define COMMAND_SIZE	128
#define REPORT_SIZE	SZ_16K

unsigned int kverbs_patience = 120;
module_param_named(patience, kverbs_patience, uint, 0600);
MODULE_PARM_DESC(patience, "seconds that a case waits for something, for example a completion");

static DEFINE_MUTEX(lock); /* protects all variables below */
static struct ib_device *devices[DEVICES];
static struct kverbs_report report;
static struct dentry *directory;

static const struct kverbs_case *const suites[] = {
	kverbs_traffic_cases,
	kverbs_key_cases,
	kverbs_address_cases,
	kverbs_error_cases,
	kverbs_arming_cases,
	kverbs_drain_cases,
#ifdef KVERBS_RESIZING
	kverbs_resize_cases,
#endif
	kverbs_xrc_cases,
	kverbs_cq_cases,
	kverbs_concurrent_cases,
	kverbs_cost_cases,
	kverbs_signature_cases,
	kverbs_moderation_cases,
	kverbs_context_cases,
	kverbs_pipelining_cases,
	kverbs_pipelining_stop_cases,
	kverbs_pipelining_thread_cases,
	kverbs_pipelining_error_cases,
};

static void add_line(struct kverbs_report *to, const char *format, va_list values)
{
	to->length += vscnprintf(to->text + to->length, to->size - to->length, format, values);
	to->length += scnprintf(to->text + to->length, to->size - to->length, "\n");
}

/**
 * kverbs_fail() - adds a complaint to a report
 * @to: report
 * @format: text without newline
 *
 * Return: -EBADMSG.
 */
int kverbs_fail(struct kverbs_report *to, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	add_line(to, format, values);
	va_end(values);
	return -EBADMSG;
}

/**
 * kverbs_say() - adds a line to a report
 * @to: report
 * @format: text without newline
 */
void kverbs_say(struct kverbs_report *to, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	add_line(to, format, values);
	va_end(values);
}

/**
 * kverbs_device() - returns an HCA
 * @index: 0 or 1
 *
 * Return: the HCA, or NULL if there are fewer.
 */
struct ib_device *kverbs_device(unsigned int index)
{
	return devices[index];
}

static const struct kverbs_case *find_case(const char *name)
{
	const struct kverbs_case *test;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suites); i++)
		for (test = suites[i]; test->name; test++)
			if (!strcmp(test->name, name))
				return test;
	return NULL;
}

static int parse_setting(char *word, struct kverbs_settings *settings)
{
	char *value = strchr(word, '=');

	if (!value)
		return kverbs_fail(&report, "setting '%s' has no value", word);
	*value++ = '\0';
	if (!strcmp(word, "seed"))
		return kstrtou64(value, 0, &settings->seed);
	if (!strcmp(word, "rounds"))
		return kstrtou32(value, 0, &settings->rounds);
	return kverbs_fail(&report, "there is no setting '%s', there are seed and rounds", word);
}

static int run_command(char *command)
{
	struct kverbs_settings settings = { .seed = 1, .rounds = 1 };
	const struct kverbs_case *test;
	char *word;
	int err;

	lockdep_assert_held(&lock);

	report.length = 0;
	report.text[0] = '\0';
	test = find_case(strsep(&command, " "));
	if (!test)
		return kverbs_fail(&report, "there is no such case");
	while ((word = strsep(&command, " "))) {
		err = parse_setting(word, &settings);
		if (err)
			return err;
	}
	if (!devices[0] || !devices[1])
		return kverbs_fail(&report, "there are not two HCAs");
	return test->run(&report, &settings);
}

static ssize_t run_write(struct file *file, const char __user *text, size_t size, loff_t *offset)
{
	char command[COMMAND_SIZE];
	int err;

	if (size >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, text, size))
		return -EFAULT;
	command[size] = '\0';
	mutex_lock(&lock);
	err = run_command(strim(command));
	mutex_unlock(&lock);
	return err ?: size;
}

static const struct file_operations run_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static int report_show(struct seq_file *file, void *unused)
{
	guard(mutex)(&lock);
	seq_puts(file, report.text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static int cases_show(struct seq_file *file, void *unused)
{
	const struct kverbs_case *test;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(suites); i++)
		for (test = suites[i]; test->name; test++)
			seq_printf(file, "%s\n", test->name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(cases);

static int add_device(struct ib_device *device)
{
	unsigned int i;

	guard(mutex)(&lock);
	for (i = 0; i < DEVICES; i++)
		if (!devices[i]) {
			devices[i] = device;
			return 0;
		}
	return -EOPNOTSUPP;
}

static void remove_device(struct ib_device *device, void *unused)
{
	unsigned int i;

	guard(mutex)(&lock);
	for (i = 0; i < DEVICES; i++)
		if (devices[i] == device)
			devices[i] = NULL;
}

static struct ib_client client = {
	.name = "cxib_kverbs",
	.add = add_device,
	.remove = remove_device,
};

static int __init start(void)
{
	int err;

	report.size = REPORT_SIZE;
	report.text = kzalloc(report.size, GFP_KERNEL);
	if (!report.text)
		return -ENOMEM;
	err = ib_register_client(&client);
	if (err) {
		kfree(report.text);
		return err;
	}
	directory = debugfs_create_dir("cxib_kverbs", NULL);
	debugfs_create_file("run", 0200, directory, NULL, &run_operations);
	debugfs_create_file("report", 0400, directory, NULL, &report_fops);
	debugfs_create_file("cases", 0400, directory, NULL, &cases_fops);
	return 0;
}
module_init(start);

static void __exit stop(void)
{
	debugfs_remove(directory);
	ib_unregister_client(&client);
	kfree(report.text);
}
module_exit(stop);

MODULE_DESCRIPTION("tests kernel verbs between two HCAs");
MODULE_LICENSE("GPL");
