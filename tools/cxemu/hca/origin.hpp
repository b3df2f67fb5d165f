// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Public sources of what the profiles say about devices.
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

inline constexpr Origin assumed{"assumed", "", "nothing public is known that says it"};
inline constexpr Origin interface_header{
    "header", "", "include/linux/mlx5/ of Linux: the value that the interface has for InfiniBand"};
inline constexpr Origin library{
    "libmlx5", "", "providers/mlx5 of rdma-core: what it demands before it uses the feature"};
inline constexpr Origin trace_2016{
    "trace-2016", "ConnectX-4 Lx, 14.12.1220",
    "github.com/snabbco/snabb, src/apps/mellanox/trace-mlx5_core.txt.gz: commands of mlx5_core"};
inline constexpr Origin connectx4_12_18{"devinfo-12.18", "ConnectX-4, 12.18.1000",
                                        "github.com/open-mpi/ompi/issues/9087: ibv_devinfo -v"};
inline constexpr Origin connectx4_12_20{"devinfo-12.20", "ConnectX-4, 12.20.1820",
                                        "github.com/open-mpi/ompi/issues/9957: ibv_devinfo -vv"};
inline constexpr Origin connectx4_12_28{"devinfo-12.28", "ConnectX-4, 12.28.2006",
                                        "github.com/openucx/ucx/issues/7613: ibv_devinfo -v"};
inline constexpr Origin connectx5_16_23{"devinfo-16.23", "ConnectX-5, 16.23.1000",
                                        "github.com/rapidsai/ucx-py/issues/361: ibv_devinfo -vvv"};
inline constexpr Origin connectx5_16_31{
    "devinfo-16.31", "ConnectX-5, 16.31.1014, Ethernet",
    "github.com/martins3/martins3.github.io, notes on tools of RDMA: ibv_devinfo -v"};
inline constexpr Origin connectx6_20_29{"devinfo-20.29", "ConnectX-6, 20.29.1016",
                                        "github.com/openucx/ucx/issues/8229: ibv_devinfo -vv"};
inline constexpr Origin connectx6_20_37{
    "devinfo-20.37", "ConnectX-6, 20.37.1700",
    "an issue of github.com/openucx/ucx with board MT_0000000594 and UCX 1.16.0: ibv_devinfo -vv"};
inline constexpr Origin connectx6dx_22_36{
    "devinfo-22.36", "ConnectX-6 Dx, 22.36.1010, Ethernet",
    "notes on RDMA with board MT_0000000359 and hca_core_clock 1000000kHZ: ibv_devinfo -vv"};
inline constexpr Origin mlx5ctl{
    "mlx5ctl", "ConnectX-6 Dx, Ethernet",
    "github.com/saeedtx/mlx5ctl, README.md: capabilities under mlx5_core, NODE_DESC"};
inline constexpr Origin connectx7_28_40{
    "devinfo-28.40", "ConnectX-7, 28.40.1000",
    "notes on InfiniBand with board MT_0000000834: ibv_devinfo and ibstat, in InfiniBand mode"};

/// All, in the order of their cards.
inline constexpr std::array all{
    &assumed,         &interface_header,  &library,         &trace_2016,      &connectx4_12_18,
    &connectx4_12_20, &connectx4_12_28,   &connectx5_16_23, &connectx5_16_31, &connectx6_20_29,
    &connectx6_20_37, &connectx6dx_22_36, &mlx5ctl,         &connectx7_28_40};

} // namespace origins

} // namespace cxemu::hca
