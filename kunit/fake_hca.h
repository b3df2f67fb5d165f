/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated HCA with the registers, command queue, firmware pages, EQs and interrupts that
 * bring-up needs. Cases can inject faults into its command completions.
 */
#ifndef CXIB_KUNIT_FAKE_HCA_H
#define CXIB_KUNIT_FAKE_HCA_H

#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "hw/bus.h"
#include "hw/capabilities.h"
#include "hw/command_interface.h"
#include "kernel_kunit.h"

#define FAKE_SLOTS		32
#define FAKE_LOG_SIZE		256
#define FAKE_EQS		16
#define FAKE_VECTORS		8
#define FAKE_REGISTER_BYTES	0x20000
#define FAKE_FIRST_UAR		0x10
#define FAKE_BOOT_PAGES		6
#define FAKE_INIT_PAGES		20
#define FAKE_FIRMWARE_MAJOR	16
#define FAKE_FIRMWARE_MINOR	35
#define FAKE_FIRMWARE_SUBMINOR	4030
#define FAKE_BOARD_ID		"FAKE_0000000001"
#define FAKE_LOG_MAX_EQ		8

/* Syndrome of FAKE_FAULT_STATUS. */
#define FAKE_STATUS_SYND	0x1234

/* Value of all output bytes after FAKE_FAULT_GARBAGE. */
#define FAKE_GARBAGE		0xa5

/* Faults of a command completion. */
enum fake_fault {
	FAKE_FAULT_NONE,
	FAKE_FAULT_STATUS,
	FAKE_FAULT_UNKNOWN_STATUS,
	FAKE_FAULT_DELIVERY,
	FAKE_FAULT_TOKEN,
	FAKE_FAULT_MAILBOX_TOKEN,
	FAKE_FAULT_LONG,
	FAKE_FAULT_SHORT,
	FAKE_FAULT_GARBAGE,
	FAKE_FAULT_NEVER,
	FAKE_FAULTS,
};

struct cxib_command_queue;
struct fake_hca;

/* Executes a command in place of the device. Returns its status. */
typedef u8 (*fake_script)(struct fake_hca *hca, const void *in, u32 in_length, void *out,
			  u32 out_length);

struct fake_slot {
	struct fake_hca *hca;
	struct work_struct work;
	unsigned int number;
};

/**
 * struct fake_eq - an EQ
 * @live: the EQ exists
 * @ring: memory of the EQ
 * @log_size: log2 of the number of EQEs
 * @producer: number of EQEs written
 * @cons_index: last consumer index that the driver wrote
 * @armed: the next event fires the interrupt
 * @vector: interrupt vector
 * @events: bit n: the EQ receives events of type n
 * @uid: uid of the owner
 */
struct fake_eq {
	bool live;
	void *ring;
	u32 log_size;
	u32 producer;
	u32 cons_index;
	bool armed;
	u32 vector;
	u64 events;
	u16 uid;
};

/* @cpu: CPU that the driver requested for the vector; negative: any */
struct fake_irq {
	irq_handler_t handler;
	void *context;
	int cpu;
};

/**
 * struct fake_hca - the device
 * @bus: bus access of the driver
 * @test: the running case
 * @registers: words of BAR 0, in host order
 * @queue: the command queue; NULL until the driver has written its address
 * @log_size: log2 of the number of entries in @queue
 * @log_stride: log2 of the distance of two entries in bytes
 * @mutex: serializes commands
 * @eq_lock: protects @eqs
 * @refire: fires the interrupts of armed EQs that are not empty
 * @hold: commands wait for fake_hca_release()
 * @held: bit n: the command in slot n waits
 * @asynchronous: work items execute the commands, in any order
 * @slots: the work items of @asynchronous
 * @announce: called for each completion that no EQ receives; may be NULL
 * @gone: the device was removed: reads return all-ones, writes have no effect
 * @dma: bus mastering is on
 * @fault: fault to inject
 * @fault_opcode: opcode of the command that gets @fault; 0: any
 * @fault_at: number of the command that gets @fault, counted from 0
 * @always: every command from @fault_at on gets @fault
 * @chance: percentage of commands with a random fault, and of commands with a random event after
 *	them
 * @random: state of the random numbers for @chance
 * @commands: number of commands executed
 * @log: opcodes of the first commands
 * @complaints: rules that the driver has broken
 * @enabled: between ENABLE_HCA and DISABLE_HCA
 * @initialized: between INIT_HCA and TEARDOWN_HCA
 * @issi: mask of supported ISSIs; 0: QUERY_ISSI is unknown
 * @boot_pages: pages wanted at boot
 * @init_pages: pages wanted by INIT_HCA
 * @pages: pages that the device holds, by page number
 * @page_count: number of @pages
 * @keep_pages: the device returns no pages
 * @empty_outputs: number of RETURN_PAGES commands that return no pages
 * @maximum: maximum capabilities
 * @current_caps: current capabilities
 * @general_2: second general page
 * @odp: ODP capabilities; after SET_HCA_CAP the ones that the driver has set
 * @eqs: EQs by number
 * @irqs: handlers by vector
 * @vectors: interrupt vectors of the device
 * @vectors_given: vectors that the driver has allocated
 * @uars: allocated UAR pages
 * @resets: number of resets, including failed ones
 * @dma_at_reset: @dma at the last reset
 * @reset_error: error of the next resets, or 0
 * @script: executes the commands; NULL: the device does
 * @script_context: data of @script
 */
