// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clock info page: maps device clock cycles to host time, so that user space
 * can convert the time stamps of CQEs.
 *
 * The page holds the last update in both clocks. It must be updated before the
 * product of cycles and multiplier overflows.
 */
#include <linux/clocksource.h>
#include <linux/io.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timecounter.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>
#include <rdma/mlx5-abi.h>

#include "hw/command_interface.h"
#include "user/clock.h"
#include "verbs/verbs.h"

/* Number of significant bits of the timer; with the shift below, the multiplier has 23 bits. */
#define CYCLE_BITS	41
#define MULTIPLIER_SHIFT	21

/* Set in the sign word while an update is in progress. */
#define UPDATING	1U

/**
 * struct cxib_clock - clock info page and its updates
 * @ibdev: RDMA device
 * @info: the page
 * @cycles: reads the device clock
 * @counter: relation of device clock and host clock
 * @period: update interval, jiffies
 * @update: updates the page every @period
 */
struct cxib_clock {
	struct cxib_ibdev *ibdev;
	struct mlx5_ib_clock_info *info;
	struct cyclecounter cycles;
	struct timecounter counter;
	unsigned long period;
	struct delayed_work update;
};

/* Reads the lower half again if it may have wrapped between the reads. */
#ifdef CXIB_LACKS_CYCLECOUNTER_WRITABLE
static u64 clock_read_timer(const struct cyclecounter *cycles)
#else
static u64 clock_read_timer(struct cyclecounter *cycles)
#endif
{
	const struct cxib_clock *clock = container_of(cycles, struct cxib_clock, cycles);
	struct cxib_bus *bus = clock->ibdev->hw->bus;
	u32 high = cxib_bus_read(bus, HW_TIMER_OFFSET_INTERNAL_H);
	u32 low = cxib_bus_read(bus, HW_TIMER_OFFSET_INTERNAL_L);
	u32 again = cxib_bus_read(bus, HW_TIMER_OFFSET_INTERNAL_H);

	if (again != high)
		low = cxib_bus_read(bus, HW_TIMER_OFFSET_INTERNAL_L);
	return ((u64)again << 32 | low) & CLOCKSOURCE_MASK(CYCLE_BITS);
}

/* Readers accept a snapshot if the sign word was even before it and is unchanged after it. */
static void clock_write_page(struct cxib_clock *clock)
{
	struct mlx5_ib_clock_info *info = clock->info;
	u32 sign = info->sign;

	/* The odd sign word must be visible before any changed field. */
	smp_store_mb(info->sign, sign | UPDATING);
	info->cycles = clock->counter.cycle_last;
	info->mult = clock->cycles.mult;
	info->nsec = clock->counter.nsec;
	info->frac = clock->counter.frac;
	/* Pairs with the barrier of readers between the sign word and the other fields. */
	smp_store_release(&info->sign, (sign | UPDATING) + 1);
}

static void clock_update_fn(struct work_struct *work)
{
	struct cxib_clock *clock = container_of(to_delayed_work(work), struct cxib_clock, update);

	timecounter_read(&clock->counter);
	clock_write_page(clock);
	schedule_delayed_work(&clock->update, clock->period);
}

/* Returns half of the time after which cycles * mult exceeds 63 bits. */
static u64 clock_update_period_ns(const struct cyclecounter *cycles)
{
	u64 max = min(div_u64(S64_MAX, cycles->mult), cycles->mask);
	u64 unused = 0;

	return cyclecounter_cyc2ns(cycles, max / 2, 0, &unused) / 2;
}

static void clock_init(struct cxib_clock *clock)
{
	u64 period;

	clock->cycles = (struct cyclecounter){
		.read = clock_read_timer,
		.mask = CLOCKSOURCE_MASK(CYCLE_BITS),
		.shift = MULTIPLIER_SHIFT,
		.mult = clocksource_khz2mult(clock->ibdev->hw->caps.device_frequency_khz,
					     MULTIPLIER_SHIFT),
	};
	timecounter_init(&clock->counter, &clock->cycles, ktime_get_real_ns());
	period = clock_update_period_ns(&clock->cycles);
	clock->period = max(nsecs_to_jiffies(period), 1UL);
	clock->info->mask = clock->cycles.mask;
	clock->info->shift = clock->cycles.shift;
	clock->info->overflow_period = clock->period;
}

/**
 * cxib_clock_start() - allocates the clock info page and starts its updates
 * @ibdev: RDMA device; @clock is set
 *
 * The page is optional for user space: without memory or a device clock, @clock
 * stays NULL.
 */
void cxib_clock_start(struct cxib_ibdev *ibdev)
{
	struct cxib_clock *clock;

	if (!ibdev->hw->caps.device_frequency_khz)
		return;
	clock = kzalloc(sizeof(*clock), GFP_KERNEL);
	if (!clock)
		return;
	clock->info = (void *)get_zeroed_page(GFP_KERNEL);
	if (!clock->info) {
		kfree(clock);
		return;
	}
	clock->ibdev = ibdev;
	clock_init(clock);
	clock_write_page(clock);
	INIT_DELAYED_WORK(&clock->update, clock_update_fn);
	schedule_delayed_work(&clock->update, clock->period);
	ibdev->clock = clock;
}

/**
 * cxib_clock_stop() - undo cxib_clock_start(); the page lives until its last munmap
 * @ibdev: RDMA device
 */
void cxib_clock_stop(struct cxib_ibdev *ibdev)
{
	struct cxib_clock *clock = ibdev->clock;

	if (!clock)
		return;
	ibdev->clock = NULL;
	cancel_delayed_work_sync(&clock->update);
	free_page((unsigned long)clock->info);
	kfree(clock);
}

/**
 * cxib_clock_page() - returns the clock info page
 * @ibdev: RDMA device
 *
 * Return: the page, owned by @ibdev; NULL if there is none.
 */
struct page *cxib_clock_page(const struct cxib_ibdev *ibdev)
{
	return ibdev->clock ? virt_to_page(ibdev->clock->info) : NULL;
}
