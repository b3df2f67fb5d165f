// SPDX-License-Identifier: GPL-2.0-or-later
#include "hwtab/view.hpp"
#include "queues/send_wqe.hpp"
#include "queues/wqe_envelope.hpp"
#include "tables/work_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

namespace cxemu::queues {
namespace {

using check::EnvelopeFields;
using check::EnvelopeValues;
using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

/// A WQE whose segments the test appends.
class Entry {
public:
    explicit Entry(SendOpcode opcode, std::uint8_t variant = 0) {
        const auto control = add<hwtab::wqe_ctrl_seg>();
        control.set<"opcode">(static_cast<std::uint8_t>(opcode));
        control.set<"opmod">(variant);
    }

    template <const hwtab::Layout& layout>
    hwtab::View<layout> add() {
        bytes_.resize(bytes_.size() + layout.size);
        return hwtab::View<layout>{std::span(bytes_).last(layout.size)};
    }

    check::EnvelopeText recorded(ServiceType service) const {
        check::Envelope envelope;
        record_send(envelope, service, bytes_);
        return envelope.text();
    }

private:
    std::vector<std::byte> bytes_;
};

TEST(WqeEnvelope, SegmentsOfWriteRecordedInOrder) {
    Entry entry(SendOpcode::rdma_write);
    entry.add<hwtab::wqe_raddr_seg>().set<"rkey">(0x100);
    entry.add<hwtab::wqe_data_seg>().set<"lkey">(0x200);
    entry.add<hwtab::wqe_data_seg>();
    const auto text = entry.recorded(ServiceType::reliable_connection);
    EXPECT_EQ(text.at("send rc rdma_write").at("segments"), (EnvelopeValues{"ctrl raddr data+"}));
    EXPECT_EQ(text.at("send rc rdma_write raddr"), (EnvelopeFields{{"rkey", {"nonzero"}}}));
    EXPECT_EQ(text.at("send rc rdma_write data"), (EnvelopeFields{{"lkey", {"0", "nonzero"}}}));
}

TEST(WqeEnvelope, LongAndShortAddressesDistinguished) {
    Entry full(SendOpcode::send);
    full.add<hwtab::av>().set<"extended">(1);
    EXPECT_EQ(full.recorded(ServiceType::unreliable_datagram).at("send ud send").at("segments"),
              (EnvelopeValues{"ctrl av"}));
    Entry brief(SendOpcode::send);
    brief.add<hwtab::base_av>();
    EXPECT_EQ(brief.recorded(ServiceType::dci).at("send dci send").at("segments"),
              (EnvelopeValues{"ctrl base_av"}));
}

TEST(WqeEnvelope, InlineDataTakesWholeUnits) {
    Entry entry(SendOpcode::send);
    const auto segment = entry.add<hwtab::wqe_data_seg>();
    segment.set<"inline_seg">(1);
    segment.set<"byte_count">(5); // 4 bytes of header and 5 of data: one unit of 16
    entry.add<hwtab::wqe_data_seg>();
    EXPECT_EQ(entry.recorded(ServiceType::reliable_connection).at("send rc send").at("segments"),
              (EnvelopeValues{"ctrl inline data"}));
}

TEST(WqeEnvelope, InlineDataBeyondEndSurvived) {
    Entry entry(SendOpcode::send);
    const auto segment = entry.add<hwtab::wqe_data_seg>();
    segment.set<"inline_seg">(1);
    segment.set<"byte_count">(1000);
    EXPECT_EQ(entry.recorded(ServiceType::reliable_connection).at("send rc send").at("segments"),
              (EnvelopeValues{"ctrl inline"}));
}

TEST(WqeEnvelope, TruncatedSegmentSurvived) {
    const Entry entry(SendOpcode::rdma_read);
    EXPECT_EQ(
        entry.recorded(ServiceType::reliable_connection).at("send rc rdma_read").at("segments"),
        (EnvelopeValues{"ctrl raddr"}));
}

TEST(WqeEnvelope, MaskedOperandsOfEightBytesRecorded) {
    Entry addition(SendOpcode::masked_fetch_add, 9);
    addition.add<hwtab::wqe_raddr_seg>();
    addition.add<hwtab::wqe_masked_fetch_add_seg>().set<"field_boundary">(1);
    addition.add<hwtab::wqe_data_seg>();
    auto text = addition.recorded(ServiceType::reliable_connection);
    EXPECT_EQ(text.at("send rc atomic_masked_fa 0x9").at("segments"),
              (EnvelopeValues{"ctrl raddr masked_fetch_add data"}));
    EXPECT_EQ(text.at("send rc atomic_masked_fa 0x9 masked_fetch_add"),
              (EnvelopeFields{{"field_boundary", {"nonzero"}}}));
    Entry swap(SendOpcode::masked_compare_swap, 9);
    swap.add<hwtab::wqe_raddr_seg>();
    swap.add<hwtab::wqe_masked_atomic_seg>();
    swap.add<hwtab::wqe_data_seg>();
    text = swap.recorded(ServiceType::reliable_connection);
    EXPECT_EQ(text.at("send rc atomic_masked_cs 0x9").at("segments"),
              (EnvelopeValues{"ctrl raddr masked_atomic data"}));
}

TEST(WqeEnvelope, MaskedOperandsOfOtherLengthNamedOnly) {
    Entry entry(SendOpcode::masked_compare_swap, 8); // operands of 4 bytes
    entry.add<hwtab::wqe_raddr_seg>();
    entry.add<hwtab::wqe_atomic_seg>().set<"swap_add">(1);
    entry.add<hwtab::wqe_data_seg>();
    const auto text = entry.recorded(ServiceType::reliable_connection);
    EXPECT_EQ(text.at("send rc atomic_masked_cs 0x8").at("segments"),
              (EnvelopeValues{"ctrl raddr operands data"}));
    EXPECT_THAT(text, Not(Contains(Key("send rc atomic_masked_cs 0x8 operands"))));
}

TEST(WqeEnvelope, ReceiveEndsBehindTerminator) {
    std::vector<std::byte> entry(3 * hwtab::wqe_data_seg.size);
    const auto at = [&](std::size_t index) {
        return hwtab::View<hwtab::wqe_data_seg>{
            std::span(entry).subspan(index * hwtab::wqe_data_seg.size)};
    };
    at(0).set<"lkey">(0x300);
    at(1).set<"lkey">(0x100); // special_lkey: terminate_scatter_list
    at(2).set<"addr">(1);
    check::Envelope envelope;
    record_receive(envelope, "own", entry);
    EXPECT_EQ(envelope.text().at("receive own data"),
              (EnvelopeFields{{"lkey", {"nonzero", "terminate_scatter_list"}}}));
}

} // namespace
} // namespace cxemu::queues