struct fake_hca {
	struct cxib_bus bus;
	struct kunit *test;
	u32 *registers;
	void *queue;
	unsigned int log_size;
	unsigned int log_stride;
	struct mutex mutex; /* serializes commands */
	spinlock_t eq_lock; /* protects eqs */
	struct work_struct refire;
	bool hold;
	unsigned long held;
	bool asynchronous;
	struct fake_slot slots[FAKE_SLOTS];
	void (*announce)(struct fake_hca *hca, u32 slots);
	bool gone;
	bool dma;
	enum fake_fault fault;
	u16 fault_opcode;
	unsigned int fault_at;
	bool always;
	unsigned int chance;
	struct rnd_state random;
	unsigned int commands;
	u16 log[FAKE_LOG_SIZE];
	unsigned int complaints;
	bool enabled;
	bool initialized;
	u32 issi;
	u32 boot_pages;
	u32 init_pages;
	struct xarray pages;
	u32 page_count;
	bool keep_pages;
	unsigned int empty_outputs;
	struct hw_cmd_hca_cap *maximum;
	struct hw_cmd_hca_cap *current_caps;
	struct hw_cmd_hca_cap_2 general_2;
	struct hw_odp_cap odp;
	struct fake_eq eqs[FAKE_EQS];
	struct fake_irq irqs[FAKE_VECTORS];
	unsigned int vectors;
	unsigned int vectors_given;
	unsigned int uars;
	unsigned int resets;
	bool dma_at_reset;
	int reset_error;
	fake_script script;
	void *script_context;
};

struct fake_hca *fake_hca_create(struct kunit *test);
void fake_hca_want_few_pages(struct fake_hca *hca);
void fake_hca_release(struct fake_hca *hca);
void fake_hca_fail(struct fake_hca *hca, enum fake_fault fault, unsigned int at);
void fake_hca_expect_clean(struct fake_hca *hca);
void fake_hca_expect_commands(struct fake_hca *hca, const u16 *opcodes, unsigned int count);
void fake_hca_start_queue(struct fake_hca *hca, struct cxib_command_queue *queue);
void *fake_hca_memory(struct fake_hca *hca, u64 address);
const char *fake_fault_name(enum fake_fault fault);
__printf(2, 3) void fake_hca_complain(struct fake_hca *hca, const char *format, ...);

/* fake_queues.c */
u8 fake_create_eq(struct fake_hca *hca, const void *in, void *out);
u8 fake_destroy_eq(struct fake_hca *hca, const void *in, void *out);
void fake_refire(struct work_struct *work);
void fake_eq_doorbell(struct fake_hca *hca, u32 offset, u32 value);
bool fake_hca_post(struct fake_hca *hca, u8 type, u8 sub_type, const void *data, size_t length);
void fake_hca_post_to(struct fake_hca *hca, unsigned int eqn, u8 type, u8 sub_type,
		      const void *data, size_t length);
void fake_hca_post_random(struct fake_hca *hca);
void fake_hca_request_pages(struct fake_hca *hca, s32 count);
void fake_hca_unconfigure(struct fake_hca *hca);
void fake_hca_reset(struct fake_hca *hca);
extern const struct cxib_bus_ops fake_bus_ops;
void fake_command_doorbell(struct fake_hca *hca, u32 vector);
void fake_queue_address(struct fake_hca *hca);

#endif
