// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device's clock and the host's: a page that tells programs how they go
 * together, so that they can make a time of the stamp in a completion.
 *
 * The page says when it was written last, in both clocks. It has to be written
 * before the product of cycles and multiplier overflows.
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

#include "user/clock.h"
#include "verbs/verbs.h"

/* Where the init segment has the clock: upper and lower half. */
#define TIMER_HIGH	0x1000
#define TIMER_LOW	0x1004

/* Bits of the clock that count; the shift keeps 23 bits of the multiplier. */
#define CYCLE_BITS	41
#define MULTIPLIER_SHIFT	21

/* An update that takes place is odd in this part of the page's first word. */
#define UPDATING	1U

/**
 * struct cxib_clock - the page, and what keeps it right
 * @ibdev: RDMA device
 * @info: the page
 * @cycles: how the device's clock is read
 * @counter: how it goes with the host's
 * @period: time between updates, jiffies
 * @update: writes the page
 */
struct cxib_clock {
	struct cxib_ibdev *ibdev;
	struct mlx5_ib_clock_info *info;
	struct cyclecounter cycles;
	struct timecounter counter;
	unsigned long period;
	struct delayed_work update;
};

/* The upper half is read again when the lower one may have run over meanwhile. */
static u64 read_timer(const struct cyclecounter *cycles)
{
	const struct cxib_clock *clock = container_of(cycles, struct cxib_clock, cycles);
	struct cxib_bus *bus = clock->ibdev->hw->bus;
	u32 high = cxib_bus_read(bus, TIMER_HIGH);
	u32 low = cxib_bus_read(bus, TIMER_LOW);
	u32 again = cxib_bus_read(bus, TIMER_HIGH);

	if (again != high)
		low = cxib_bus_read(bus, TIMER_LOW);
	return ((u64)again << 32 | low) & CLOCKSOURCE_MASK(CYCLE_BITS);
}

/* Readers take what they have read if the first word was even, and is the same afterwards. */
static void write_page(struct cxib_clock *clock)
{
	struct mlx5_ib_clock_info *info = clock->info;
	u32 sign = info->sign;

	/* Readers see that before they see any change. */
	smp_store_mb(info->sign, sign | UPDATING);
	info->cycles = clock->counter.cycle_last;
	info->mult = clock->cycles.mult;
	info->nsec = clock->counter.nsec;
	info->frac = clock->counter.frac;
	/* Pairs with the readers' barrier between this word and the rest. */
	smp_store_release(&info->sign, (sign | UPDATING) + 1);
}

static void update(struct work_struct *work)
{
	struct cxib_clock *clock = container_of(to_delayed_work(work), struct cxib_clock, update);

	timecounter_read(&clock->counter);
	write_page(clock);
	schedule_delayed_work(&clock->update, clock->period);
}

/* Half of the time after which cycles times multiplier has more than 63 bits. */
static u64 update_period_ns(const struct cyclecounter *cycles)
{
	u64 max = min(div_u64(S64_MAX, cycles->mult), cycles->mask);
	u64 unused = 0;

	return cyclecounter_cyc2ns(cycles, max / 2, 0, &unused) / 2;
}

static void set_up(struct cxib_clock *clock)
{
	u64 period;

	clock->cycles = (struct cyclecounter){
		.read = read_timer,
		.mask = CLOCKSOURCE_MASK(CYCLE_BITS),
		.shift = MULTIPLIER_SHIFT,
		.mult = clocksource_khz2mult(clock->ibdev->hw->caps.device_frequency_khz,
					     MULTIPLIER_SHIFT),
	};
	timecounter_init(&clock->counter, &clock->cycles, ktime_get_real_ns());
	period = update_period_ns(&clock->cycles);
	clock->period = max(nsecs_to_jiffies(period), 1UL);
	clock->info->mask = clock->cycles.mask;
	clock->info->shift = clock->cycles.shift;
	clock->info->overflow_period = clock->period;
}

/**
 * cxib_clock_start() - makes the page, and keeps it right
 * @ibdev: RDMA device
 *
 * Without memory, or without a clock, there is none: programs can do without.
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
	set_up(clock);
	write_page(clock);
	INIT_DELAYED_WORK(&clock->update, update);
	schedule_delayed_work(&clock->update, clock->period);
	ibdev->clock = clock;
}

/**
 * cxib_clock_stop() - the reverse; programs keep the page as long as they map it
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
 * cxib_clock_page() - the page
 * @ibdev: RDMA device
 *
 * Return: NULL if there is none.
 */
struct page *cxib_clock_page(const struct cxib_ibdev *ibdev)
{
	return ibdev->clock ? virt_to_page(ibdev->clock->info) : NULL;
}
