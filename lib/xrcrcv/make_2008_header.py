#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Generates an <infiniband/verbs.h> with the additional XRC interface of 2008 from today's rdma-core header.

The script inserts declarations at places that it searches for, and fails if a place is missing or occurs twice. A
header whose structures differ from those of the compiled library must not be installed.
"""

import argparse
import dataclasses
import pathlib
import re
import sys


@dataclasses.dataclass(frozen=True)
class Insertion:
    """Text to insert after a place in the header."""

    what: str
    # Matches the structure or enumeration that contains the place, from its first line up to the place.
    anchor: str
    text: str


# A tab or several spaces, as in the header.
GAP = r"[ \t]+"

INSERTIONS = [
    Insertion(
        "XRC domain, type of its address",
        r"struct ibv_xrcd \{\n[^}]*\};\n",
        "\n#define ibv_xrc_domain ibv_xrcd\n",
    ),
    Insertion(
        "flag of events of receive QPs",
        rf"struct ibv_async_event \{{\n(?:[^}}]|\}} element)*enum ibv_event_type{GAP}event_type;\n\}};\n",
        "\nenum ibv_event_flags {\n\tIBV_XRC_QP_EVENT_FLAG = 0x80000000U,\n};\n",
    ),
    Insertion(
        "number of the QP in an event",
        rf"struct ibv_async_event \{{\n\tunion \{{\n(?:\t\t[^\n]*;\n)*?\t\tint{GAP}port_num;\n",
        "\t\tuint32_t\txrc_qp_num;\n",
    ),
    Insertion(
        "type of QPs that send",
        r"enum ibv_qp_type \{\n[^}]*?\tIBV_QPT_XRC_SEND = 9,\n",
        "\tIBV_QPT_XRC = IBV_QPT_XRC_SEND,\n",
    ),
    Insertion(
        "XRC domain of a new QP",
        rf"struct ibv_qp_init_attr \{{\n[^}}]*\tint{GAP}sq_sig_all;\n",
        "\tstruct ibv_xrc_domain *xrc_domain;\n",
    ),
    Insertion(
        "number of an SRQ",
        rf"struct ibv_srq \{{\n[^}}]*?\tuint32_t{GAP}handle;\n(?=\n?\tpthread_mutex_t{GAP}mutex;\n)",
        "\tuint32_t\t\txrc_srq_num;\n",
    ),
    Insertion(
        "number of the remote SRQ, beginning",
        r"struct ibv_send_wr \{\n(?:(?!\n\};)[\s\S])*?\t\} wr;\n",
        "\tunion {\n\tuint32_t\t\txrc_remote_srq_num;\n",
    ),
    Insertion(
        "number of the remote SRQ, end",
        rf"struct ibv_send_wr \{{\n(?:(?!\n\}};)[\s\S])*?\tunion \{{\n\t\tstruct \{{\n\t\t\tuint32_t{GAP}remote_srqn;\n"
        r"\t\t\} xrc;\n\t\} qp_type;\n",
        "\t};\n",
    ),
]

PROTOTYPES = """
/*
 * The XRC interface of 2008; libxrc2008 has the functions. They return 0 or a positive errno.
 */
#ifndef __LP64__
#error "The XRC interface of 2008 is there for 64-bit programs: struct ibv_srq has no room for xrc_srq_num in others."
#endif

struct ibv_xrc_domain *ibv_open_xrc_domain(struct ibv_context *context, int fd, int oflag);
int ibv_close_xrc_domain(struct ibv_xrc_domain *d);
struct ibv_srq *ibv_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrc_domain *xrc_domain, struct ibv_cq *xrc_cq,
				   struct ibv_srq_init_attr *srq_init_attr);
int ibv_create_xrc_rcv_qp(struct ibv_qp_init_attr *init_attr, uint32_t *xrc_rcv_qpn);
int ibv_modify_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			  int attr_mask);
int ibv_query_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num, struct ibv_qp_attr *attr,
			 int attr_mask, struct ibv_qp_init_attr *init_attr);
int ibv_reg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num);
int ibv_unreg_xrc_rcv_qp(struct ibv_xrc_domain *xrc_domain, uint32_t xrc_qp_num);

/* Programs of 2008 gave a QP of type IBV_QPT_XRC an SRQ, which the kernel refuses today: such a QP only sends. */
static inline struct ibv_qp *ibv_create_qp_2008(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr)
{
	struct ibv_srq *srq = init_attr->srq;
	struct ibv_qp *qp;

	if (init_attr->qp_type == IBV_QPT_XRC)
		init_attr->srq = NULL;
	qp = ibv_create_qp(pd, init_attr);
	init_attr->srq = srq;
	return qp;
}
/* Without parameters, so that its address is that of this function, and members of this name have one name everywhere. */
#define ibv_create_qp ibv_create_qp_2008
"""

# The last lines of the header: the ends of extern "C" and of the include guard.
END = r"(?=\n#ifdef __cplusplus\n\}\n#endif\n(?:\s|#[ \t]*undef [^\n]*\n)*#endif /\* INFINIBAND_VERBS_H \*/\s*\Z)"


class Refusal(Exception):
    """The header does not fit the insertions."""


def insert(header: str, insertion: Insertion) -> str:
    """The header with one insertion."""
    found = list(re.finditer(insertion.anchor, header))
    if len(found) != 1:
        raise Refusal(f"{insertion.what}: its place is there {len(found)} times")
    end = found[0].end()
    return header[:end] + insertion.text + header[end:]


def header_of_2008(header: str, source: str) -> str:
    """The complete header; source: its origin, for readers."""
    if "xrc_domain" in header:
        raise Refusal("it has the interface already")
    for insertion in INSERTIONS:
        header = insert(header, insertion)
    header = insert(header, Insertion("prototypes", END, PROTOTYPES))
    return f"/* {source} with the XRC interface of 2008; made by the build of libxrc2008. */\n{header}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verbs", type=pathlib.Path, help="verbs.h of rdma-core")
    parser.add_argument("output", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        text = header_of_2008(arguments.verbs.read_text(encoding="utf-8"), "<infiniband/verbs.h>")
    except Refusal as refusal:
        print(f"{arguments.verbs}: {refusal}", file=sys.stderr)
        return 1
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
