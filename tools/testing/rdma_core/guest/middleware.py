# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests with communication libraries that MPI and other programs use on top of verbs."""

from machine import LONG, Guest

MIDDLEWARE = Guest("middleware", sm="cxemu", allow="middleware_violations.toml", level=LONG,
                   builds=("tools/testing/rdma_core/release_tree --packages middleware trixie",),
                   settings=("SUITE_TREE=/repo/build/middleware/trixie/tree",))
GUESTS = [MIDDLEWARE, MIDDLEWARE.but("middleware-mlx5", driver="mlx5")]
