// SPDX-License-Identifier: GPL-2.0-only
/* Device capabilities: requirements of the driver, and what the driver configures. */
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/device_caps.h"
#include "kernel_kunit.h"

/* The largest WQE that a case lets the device report. */
#define WQE_BYTES	777

/* mlx5_core configures this number by default: handle_hca_cap(). */
#define LOG_QPS		18

/* WQE counters have 16 bits, so a full ring of 2^16 WQEBBs would look empty. */
#define LOG_WQES	15

/* QUERY_HCA_CAP for maximum and current values; SET_HCA_CAP follows. */
#define QUERIES		2

struct fixture {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	struct cxib_device_caps caps;
};

static int device_caps_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	test->priv = fixture;
	return 0;
}

static int decode(struct fixture *fixture)
{
	return cxib_device_caps_decode(fixture->hca->bus.dev, fixture->hca->current_caps,
				       &fixture->caps);
}

/* The fake HCA supports RC, but not XRC. */
static void caps_decode_stores_device_values(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_max_wqe_sz_sq(fixture->hca->current_caps, WQE_BYTES);
	KUNIT_EXPECT_EQ(test, 0, decode(fixture));
	KUNIT_EXPECT_EQ(test, fixture->caps.max_wqe_sz_sq, WQE_BYTES);
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_eq, FAKE_LOG_MAX_EQ);
	KUNIT_EXPECT_EQ(test, fixture->caps.rc, 1);
	KUNIT_EXPECT_EQ(test, fixture->caps.xrc, 0);
}

static void caps_configure_sets_wanted_values(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_log_max_qp(fixture->hca->maximum, LOG_QPS + 1);
	hw_cmd_hca_cap_set_cmdif_checksum(fixture->hca->current_caps, 3);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, LOG_QPS, hw_cmd_hca_cap_get_log_max_qp(fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, 0, hw_cmd_hca_cap_get_cmdif_checksum(fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_qp, LOG_QPS);
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, QUERIES + 1);
}

/* mlx5_core does this with dct in handle_hca_cap(). */
static void caps_configure_enables_what_maximum_has(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_dct(fixture->hca->maximum, 1);
	hw_cmd_hca_cap_set_drain_sigerr(fixture->hca->maximum, 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, 1, hw_cmd_hca_cap_get_dct(fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, 1, hw_cmd_hca_cap_get_drain_sigerr(fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, 1, fixture->caps.dct);
	KUNIT_EXPECT_EQ(test, 1, fixture->caps.drain_sigerr);
}

static void caps_configure_enables_nothing_beyond_maximum(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_dct(fixture->hca->maximum, 0);
	hw_cmd_hca_cap_set_drain_sigerr(fixture->hca->maximum, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, 0, fixture->caps.dct);
	KUNIT_EXPECT_EQ(test, 0, fixture->caps.drain_sigerr);
}

/* The largest value of the 4-bit field: firmware with max_num_eqs_24b has more than 2^8 EQs. */
static void caps_decode_accepts_any_number_of_eqs(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_log_max_eq(fixture->hca->current_caps, 15);
	KUNIT_EXPECT_EQ(test, 0, decode(fixture));
}

/* The limit applies to whatever queue sizes the device reports. */
static void caps_queue_sizes_limited_by_wqe_counter(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_log_max_qp_sz(fixture->hca->current_caps, LOG_WQES + 2);
	hw_cmd_hca_cap_set_log_max_srq_sz(fixture->hca->current_caps, 31);
	hw_cmd_hca_cap_set_log_max_wq_sz(fixture->hca->current_caps, LOG_WQES + 1);
	KUNIT_EXPECT_EQ(test, 0, decode(fixture));
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_qp_sz, LOG_WQES);
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_srq_sz, LOG_WQES);
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_wq_sz, LOG_WQES);
}

