// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module. Files in debugfs below bench_polling/: `contexts` lists the contexts. Writing
 * "MEASUREMENT NAME=VALUE..." to `run` runs a measurement, and `report` then has its result.
 * MEASUREMENT is "load" (context, hogs, period_us, seconds, completions), "alone" (context,
 * samples) or "core" (context core-workqueue, samples).
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "polling.h"

#define COMMAND_SIZE	256
#define REPORT_SIZE	SZ_4M
/* Limits of memory and time. */
#define MIN_PERIOD_US		100
#define MAX_COST_US		10000

static DEFINE_MUTEX(lock); /* protects all variables below */
static struct ib_device *device;
static char *text;
static size_t length;
static struct dentry *directory;

/**
 * polling_say() - adds a line to the report
 * @format: text without newline
 */
void polling_say(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	length += vscnprintf(text + length, REPORT_SIZE - length, format, values);
	va_end(values);
	length += scnprintf(text + length, REPORT_SIZE - length, "\n");
}

static int parse_costs(char *value, struct polling_settings *settings)
{
	char *word;
	int err;

	settings->hogs = 0;
	while ((word = strsep(&value, ","))) {
		if (settings->hogs == POLLING_MAX_HOGS)
			return -EINVAL;
		err = kstrtou32(word, 0, &settings->costs_us[settings->hogs]);
		if (err)
			return err;
		if (settings->costs_us[settings->hogs++] > MAX_COST_US)
			return -EINVAL;
	}
	return 0;
}

static int parse_setting(char *word, struct polling_settings *settings)
{
	char *value = strchr(word, '=');

	if (!value)
		return -EINVAL;
	*value++ = '\0';
	if (!strcmp(word, "context")) {
		settings->context = polling_context_find(value);
		return settings->context ? 0 : -ENOENT;
	}
	if (!strcmp(word, "hogs"))
		return parse_costs(value, settings);
	if (!strcmp(word, "period_us"))
		return kstrtou32(value, 0, &settings->period_us);
	if (!strcmp(word, "seconds"))
		return kstrtou32(value, 0, &settings->seconds);
	if (!strcmp(word, "completions"))
		return kstrtou32(value, 0, &settings->completions);
	if (!strcmp(word, "samples"))
		return kstrtou32(value, 0, &settings->samples);
	return -EINVAL;
}

static int parse(char *command, struct polling_settings *settings)
{
	char *word;
	int err;

	while ((word = strsep(&command, " "))) {
		err = parse_setting(word, settings);
		if (err) {
			polling_say("setting '%s': error %d", word, err);
			return err;
		}
	}
	if (settings->context && settings->seconds && settings->seconds <= POLLING_MAX_SECONDS &&
	    settings->period_us >= MIN_PERIOD_US)
		return 0;
	polling_say("no context, or not 1 to %u s, or a period below %u us", POLLING_MAX_SECONDS, MIN_PERIOD_US);
	return -EINVAL;
}

static int measure(const char *what, const struct polling_settings *settings)
{
	struct ib_pd *pd;
	int err = -EINVAL;

	if (!device)
		return -ENODEV;
	pd = ib_alloc_pd(device, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	if (!strcmp(what, "load"))
		err = polling_measure_load(pd, settings);
	else if (!strcmp(what, "alone"))
		err = polling_measure_alone(pd, settings);
	else if (!strcmp(what, "core"))
		err = polling_measure_core(pd, settings);
	ib_dealloc_pd(pd);
	return err;
}

static int run_command(char *command)
{
	struct polling_settings settings = { .period_us = 5000, .seconds = 1, .samples = 1 };
	char *what = strsep(&command, " ");
	int err;

	length = 0;
	text[0] = '\0';
	err = parse(command, &settings);
	if (err)
		return err;
	err = measure(what, &settings);
	if (err)
		polling_say("%s failed: error %d", what, err);
	return err;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t size, loff_t *offset)
{
	char command[COMMAND_SIZE];
	int err;

	if (size >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, from, size))
		return -EFAULT;
	command[size] = '\0';
	guard(mutex)(&lock);
	err = run_command(strim(command));
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
	seq_puts(file, text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static int contexts_show(struct seq_file *file, void *unused)
{
	const struct polling_context *context;

	for (context = polling_contexts; context->name; context++)
		seq_printf(file, "%s\n", context->name);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(contexts);

static int add_device(struct ib_device *added)
{
	guard(mutex)(&lock);
	if (device)
		return -EOPNOTSUPP;
	device = added;
	return 0;
}

static void remove_device(struct ib_device *removed, void *unused)
{
	guard(mutex)(&lock);
	device = NULL;
}

static struct ib_client client = {
	.name = "bench_polling",
	.add = add_device,
	.remove = remove_device,
};

static int __init start(void)
{
	int err;

	text = vzalloc(REPORT_SIZE);
	if (!text)
		return -ENOMEM;
	err = ib_register_client(&client);
	if (err) {
		vfree(text);
		return err;
	}
	directory = debugfs_create_dir("bench_polling", NULL);
	debugfs_create_file("run", 0200, directory, NULL, &run_operations);
	debugfs_create_file("report", 0400, directory, NULL, &report_fops);
	debugfs_create_file("contexts", 0400, directory, NULL, &contexts_fops);
	return 0;
}
module_init(start);

static void __exit stop(void)
{
	debugfs_remove(directory);
	ib_unregister_client(&client);
	vfree(text);
}
module_exit(stop);

MODULE_DESCRIPTION("measures polling contexts of CQs");
MODULE_LICENSE("GPL");
