/* SPDX-License-Identifier: GPL-2.0-only */
/* Device capabilities: queried and checked during bring-up, constant afterwards. */
#ifndef CXIB_HW_DEVICE_CAPS_H
#define CXIB_HW_DEVICE_CAPS_H

#include <linux/types.h>

#include "hw/capabilities.h"

struct cxib_command_queue;
struct dentry;
struct device;
struct hw_cmd_hca_cap;

/**
 * struct cxib_device_caps - capabilities that the driver uses
 * @log_max_qp: log2 of the number of QPs
 * @log_max_qp_sz: log2 of the number of WQEs in an SQ or RQ
 * @log_max_srq: log2 of the number of SRQs
 * @log_max_srq_sz: log2 of the number of WQEs in an SRQ
 * @log_max_cq: log2 of the number of CQs
 * @log_max_cq_sz: log2 of the number of CQEs in a CQ
 * @log_max_eq: log2 of the number of EQs
 * @log_max_eq_sz: log2 of the number of EQEs in an EQ
 * @log_max_mkey: log2 of the number of mkeys
 * @log_max_mrw_sz: log2 of the bytes that an mkey can cover
 * @log_max_klm_list_size: log2 of the number of KLMs in an indirect mkey
 * @log_max_bsf_list_size: log2 of the number of entries in a BSF list
 * @max_indirection: levels of indirect mkeys
 * @log_max_pd: log2 of the number of PDs
 * @log_max_xrcd: log2 of the number of XRC domains
 * @log_max_rmp: log2 of the number of RMPs
 * @log_max_wq_sz: log2 of the number of WQEs in an RMP
 * @log_max_transport_domain: log2 of the number of transport domains
 * @log_max_mcg: log2 of the number of multicast groups
 * @max_qp_mcg: number of QPs in a multicast group
 * @max_sgl_for_optimized_performance: RDMA reads with more SGEs are faster through an MR; 0:
 *	unknown
 * @max_qp_cnt: number of Q counter sets
 * @out_of_seq_cnt: Q counters include packets out of sequence
 * @retransmission_q_counters: Q counters include reasons for retransmissions
 * @enhanced_error_q_counters: Q counters include kinds of errors
 * @log_max_ra_req_qp: log2 of the outstanding reads and atomics of a QP as
 *	requester
 * @log_max_ra_res_qp: log2 of the outstanding reads and atomics of a QP as responder
 * @log_max_ra_req_dc: log2 of the outstanding reads and atomics of a DCI
 * @log_max_ra_res_dc: log2 of the outstanding reads and atomics of a DCT
 * @log_max_msg: log2 of the longest message in bytes
 * @max_wqe_sz_sq: longest send WQE, bytes
 * @max_wqe_sz_rq: longest receive WQE, bytes
 * @gid_table_size: code for the length of the GID table
 * @pkey_table_size: code for the length of the P_Key table
 * @num_ports: number of ports
 * @port_type: port type; always InfiniBand
 * @local_ca_ack_delay: code for the local ACK delay
 * @stat_rate_support: static rates, one bit for each
 * @cqe_version: CQE format
 * @log_pg_sz: log2 of the smallest page of a buffer
 * @uar_4k: UAR pages are 4 KiB apart, independent of the host's page size
 * @log_uar_page_sz: log2 of the size of a UAR page in units of 4 KiB
 * @log_bf_reg_size: log2 of the bytes of a BlueFlame register
 * @bf: BlueFlame is supported
 * @compact_address_vector: UD WQEs to local destinations may omit the GRH
 * @rc: RC
 * @uc: UC
 * @ud: UD
 * @xrc: XRC
 * @dct: DC
 * @log_max_dci_stream_channels: log2 of the streams of a DCI
 * @log_max_dci_errored_streams: log2 of the errored streams before the DCI
 *	fails
 * @apm: automatic path migration
 * @atomic: atomic operations
 * @imaicl: memory windows, and MRs of scattered buffers; all devices have UMR and fast registration
 * @umr_fence: fence that follows a UMR WQE
 * @sho: signature handover
 * @sig_block_4048: signatures of blocks of 4048 bytes
 * @sigerr_cqe: signature errors are reported by CQEs
 * @drain_sigerr: a signature error drains the SQ
 * @cq_oi: CQs can ignore overruns
 * @cq_resize: CQs can be resized
 * @cq_moderation: CQ events can be moderated
 * @cq_eq_remap: CQs can change their EQ
 * @block_lb_mc: multicast loopback can be blocked
 * @set_deth_sqpn: UD QPs can send the QPN of another QP as source
 * @ib_virt: ports are managed by HCA vport commands
 * @vport_counters: vports have counters
 * @pkv: P_Key violation counter
 * @qkv: Q_Key violation counter
 * @driver_version: SET_DRIVER_VERSION is supported
 * @fast_teardown: teardown by a register write
 * @force_teardown: teardown with existing objects
 * @release_all_pages: a page request can release all pages
 * @log_max_uctx: log2 of the number of user contexts
 * @log_max_umem: log2 of the number of umems
 * @uctx_cap: HW_UCTX_CAP_… that user contexts can have
 * @cqe_128_always: CQEs may have 128 bytes on hosts with any cache line size
 * @cqe_compression: 64-byte CQEs can be compressed
 * @cqe_compression_128: 128-byte CQEs can be compressed
 * @cqe_compression_max_num: max CQEs in a compressed session
 * @mini_cqe_resp_stride_index: mini CQEs can hold a stride index
 * @relaxed_ordering_write: mkeys can allow relaxed ordering of PCI writes
 * @relaxed_ordering_read: mkeys can allow relaxed ordering of PCI reads, regardless of the PCI
 *	configuration of the function
 * @relaxed_ordering_read_pci_enabled: mkeys can allow relaxed ordering of PCI reads if the PCI
 *	configuration of the function allows it
 * @relaxed_ordering_write_umr: UMR can modify relaxed ordering of writes
 * @relaxed_ordering_read_umr: UMR can modify relaxed ordering of reads
 * @pg: ODP
 * @null_mkey: there is a null mkey
 * @dump_fill_mkey: there is an mkey that discards writes and reads as zeros
 * @umr_ptr_rlky: UMR WQEs read lists by the resd_lkey
 * @fixed_buffer_size: KSMs (entries of one length) are supported
 * @umr_extended_translation_offset: UMR WQEs reach each entry of a long
 *	translation
 * @umr_indirect_mkey_disabled: UMR cannot modify indirect mkeys
 * @umr_modify_atomic_disabled: UMR cannot modify the atomic access of mkeys
 * @umr_modify_entity_size_disabled: UMR cannot modify the page size of mkeys
 * @go_back_n: requesters can retransmit from the first lost message
 * @hca_cap_2: there is a second general page
 * @max_num_eqs: number of EQs of the function, from the second general page; 0: see @log_max_eq
 * @odp: operations that can fault, by transport
 * @mem_page_fault: page faults use the memory scheme, otherwise the transport
 *	scheme
 * @device_frequency_khz: frequency of the device clock
 * @qp_packet_based: packet-based credit mode
 * @device_memory: there is a MEMIC page
 * @log_max_xrq: log2 of the number of XRQs
 * @tag_matching: XRQs can match tags
 * @rndv_offload_rc: XRQs can read the data of a rendezvous on RC
 * @log_tag_matching_list_sz: log2 of the tags of an XRQ
 * @atomic_operations: HW_ATOMIC_OPERATIONS_…
 * @atomic_size_qp: operand sizes, one bit for each power of two
 * @atomic_size_dc: operand sizes of DCTs, one bit for each power of two
 * @atomic_host_endian: operands are in host byte order
 * @memic: MEMIC can be allocated; otherwise the fields below are 0
 * @memic_bar_start: offset of MEMIC in BAR 0
 * @memic_bar_size: length of MEMIC in BAR 0
 * @memic_max_size: max length of an allocation
 * @memic_log_min_size: log2 of the min length and granularity of an allocation
 * @memic_log_max_alignment: log2 of the max alignment, bytes
 * @memic_operations: memic operations, one bit for each type
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
	u32 max_sgl_for_optimized_performance;
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
	u32 sig_block_4048;
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
	u32 umr_modify_entity_size_disabled;
	u32 go_back_n;
	u32 hca_cap_2;
	u32 max_num_eqs;
	struct hw_odp_scheme_cap odp;
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

void cxib_device_caps_choose(struct hw_cmd_hca_cap *page, const struct hw_cmd_hca_cap *maximum,
			     unsigned int log_host_page);
unsigned int cxib_log_uar_distance(const struct cxib_device_caps *caps);
int cxib_device_caps_configure(struct cxib_command_queue *queue, struct cxib_device_caps *caps);
int cxib_device_caps_read_back(struct cxib_command_queue *queue, struct cxib_device_caps *caps);
int cxib_device_caps_query_memic(struct cxib_command_queue *queue, struct cxib_device_caps *caps);
int cxib_device_caps_decode(struct device *dev, const struct hw_cmd_hca_cap *page,
			    struct cxib_device_caps *caps);
u32 cxib_atomic_mode(const struct cxib_device_caps *caps, u32 sizes);
void cxib_device_caps_debugfs(struct cxib_device_caps *caps, struct dentry *directory);

#endif