static void caps_max_num_eqs_24b_overrides_max_num_eqs(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct fake_hca *hca = fixture->hca;

	hw_cmd_hca_cap_set_max_num_eqs(hca->current_caps, 5);
	/* Without hca_cap_2 the driver does not read the page. */
	hw_cmd_hca_cap_2_set_max_num_eqs_24b(&hca->general_2, 0x10000);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, fixture->caps.max_num_eqs, 5);

	hw_cmd_hca_cap_set_hca_cap_2(hca->current_caps, 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, fixture->caps.max_num_eqs, 0x10000);

	/* 0 means that the first page has the number of EQs. */
	hw_cmd_hca_cap_2_set_max_num_eqs_24b(&hca->general_2, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, fixture->caps.max_num_eqs, 5);
}

static void caps_optional_type_refused_continues(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int count, at;

	hw_cmd_hca_cap_set_atomic(fixture->hca->current_caps, 1);
	hw_cmd_hca_cap_set_pg(fixture->hca->current_caps, 1);
	hw_cmd_hca_cap_set_hca_cap_2(fixture->hca->current_caps, 1);
	KUNIT_ASSERT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	count = fixture->hca->commands;
	/* The driver must send SET_HCA_CAP of the general page only once. */
	for (at = QUERIES; at < count - 1; at++) {
		fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, fixture->hca->commands + at);
		KUNIT_EXPECT_EQ_MSG(test, 0,
				    cxib_device_caps_configure(&fixture->queue, &fixture->caps),
				    "command %u", at);
	}
	fake_hca_fail(fixture->hca, FAKE_FAULT_NEVER, fixture->hca->commands + QUERIES);
	fixture->queue.timeout_ms = 20;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT,
			cxib_device_caps_configure(&fixture->queue, &fixture->caps));
}

static void caps_configure_limited_by_maximum(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_log_max_qp(fixture->hca->maximum, LOG_QPS - 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, fixture->caps.log_max_qp, LOG_QPS - 1);
}

static void caps_unchanged_skips_set_hca_cap(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_log_max_qp(fixture->hca->current_caps, LOG_QPS);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, QUERIES);
}

/* Values of mlx5_core for each page size of the host: handle_hca_cap(). */
static const struct {
	unsigned int log_host_page;
	u32 maximum;
	u32 uar_4k;
	u32 log_uar_page_sz;
	unsigned int log_distance;
} uar_sizes[] = {
	{ 12, 0, 0, 0, 12 },
	{ 12, 1, 0, 0, 12 },
	{ 14, 0, 0, 2, 14 },
	{ 14, 1, 1, 2, 12 },
	{ 16, 0, 0, 4, 16 },
	{ 16, 1, 1, 4, 12 },
};

static void caps_choose_gives_uars_out_by_host_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_cmd_hca_cap *page = fixture->hca->current_caps;
	int i;

	for (i = 0; i < ARRAY_SIZE(uar_sizes); i++) {
		/* The value comes from an earlier driver on a host with another page size. */
		hw_cmd_hca_cap_set_log_uar_page_sz(page, 7);
		hw_cmd_hca_cap_set_uar_4k(page, 0);
		hw_cmd_hca_cap_set_uar_4k(fixture->hca->maximum, uar_sizes[i].maximum);
		cxib_device_caps_choose(page, fixture->hca->maximum, uar_sizes[i].log_host_page);
		KUNIT_EXPECT_EQ(test, uar_sizes[i].uar_4k, hw_cmd_hca_cap_get_uar_4k(page));
		KUNIT_EXPECT_EQ(test, uar_sizes[i].log_uar_page_sz,
				hw_cmd_hca_cap_get_log_uar_page_sz(page));
		KUNIT_ASSERT_EQ(test, 0, decode(fixture));
		KUNIT_EXPECT_EQ(test, uar_sizes[i].log_distance,
				cxib_log_uar_distance(&fixture->caps));
	}
}

/* A device that keeps uar_4k has UAR pages 4 KiB apart, whatever the host's pages. */
static void caps_configured_uar_4k_has_distance_of_4k(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	hw_cmd_hca_cap_set_uar_4k(fixture->hca->current_caps, 1);
	hw_cmd_hca_cap_set_uar_4k(fixture->hca->maximum, 1);
	hw_cmd_hca_cap_set_log_uar_page_sz(fixture->hca->current_caps, 7);
	fixture->queue.bus->log_uar_distance = 0;
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, ilog2(SZ_4K), fixture->queue.bus->log_uar_distance);
}

