// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Public sources of the values in device profiles.
#pragma once

#include <array>
#include <string_view>

namespace cxemu::hca {

/// A source, or that there is none.
struct Origin {
    std::string_view name;  ///< in lists
    std::string_view card;  ///< model and firmware that it shows; empty: it is about none
    std::string_view place; ///< repository or thread, and the file
};

namespace origins {

inline constexpr Origin assumed{"assumed", "", "no public source is known"};
inline constexpr Origin interface_header{
    "header", "", "include/linux/mlx5/ of Linux: the value of the interface for InfiniBand"};
inline constexpr Origin library{
    "libmlx5", "", "providers/mlx5 of rdma-core: the values that it requires for the feature"};
inline constexpr Origin trace_2016{
    "trace-2016", "ConnectX-4 Lx, 14.12.1220",
    "github.com/snabbco/snabb, src/apps/mellanox/trace-mlx5_core.txt.gz: commands of mlx5_core"};
inline constexpr Origin connectx4_12_18{"devinfo-12.18", "ConnectX-4, 12.18.1000",
                                        "github.com/open-mpi/ompi/issues/9087: ibv_devinfo -v"};
inline constexpr Origin connectx4_12_20{"devinfo-12.20", "ConnectX-4, 12.20.1820",
                                        "github.com/open-mpi/ompi/issues/9957: ibv_devinfo -vv"};
inline constexpr Origin connectx4_12_28{"devinfo-12.28", "ConnectX-4, 12.28.2006",
                                        "github.com/openucx/ucx/issues/7613: ibv_devinfo -v"};
inline constexpr Origin connectx4lx_14_27{
    "devinfo-14.27", "ConnectX-4 Lx, 14.27.1016, Ethernet",
    "notes on RoCE bonds with board MT_2420110004: ibv_devinfo -v of experimental verbs"};
inline constexpr Origin connectx5_16_23{"devinfo-16.23", "ConnectX-5, 16.23.1000",
                                        "github.com/rapidsai/ucx-py/issues/361: ibv_devinfo -vvv"};
inline constexpr Origin connectx5_16_27{
    "devinfo-16.27", "ConnectX-5, 16.27.1016, Ethernet",
    "notes on RoCE bonds with board MT_0000000011: ibv_devinfo -v of experimental verbs"};
inline constexpr Origin connectx5_16_31{
    "devinfo-16.31", "ConnectX-5, 16.31.1014, Ethernet",
    "github.com/martins3/martins3.github.io, notes on tools of RDMA: ibv_devinfo -v"};
inline constexpr Origin connectx5ex_16_32{
    "devinfo-16.32", "ConnectX-5 Ex, 16.32.1010, Ethernet",
    "notes on network faults with board MT_0000000009 and a clock of 78125kHZ: ibv_devinfo -vvv"};
inline constexpr Origin connectx5_16_35{
    "mlxconfig-16.35", "ConnectX-5, 16.35.4506",
    "notes with mt4119_pciconf0 and MCX555A-ECA: mlxlink and mlxconfig query"};
inline constexpr Origin connectx6_20_24{
    "devinfo-20.24", "ConnectX-6, 20.24.4702, Ethernet",
    "notes on a Versity S3 gateway with board MT_0000000225: ibv_devinfo -v"};
inline constexpr Origin connectx6_20_26{"devinfo-20.26", "ConnectX-6, 20.26.1040",
                                        "github.com/openucx/ucx/issues/4556: ibv_devinfo -v"};
inline constexpr Origin connectx6_20_29{"devinfo-20.29", "ConnectX-6, 20.29.1016",
                                        "github.com/openucx/ucx/issues/8229: ibv_devinfo -vv"};
inline constexpr Origin connectx6_20_37{
    "devinfo-20.37", "ConnectX-6, 20.37.1700",
    "an issue of github.com/openucx/ucx with board MT_0000000594 and UCX 1.16.0: ibv_devinfo -vv"};
inline constexpr Origin connectx6_20_43{
    "devinfo-20.43", "ConnectX-6, 20.43.2026",
    "a comment in a program with rdma_dev: Device attributes: results of ibv_query_device"};
inline constexpr Origin connectx6dx_22_36{
    "devinfo-22.36", "ConnectX-6 Dx, 22.36.1010, Ethernet",
    "notes on RDMA with board MT_0000000359 and hca_core_clock 1000000kHZ: ibv_devinfo -vv"};
inline constexpr Origin mlx5ctl{
    "mlx5ctl", "ConnectX-6 Dx, Ethernet",
    "github.com/saeedtx/mlx5ctl, README.md: capabilities under mlx5_core, NODE_DESC"};
inline constexpr Origin linux_042dd05b{"linux-042dd05b", "ConnectX-7",
                                       "Linux, commit 042dd05bddbd: UMR of relaxed ordering"};
inline constexpr Origin connectx7_28_39{"devinfo-28.39", "ConnectX-7, 28.39.2048",
                                        "github.com/openucx/ucx/issues/10317: ibv_devinfo -v"};
inline constexpr Origin connectx7_28_40{
    "devinfo-28.40", "ConnectX-7, 28.40.1000",
    "notes on InfiniBand with board MT_0000000834: ibv_devinfo and ibstat, in InfiniBand mode"};
inline constexpr Origin connectx7_lspci{
    "lspci-cx7", "ConnectX-7", "notes on diagnostics with MCX75310AAS-NEAT at 19:00.0: lspci -vv"};
inline constexpr Origin connectx7_lspci_786{
    "lspci-786", "ConnectX-7",
    "github.com/k8snetworkplumbingwg/sriov-network-operator/issues/786: lspci -vvn"};
inline constexpr Origin connectx7_mlxconfig{
    "mlxconfig-601", "ConnectX-7",
    "github.com/k8snetworkplumbingwg/sriov-network-device-plugin/issues/601: mlxconfig query"};

/// All origins, in the order of their adapters.
inline constexpr std::array all{&assumed,
                                &interface_header,
                                &library,
                                &trace_2016,
                                &connectx4_12_18,
                                &connectx4_12_20,
                                &connectx4_12_28,
                                &connectx4lx_14_27,
                                &connectx5_16_23,
                                &connectx5_16_27,
                                &connectx5_16_31,
                                &connectx5ex_16_32,
                                &connectx5_16_35,
                                &connectx6_20_24,
                                &connectx6_20_26,
                                &connectx6_20_29,
                                &connectx6_20_37,
                                &connectx6_20_43,
                                &connectx6dx_22_36,
                                &mlx5ctl,
                                &linux_042dd05b,
                                &connectx7_28_39,
                                &connectx7_28_40,
                                &connectx7_lspci,
                                &connectx7_lspci_786,
                                &connectx7_mlxconfig};

} // namespace origins

} // namespace cxemu::hca
