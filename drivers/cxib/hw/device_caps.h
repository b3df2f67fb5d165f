/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the device can do: asked once, checked, and kept as numbers that the
 * rest of the driver can rely on.
 */
#ifndef CXIB_HW_DEVICE_CAPS_H
#define CXIB_HW_DEVICE_CAPS_H

#include <linux/types.h>

#include "hw/capabilities.h"

struct cxib_command_queue;
struct dentry;
struct device;
struct hw_cmd_hca_cap;

/**
 * struct cxib_device_caps - the capabilities that this driver knows of
 * @log_max_qp: log2 of the queue pairs that there can be
 * @log_max_qp_sz: log2 of the work requests in a queue of a queue pair
 * @log_max_srq: log2 of the shared receive queues
 * @log_max_srq_sz: log2 of the requests in one
 * @log_max_cq: log2 of the completion queues
 * @log_max_cq_sz: log2 of the entries in one
 * @log_max_eq: log2 of the event queues
 * @log_max_eq_sz: log2 of the entries in one
 * @log_max_mkey: log2 of the memory keys
 * @log_max_mrw_sz: log2 of the bytes that a memory key can cover
 * @log_max_klm_list_size: log2 of the entries of an indirect memory key
 * @log_max_bsf_list_size: log2 of the entries in a list of signature blocks
 * @max_indirection: levels of indirect memory keys
 * @log_max_pd: log2 of the protection domains
 * @log_max_xrcd: log2 of the XRC domains
 * @log_max_rmp: log2 of the receive memory pools
 * @log_max_wq_sz: log2 of the entries of one
 * @log_max_transport_domain: log2 of the transport domains
 * @log_max_mcg: log2 of the multicast groups
 * @max_qp_mcg: queue pairs in one group
 * @max_qp_cnt: sets of counters for queue pairs
 * @out_of_seq_cnt: they count packets out of sequence
 * @retransmission_q_counters: they count why packets are sent again
 * @enhanced_error_q_counters: they count errors by their kinds
 * @log_max_ra_req_qp: log2 of the outstanding reads and atomics, as requester
 * @log_max_ra_res_qp: the same as responder
 * @log_max_ra_req_dc: log2 of the outstanding reads and atomics of dynamic
 *	connections, as requester
 * @log_max_ra_res_dc: the same as responder
 * @log_max_msg: log2 of the longest message in bytes
 * @max_wqe_sz_sq: longest send work request, bytes
 * @max_wqe_sz_rq: longest receive work request, bytes
 * @gid_table_size: code for the length of the GID table
 * @pkey_table_size: code for the length of the P_Key table
 * @num_ports: ports
 * @port_type: what the port is; always InfiniBand
 * @local_ca_ack_delay: code for the time until an acknowledge
 * @stat_rate_support: static rates, one bit for each
 * @cqe_version: format of completions
 * @log_pg_sz: log2 of the smallest page for buffers
 * @uar_4k: UAR pages are 4 KiB apart whatever the host's pages are
 * @log_uar_page_sz: log2 of the size of a UAR page in 4 KiB
 * @log_bf_reg_size: log2 of the bytes of a BlueFlame register
 * @bf: work requests can be written into the doorbell page
 * @compact_address_vector: datagram requests to local destinations are shorter
 * @rc: reliable connections
 * @uc: unreliable connections
 * @ud: unreliable datagrams
 * @xrc: extended reliable connections
 * @dct: dynamically connected transport
 * @log_max_dci_stream_channels: log2 of the streams of an initiator
 * @log_max_dci_errored_streams: log2 of those that may fail before it does
 * @apm: automatic path migration
 * @atomic: atomic operations
 * @imaicl: local invalidation, memory windows of type 2
 * @umr_fence: fence that a memory key update needs
 * @sho: signature handover
 * @sigerr_cqe: signature errors are told by completions
 * @drain_sigerr: a signature error drains the send queue
 * @cq_oi: completion queues can ignore overruns
 * @cq_resize: completion queues can change their size
 * @cq_moderation: events of completion queues can be moderated
 * @cq_eq_remap: completion queues can change their event queue
 * @block_lb_mc: multicast loopback can be blocked
 * @set_deth_sqpn: datagrams can carry another source queue pair
 * @ib_virt: ports are managed by virtual port commands
 * @vport_counters: virtual ports have counters
 * @pkv: the P_Key violation counter is there
 * @qkv: the Q_Key violation counter is there
 * @driver_version: the device wants to know the driver's version
 * @fast_teardown: the device can be stopped by a register write
 * @force_teardown: the device can be stopped with objects left
 * @release_all_pages: a page request can mean all pages
 * @log_max_uctx: log2 of the user contexts
 * @log_max_umem: log2 of the registered user memories
 * @uctx_cap: rights that user contexts can be given, one bit for each
 * @cqe_128_always: completions can take 128 bytes whatever the cache line
 * @cqe_compression: completions of 64 bytes can be compressed
 * @cqe_compression_128: those of 128 bytes can
 * @cqe_compression_max_num: completions that one run of them stands for, at most
 * @mini_cqe_resp_stride_index: what is left of one can name a stride
 * @relaxed_ordering_write: writes may pass each other on the bus
 * @relaxed_ordering_read: reads may, whatever the function's configuration
 * @relaxed_ordering_read_pci_enabled: reads may where the bus allows it
 * @relaxed_ordering_write_umr: requests can change whether writes may
 * @relaxed_ordering_read_umr: requests can change whether reads may
 * @pg: pages can come in when they are needed
 * @null_mkey: there is a key of memory that is not there
 * @dump_fill_mkey: there is a memory key that discards writes and reads as zeros
 * @umr_ptr_rlky: requests that change keys read lists with the reserved key
 * @fixed_buffer_size: keys can consist of pieces of one length of other keys
 * @umr_extended_translation_offset: requests reach all of a long list of translations
 * @umr_indirect_mkey_disabled: requests do not change keys of other keys
 * @umr_modify_atomic_disabled: requests do not change the atomic right of keys
 * @go_back_n: a requester can begin anew with the first message that was lost
 * @max_num_eqs: event queues that the function may have; 0: as @log_max_eq says
 * @paging: for which operations of which transports
 * @mem_page_fault: page faults name the memory, otherwise the request
 * @device_frequency_khz: of the device's clock
 * @qp_packet_based: credits can be counted in packets
 * @device_memory: memory on the device can be allocated
 * @log_max_xrq: log2 of the extended shared receive queues
 * @tag_matching: these can match tags
 * @rndv_offload_rc: they can read what a message on a connection has announced
 * @log_tag_matching_list_sz: log2 of the tags of one
 * @atomic_operations: kinds of atomic operations, one bit for each
 * @atomic_size_qp: sizes of their operands, one bit for each power of two
 * @atomic_size_dc: the same for targets of dynamic connections
 * @atomic_host_endian: operands are in the order of the host
 * @memic: programs can allocate memory on the device; else what follows is 0
 * @memic_bar_start: where in BAR 0 that begins
 * @memic_bar_size: how long it is there
 * @memic_max_size: the most that one can allocate
 * @memic_log_min_size: log2 of the least, and of the granularity
 * @memic_log_max_alignment: log2 of the largest alignment
 * @memic_operations: operations on it, one bit for each
 */