/* Sets all bits of the ODP capabilities, including reserved bits. */
static struct hw_odp_cap *set_odp_caps(struct fixture *fixture)
{
	hw_cmd_hca_cap_set_pg(fixture->hca->current_caps, 1);
	hw_cmd_hca_cap_set_pg(fixture->hca->maximum, 1);
	memset(&fixture->hca->odp, 0xff, sizeof(fixture->hca->odp));
	return &fixture->hca->odp;
}

/* send, receive, write, read, atomic and srq_receive are bits 31 to 26 in mlx5_ifc.h. */
static void expect_known_operations(struct kunit *test, struct hw_odp_scheme_cap *scheme)
{
	struct hw_odp_per_transport_service_cap *services[] = {
		hw_odp_scheme_cap_rc_odp_caps(scheme),
		hw_odp_scheme_cap_ud_odp_caps(scheme),
		hw_odp_scheme_cap_xrc_odp_caps(scheme),
		hw_odp_scheme_cap_dc_odp_caps(scheme),
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(services); i++)
		KUNIT_EXPECT_EQ(test, GENMASK(31, 26), be32_to_cpu(services[i]->dw[0]));
}

static void odp_caps_without_mem_page_fault_use_transport_scheme(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_odp_cap *odp = set_odp_caps(fixture);
	struct hw_odp_cap wanted = {};

	hw_odp_cap_set_mem_page_fault(odp, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, 0, fixture->caps.mem_page_fault);
	expect_known_operations(test, &fixture->caps.odp);
	KUNIT_EXPECT_EQ(test, 1, hw_odp_scheme_cap_get_sig(&fixture->caps.odp));
	*hw_odp_cap_transport_page_fault_scheme_cap(&wanted) = fixture->caps.odp;
	KUNIT_EXPECT_MEMEQ(test, &wanted, odp, sizeof(wanted));
}

static void odp_caps_mem_page_fault_uses_memory_scheme(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_odp_cap *odp = set_odp_caps(fixture);
	struct hw_odp_scheme_cap *transport = hw_odp_cap_transport_page_fault_scheme_cap(odp);
	struct hw_odp_scheme_cap *memory = hw_odp_cap_memory_page_fault_scheme_cap(odp);
	struct hw_odp_cap wanted = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, 1, fixture->caps.mem_page_fault);
	expect_known_operations(test, transport);
	expect_known_operations(test, &fixture->caps.odp);
	KUNIT_EXPECT_EQ(test, 1, hw_odp_scheme_cap_get_page_prefetch(memory));
	KUNIT_EXPECT_EQ(test, 1, hw_odp_scheme_cap_get_sig(memory));
	hw_odp_cap_set_mem_page_fault(&wanted, 1);
	*hw_odp_cap_transport_page_fault_scheme_cap(&wanted) = *transport;
	*hw_odp_cap_memory_page_fault_scheme_cap(&wanted) = fixture->caps.odp;
	KUNIT_EXPECT_MEMEQ(test, &wanted, odp, sizeof(wanted));
}

static void odp_caps_without_page_prefetch_use_transport_scheme(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_odp_cap *odp = set_odp_caps(fixture);

	hw_odp_scheme_cap_set_page_prefetch(hw_odp_cap_memory_page_fault_scheme_cap(odp), 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, &fixture->caps));
	KUNIT_EXPECT_EQ(test, 0, fixture->caps.mem_page_fault);
	KUNIT_EXPECT_EQ(test, 0, hw_odp_cap_get_mem_page_fault(odp));
	expect_known_operations(test, &fixture->caps.odp);
}

struct lack {
	const char *name;
	void (*set)(struct hw_cmd_hca_cap *caps, u64 value);
	u32 good;
	u32 bad;
};

/*
 * Sources of the limits: object numbers are 24-bit fields. P_Key table sizes are the codes 0 (128)
 * to 5 (4096) in mlx5_ifc.h, which also has port types and CQE versions. The driver needs one EQ
 * each for commands, other events and completions, EQs of 1024 EQEs, pages of 4 KiB, and WQEs of
 * 576 bytes for 30 SGEs. IBA 9.7.2: a message has up to 2^31 bytes, and the MTU is 4 KiB.
 */
static const struct lack lacks[] = {
	{ "Ethernet port", hw_cmd_hca_cap_set_port_type, 0, 1 },
	{ "no port", hw_cmd_hca_cap_set_num_ports, 1, 0 },
	{ "three ports", hw_cmd_hca_cap_set_num_ports, 2, 3 },
	{ "no RC", hw_cmd_hca_cap_set_rc, 1, 0 },
	{ "no UD", hw_cmd_hca_cap_set_ud, 1, 0 },
	{ "too few EQs", hw_cmd_hca_cap_set_log_max_eq, 2, 1 },
	{ "EQs too short", hw_cmd_hca_cap_set_log_max_eq_sz, 10, 9 },
	{ "too many QPs", hw_cmd_hca_cap_set_log_max_qp, 24, 25 },
	{ "pages too large", hw_cmd_hca_cap_set_log_pg_sz, 12, 13 },
	{ "unknown CQE version", hw_cmd_hca_cap_set_cqe_version, 1, 2 },
	{ "WQEs too short", hw_cmd_hca_cap_set_max_wqe_sz_sq, 576, 575 },
	{ "messages too short", hw_cmd_hca_cap_set_log_max_msg, 12, 11 },
	{ "too many P_Keys", hw_cmd_hca_cap_set_pkey_table_size, 5, 6 },
};

static void describe_lack(const struct lack *lack, char *description)
{
	strscpy(description, lack->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(lack, lacks, describe_lack);

static void caps_below_requirement_returns_eopnotsupp(struct kunit *test)
{
	const struct lack *lack = test->param_value;
	struct fixture *fixture = test->priv;

	lack->set(fixture->hca->current_caps, lack->good);
	KUNIT_EXPECT_EQ(test, 0, decode(fixture));
	lack->set(fixture->hca->current_caps, lack->bad);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, decode(fixture));
}

/*
 * atomic_mode 1 (IB_SPEC) has 8-byte operands without masks; other values give the size of the
 * largest masked operand.
 */
static void atomic_mode_follows_operations_and_sizes(struct kunit *test)
{
	const u32 plain = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD;
	const u32 masked = HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP;
	const struct {
		u32 atomic, operations, sizes, mode;
	} expected[] = {
		{ 0, plain | masked, HW_ATOMIC_SIZE_BYTES_8, 0 },
		{ 1, 0, HW_ATOMIC_SIZE_BYTES_8, 0 },
		{ 1, HW_ATOMIC_OPERATIONS_CMP_SWAP, HW_ATOMIC_SIZE_BYTES_8, 0 },
		{ 1, plain, HW_ATOMIC_SIZE_BYTES_8, HW_ATOMIC_MODE_IB_SPEC },
		{ 1, plain | masked, 0, HW_ATOMIC_MODE_IB_SPEC },
		{ 1, plain | masked, HW_ATOMIC_SIZE_BYTES_4, HW_ATOMIC_MODE_UP_TO_8B },
		{ 1, plain | masked, HW_ATOMIC_SIZE_BYTES_8, HW_ATOMIC_MODE_UP_TO_8B },
		{ 1, plain | masked, HW_ATOMIC_SIZE_BYTES_32 | HW_ATOMIC_SIZE_BYTES_8,
		  HW_ATOMIC_MODE_UP_TO_32B },
		/* Bits that mlx5_ifc.h does not define are ignored. */
		{ 1, plain | masked, GENMASK(15, 9) | HW_ATOMIC_SIZE_BYTES_256,
		  HW_ATOMIC_MODE_UP_TO_256B },
	};
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		fixture->caps.atomic = expected[i].atomic;
		fixture->caps.atomic_operations = expected[i].operations;
		KUNIT_EXPECT_EQ_MSG(test, expected[i].mode,
				    cxib_atomic_mode(&fixture->caps, expected[i].sizes),
				    "line %u", i);
	}
}