struct cxib_device_caps {
	u32 log_max_qp;
	u32 log_max_qp_sz;
	u32 log_max_srq;
	u32 log_max_srq_sz;
	u32 log_max_cq;
	u32 log_max_cq_sz;
	u32 log_max_eq;
	u32 log_max_eq_sz;
	u32 log_max_mkey;
	u32 log_max_mrw_sz;
	u32 log_max_klm_list_size;
	u32 log_max_bsf_list_size;
	u32 max_indirection;
	u32 log_max_pd;
	u32 log_max_xrcd;
	u32 log_max_rmp;
	u32 log_max_wq_sz;
	u32 log_max_transport_domain;
	u32 log_max_mcg;
	u32 max_qp_mcg;
	u32 max_qp_cnt;
	u32 out_of_seq_cnt;
	u32 retransmission_q_counters;
	u32 enhanced_error_q_counters;
	u32 log_max_ra_req_qp;
	u32 log_max_ra_res_qp;
	u32 log_max_ra_req_dc;
	u32 log_max_ra_res_dc;
	u32 log_max_msg;
	u32 max_wqe_sz_sq;
	u32 max_wqe_sz_rq;
	u32 gid_table_size;
	u32 pkey_table_size;
	u32 num_ports;
	u32 port_type;
	u32 local_ca_ack_delay;
	u32 stat_rate_support;
	u32 cqe_version;
	u32 log_pg_sz;
	u32 uar_4k;
	u32 log_uar_page_sz;
	u32 log_bf_reg_size;
	u32 bf;
	u32 compact_address_vector;
	u32 rc;
	u32 uc;
	u32 ud;
	u32 xrc;
	u32 dct;
	u32 log_max_dci_stream_channels;
	u32 log_max_dci_errored_streams;
	u32 apm;
	u32 atomic;
	u32 imaicl;
	u32 umr_fence;
	u32 sho;
	u32 sigerr_cqe;
	u32 drain_sigerr;
	u32 cq_oi;
	u32 cq_resize;
	u32 cq_moderation;
	u32 cq_eq_remap;
	u32 block_lb_mc;
	u32 set_deth_sqpn;
	u32 ib_virt;
	u32 vport_counters;
	u32 pkv;
	u32 qkv;
	u32 driver_version;
	u32 fast_teardown;
	u32 force_teardown;
	u32 release_all_pages;
	u32 log_max_uctx;
	u32 log_max_umem;
	u32 uctx_cap;
	u32 cqe_128_always;
	u32 cqe_compression;
	u32 cqe_compression_128;
	u32 cqe_compression_max_num;
	u32 mini_cqe_resp_stride_index;
	u32 relaxed_ordering_write;
	u32 relaxed_ordering_read;
	u32 relaxed_ordering_read_pci_enabled;
	u32 relaxed_ordering_write_umr;
	u32 relaxed_ordering_read_umr;
	u32 pg;
	u32 null_mkey;
	u32 dump_fill_mkey;
	u32 umr_ptr_rlky;
	u32 fixed_buffer_size;
	u32 umr_extended_translation_offset;
	u32 umr_indirect_mkey_disabled;
	u32 umr_modify_atomic_disabled;
	u32 go_back_n;
	u32 max_num_eqs;
	struct hw_odp_scheme_cap paging;
	u32 mem_page_fault;
	u32 device_frequency_khz;
	u32 qp_packet_based;
	u32 device_memory;
	u32 log_max_xrq;
	u32 tag_matching;
	u32 rndv_offload_rc;
	u32 log_tag_matching_list_sz;
	u32 atomic_operations;
	u32 atomic_size_qp;
	u32 atomic_size_dc;
	u32 atomic_host_endian;
	bool memic;
	u64 memic_bar_start;
	u32 memic_bar_size;
	u32 memic_max_size;
	u32 memic_log_min_size;
	u32 memic_log_max_alignment;
	u32 memic_operations;
};

int cxib_device_caps_configure(struct cxib_command_queue *queue, struct cxib_device_caps *caps);
int cxib_device_caps_decode(struct device *dev, const struct hw_cmd_hca_cap *page,
			    struct cxib_device_caps *caps);
u32 cxib_atomic_mode(const struct cxib_device_caps *caps, u32 sizes);
void cxib_device_caps_debugfs(struct cxib_device_caps *caps, struct dentry *directory);

#endif