static void caps_all_zeros_or_ones_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	memset(fixture->hca->current_caps, 0, sizeof(*fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, decode(fixture));
	memset(fixture->hca->current_caps, 0xff, sizeof(*fixture->hca->current_caps));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, decode(fixture));
}

/* Firmware ignores values of SET_HCA_CAP. */
static void caps_read_back_uses_what_device_has(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->caps;

	KUNIT_ASSERT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, caps));
	hw_cmd_hca_cap_set_log_max_qp(fixture->hca->current_caps, LOG_QPS - 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_read_back(&fixture->queue, caps));
	KUNIT_EXPECT_EQ(test, LOG_QPS - 1, caps->log_max_qp);
}

/* Commands for other pages have failed, which the general page does not show. */
static void caps_read_back_enables_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->caps;

	KUNIT_ASSERT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, caps));
	caps->pg = 0;
	caps->atomic = 0;
	caps->max_num_eqs = WQE_BYTES;
	hw_cmd_hca_cap_set_pg(fixture->hca->current_caps, 1);
	hw_cmd_hca_cap_set_atomic(fixture->hca->current_caps, 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_device_caps_read_back(&fixture->queue, caps));
	KUNIT_EXPECT_EQ(test, 0, caps->pg);
	KUNIT_EXPECT_EQ(test, 0, caps->atomic);
	KUNIT_EXPECT_EQ(test, WQE_BYTES, caps->max_num_eqs);
}

static void caps_read_back_out_of_range_keeps_configured(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->caps;

	KUNIT_ASSERT_EQ(test, 0, cxib_device_caps_configure(&fixture->queue, caps));
	hw_cmd_hca_cap_set_rc(fixture->hca->current_caps, 0);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_device_caps_read_back(&fixture->queue, caps));
	KUNIT_EXPECT_EQ(test, 1, caps->rc);
}

static struct kunit_case device_caps_cases[] = {
	KUNIT_CASE(caps_read_back_uses_what_device_has),
	KUNIT_CASE(caps_read_back_enables_nothing),
	KUNIT_CASE(caps_read_back_out_of_range_keeps_configured),
	KUNIT_CASE(caps_decode_stores_device_values),
	KUNIT_CASE(caps_decode_accepts_any_number_of_eqs),
	KUNIT_CASE(caps_configure_sets_wanted_values),
	KUNIT_CASE(caps_configure_enables_what_maximum_has),
	KUNIT_CASE(caps_configure_enables_nothing_beyond_maximum),
	KUNIT_CASE(caps_queue_sizes_limited_by_wqe_counter),
	KUNIT_CASE(caps_max_num_eqs_24b_overrides_max_num_eqs),
	KUNIT_CASE(caps_optional_type_refused_continues),
	KUNIT_CASE(caps_configure_limited_by_maximum),
	KUNIT_CASE(caps_unchanged_skips_set_hca_cap),
	KUNIT_CASE(caps_choose_gives_uars_out_by_host_page),
	KUNIT_CASE(caps_configured_uar_4k_has_distance_of_4k),
	KUNIT_CASE(odp_caps_without_mem_page_fault_use_transport_scheme),
	KUNIT_CASE(odp_caps_mem_page_fault_uses_memory_scheme),
	KUNIT_CASE(odp_caps_without_page_prefetch_use_transport_scheme),
	KUNIT_CASE_PARAM(caps_below_requirement_returns_eopnotsupp, lack_gen_params),
	KUNIT_CASE(atomic_mode_follows_operations_and_sizes),
	KUNIT_CASE(caps_all_zeros_or_ones_returns_eopnotsupp),
	{}
};

static struct kunit_suite device_caps_suite = {
	.name = "device_caps",
	.init = device_caps_init,
	.test_cases = device_caps_cases,
};

kunit_test_suite(device_caps_suite);
