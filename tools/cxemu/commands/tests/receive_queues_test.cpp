// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"
#include "queues/tag_list.hpp"

namespace cxemu::commands {
namespace {

using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

// --- Receive memory pools ------------------------------------------------------------------------

class PoolCommandsTest : public CommandTest {
protected:
    /// Four entries of 64 bytes.
    Call<hwtab::cmd_create_rmp> good() {
        Call<hwtab::cmd_create_rmp> call(sizeof(std::uint64_t));
        const hwtab::View<hwtab::rmpc> fields{call.in().bytes<"ctx">()};
        fields.set<"wq.log_wq_sz">(2);
        fields.set<"wq.log_wq_stride">(6);
        fields.set<"wq.pd">(bench.domain());
        fields.set<"wq.dbr_addr">(bench.allocate(4096));
        Bench::list_pages(call.input().subspan(hwtab::create_rmp_in.size), bench.allocate(4096));
        return call;
    }
    std::string with_context(auto corrupt_entry) {
        return corrupted(good(), [&](auto in) {
            corrupt_entry(hwtab::View<hwtab::rmpc>{in.template bytes<"ctx">()});
        });
    }
    template <const hwtab::Command& command>
    std::string simple(std::uint64_t number, std::uint16_t uid = 0) {
        return run<command>([&](auto in) { in.template set<"rmpn">(number); }, 0, uid);
    }
};

TEST_F(PoolCommandsTest, DestroyedRmpUnknown) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = call.out().get<"rmpn">();
    EXPECT_EQ(simple<hwtab::cmd_query_rmp>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_destroy_rmp>(number, 7),
              "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(simple<hwtab::cmd_destroy_rmp>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_destroy_rmp>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_query_rmp>(number), "BAD_RESOURCE unknown_object");
}

TEST_F(PoolCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.wq_type">(2); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.log_wq_sz">(16); }),
              "EXCEEDS_LIMIT exceeds_capability");
}

TEST_F(PoolCommandsTest, CreateInvalidStrideRefused) {
    constexpr auto bad_geometry = "BAD_PARAMETER bad_ring_geometry";
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.log_wq_stride">(4); }), bad_geometry)
        << "too short for a next and a data segment";
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.log_wq_stride">(10); }),
              bad_geometry);
    EXPECT_EQ(with_context([](auto rmp) {
                  rmp.template set<"wq.wq_type">(1);
                  rmp.template set<"wq.log_wq_stride">(4);
              }),
              bad_geometry)
        << "entries of a ring have next segments, too";
    EXPECT_EQ(with_context([](auto rmp) {
                  rmp.template set<"wq.wq_type">(1);
                  rmp.template set<"basic_cyclic_rcv_wqe">(1);
                  rmp.template set<"wq.log_wq_stride">(4);
              }),
              "OK")
        << "but for basic ones";
}

TEST_F(PoolCommandsTest, CreateInvalidMemoryRefused) {
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.dbr_addr">(6); }),
              "BAD_PARAMETER bad_doorbell_record");
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.log_wq_sz">(7); }),
              "BAD_PARAMETER page_list_too_short");
}

TEST_F(PoolCommandsTest, CreateUnknownObjectsRefused) {
    EXPECT_EQ(with_context([](auto rmp) { rmp.template set<"wq.pd">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(with_context([](auto rmp) {
                  rmp.template set<"wq.wq_umem_valid">(1);
                  rmp.template set<"wq.wq_umem_id">(no_object);
              }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(with_context([](auto rmp) {
                  rmp.template set<"wq.dbr_umem_valid">(1);
                  rmp.template set<"wq.dbr_umem_id">(no_object);
              }),
              "BAD_RESOURCE unknown_object");
}

TEST_F(PoolCommandsTest, UmemHoldsBufferAndDoorbellRecord) {
    const std::uint64_t memory = bench.allocate(std::size_t{2} * 4096);
    const auto number = make_umem(memory, 2);
    auto call = good();
    const hwtab::View<hwtab::rmpc> fields{call.in().bytes<"ctx">()};
    fields.set<"wq.wq_umem_valid">(1);
    fields.set<"wq.wq_umem_id">(number);
    fields.set<"wq.wq_umem_offset">(4096);
    fields.set<"wq.dbr_umem_valid">(1);
    fields.set<"wq.dbr_umem_id">(number);
    fields.set<"wq.dbr_addr">(64);
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto pool = call.out().get<"rmpn">();
    auto& queue = *bench.hca().objects().of<queues::ReceiveMemoryPool>().find(
        static_cast<std::uint32_t>(pool));
    EXPECT_EQ(queue.buffer().address(0), memory + 4096);
    EXPECT_EQ(queue.available(), 0U);
    bench.store32(memory + 64, 3);
    EXPECT_EQ(queue.available(), 3U);
    EXPECT_EQ(destroy_umem(number), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(simple<hwtab::cmd_destroy_rmp>(pool), "OK");
    EXPECT_EQ(destroy_umem(number), "OK");
}

TEST_F(PoolCommandsTest, RecordInUmemHoldsUmem) {
    const auto number = make_umem(bench.allocate(4096), 1);
    EXPECT_EQ(with_context([&](auto rmp) {
                  rmp.template set<"wq.dbr_umem_valid">(1);
                  rmp.template set<"wq.dbr_umem_id">(number);
                  rmp.template set<"wq.dbr_addr">(4096);
              }),
              "BAD_PARAMETER umem_out_of_range");
    auto call = good();
    const hwtab::View<hwtab::rmpc> fields{call.in().bytes<"ctx">()};
    fields.set<"wq.dbr_umem_valid">(1);
    fields.set<"wq.dbr_umem_id">(number);
    fields.set<"wq.dbr_addr">(8);
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    EXPECT_EQ(destroy_umem(number), "RESOURCE_BUSY object_busy");
}

TEST_F(PoolCommandsTest, RmpHoldsPdUntilDestroyed) {
    auto& pool = bench.make_receive_pool({});
    const auto release = [&] {
        return run<hwtab::cmd_dealloc_pd>([&](auto in) { in.template set<"pd">(bench.domain()); });
    };
    EXPECT_EQ(release(), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(simple<hwtab::cmd_destroy_rmp>(pool.number()), "OK");
    EXPECT_EQ(release(), "OK");
}

TEST_F(PoolCommandsTest, ModifyLimitRequiresReadyState) {
    auto& pool = bench.make_receive_pool({.limit = 1});
    bench.store32(pool.context().get<"wq.dbr_addr">(), 4); // more than any limit here
    const auto limit_of = [&] {
        pool.refresh();
        return pool.context().get<"wq.lwm">();
    };
    const auto modify = [&](std::uint64_t state, bool limit) {
        return run<hwtab::cmd_modify_rmp>([&](auto in) {
            in.template set<"rmpn">(pool.number());
            in.template set<"rmp_state">(state);
            in.template set<"bitmask.lwm">(limit ? 1 : 0);
            in.template set<"ctx.wq.lwm">(3);
        });
    };
    constexpr auto ready = hwtab::value<hwtab::rmp_state, "rdy">;
    EXPECT_EQ(modify(ready + 1, true), "BAD_RESOURCE_STATE wrong_object_state");
    EXPECT_EQ(modify(ready, false), "OK");
    EXPECT_EQ(limit_of(), 1U);
    EXPECT_EQ(modify(ready, true), "OK");
    EXPECT_EQ(limit_of(), 3U);
}

TEST_F(PoolCommandsTest, CreateWithoutFreeNumberFails) {
    Bench small(Bench::with_capability("log_max_rmp", 1));
    small.make_receive_pool({});
    small.make_receive_pool({});
    EXPECT_ANY_THROW(small.make_receive_pool({}));
}

// --- XRC SRQs ------------------------------------------------------------------------------------

class XrcReceiveCommandsTest : public CommandTest {
protected:
    Call<hwtab::cmd_create_xrc_srq> good() {
        Call<hwtab::cmd_create_xrc_srq> call(sizeof(std::uint64_t));
        const auto fields = call.in().nested<"xrc_srq_context_entry", hwtab::xrc_srqc>();
        fields.set<"log_xrc_srq_size">(2);
        fields.set<"log_rq_stride">(2);
        fields.set<"xrcd">(xrc_domain);
        fields.set<"cqn">(completions.number());
        fields.set<"pd">(bench.domain());
        fields.set<"db_record_addr_l">(bench.allocate(4096) >> 2U);
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }
    std::string with_context(auto corrupt_entry) {
        return corrupted(good(), [&](auto in) {
            corrupt_entry(in.template nested<"xrc_srq_context_entry", hwtab::xrc_srqc>());
        });
    }
    template <const hwtab::Command& command>
    std::string simple(std::uint64_t number, std::uint16_t op_mod = 0) {
        return run<command>([&](auto in) { in.template set<"xrc_srqn">(number); }, op_mod);
    }

    std::uint32_t xrc_domain = bench.make_xrc_domain();
    queues::CompletionQueue& completions = bench.make_completion_queue();
};

TEST_F(XrcReceiveCommandsTest, DestroyedXrcSrqUnknown) {
    constexpr auto arm = hwtab::value<hwtab::arm_xrc_srq_op_mod, "xrc_srq">;
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = call.out().get<"xrc_srqn">();
    EXPECT_EQ(simple<hwtab::cmd_query_xrc_srq>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_arm_xrc_srq>(number, arm), "OK");
    EXPECT_EQ(simple<hwtab::cmd_arm_xrc_srq>(number, arm + 1), "BAD_OPERATION unknown_op_mod");
    EXPECT_EQ(simple<hwtab::cmd_destroy_xrc_srq>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_arm_xrc_srq>(number, arm), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_query_xrc_srq>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_destroy_xrc_srq>(number), "BAD_RESOURCE unknown_object");
}

TEST_F(XrcReceiveCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"xrc_srq_umem_valid">(1); }),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"dbr_umem_valid">(1); }),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"log_rq_stride">(0); }),
              "BAD_PARAMETER bad_ring_geometry");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"log_xrc_srq_size">(8); }),
              "BAD_PARAMETER page_list_too_short");
}

TEST_F(XrcReceiveCommandsTest, CreateUnknownObjectsRefused) {
    constexpr auto unknown = "BAD_RESOURCE unknown_object";
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"pd">(no_object); }), unknown);
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"xrcd">(no_object); }), unknown);
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"cqn">(no_object); }), unknown);
    EXPECT_EQ(bench.violations(hca::rules::unknown_object), 3U);
}

TEST_F(XrcReceiveCommandsTest, XrcSrqHoldsObjectsUntilDestroyed) {
    const auto& queue = bench.make_xrc_receive_queue(xrc_domain, completions, 0);
    const auto release_all = [&] {
        return std::vector{
            run<hwtab::cmd_dealloc_pd>([&](auto in) { in.template set<"pd">(bench.domain()); }),
            run<hwtab::cmd_dealloc_xrcd>([&](auto in) { in.template set<"xrcd">(xrc_domain); }),
            run<hwtab::cmd_destroy_cq>(
                [&](auto in) { in.template set<"cqn">(completions.number()); }),
        };
    };
    EXPECT_EQ(release_all(), std::vector<std::string>(3, "RESOURCE_BUSY object_busy"));
    EXPECT_EQ(simple<hwtab::cmd_destroy_xrc_srq>(queue.number()), "OK");
    EXPECT_EQ(release_all(), std::vector<std::string>(3, "OK"));
}

// --- XRQs ----------------------------------------------------------------------------------------

class ExtendedReceiveCommandsTest : public CommandTest {
protected:
    /// Four entries of 64 bytes, and eight tags.
    Call<hwtab::cmd_create_xrq> good() {
        Call<hwtab::cmd_create_xrq> call(sizeof(std::uint64_t));
        const hwtab::View<hwtab::xrqc> fields{call.in().bytes<"xrq_context">()};
        fields.set<"topology">(hwtab::value<hwtab::xrq_topology, "tag_matching">);
        fields.set<"offload">(hwtab::value<hwtab::xrq_offload, "rndv">);
        fields.set<"tag_matching_topology_context.log_matching_list_sz">(3);
        fields.set<"cqn">(completions.number());
        fields.set<"wq.log_wq_sz">(2);
        fields.set<"wq.log_wq_stride">(6);
        fields.set<"wq.pd">(bench.domain());
        fields.set<"wq.dbr_addr">(bench.allocate(4096));
        Bench::list_pages(call.input().subspan(hwtab::create_xrq_in.size), bench.allocate(4096));
        return call;
    }
    std::string with_context(auto corrupt_entry) {
        return corrupted(good(), [&](auto in) {
            corrupt_entry(hwtab::View<hwtab::xrqc>{in.template bytes<"xrq_context">()});
        });
    }
    template <const hwtab::Command& command>
    std::string simple(std::uint64_t number) {
        return run<command>([&](auto in) { in.template set<"xrqn">(number); });
    }

    queues::CompletionQueue& completions = bench.make_completion_queue();
};

TEST_F(ExtendedReceiveCommandsTest, DestroyedXrqUnknown) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = call.out().get<"xrqn">();
    EXPECT_EQ(simple<hwtab::cmd_query_xrq>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_arm_xrq>(number), "OK");
    EXPECT_EQ(run<hwtab::cmd_arm_rq>([&](auto in) { in.template set<"srq_number">(number); },
                                     hwtab::value<hwtab::arm_rq_op_mod, "xrq">),
              "OK");
    EXPECT_EQ(simple<hwtab::cmd_destroy_xrq>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_arm_xrq>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_query_xrq>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_destroy_xrq>(number), "BAD_RESOURCE unknown_object");
}

TEST_F(ExtendedReceiveCommandsTest, QueryXrqReturnsTagListState) {
    auto& queue = bench.make_extended_receive_queue({});
    ASSERT_TRUE(queue.tags()->append({.tag = 1, .memory = {}}, 5));
    queue.tags()->count_unexpected();
    queue.tags()->count_unexpected();
    queue.tags()->synchronize(1);
    Call<hwtab::cmd_query_xrq> call;
    call.in().set<"xrqn">(queue.number());
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto fields = call.out().nested<"xrq_context", hwtab::xrqc>();
    EXPECT_EQ(fields.get<"tag_matching_topology_context.append_next_index">(), 5U);
    EXPECT_EQ(fields.get<"tag_matching_topology_context.hw_phase_cnt">(), 2U);
    EXPECT_EQ(fields.get<"tag_matching_topology_context.sw_phase_cnt">(), 1U);
}

TEST_F(ExtendedReceiveCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(with_context([](auto xrq) { xrq.template set<"topology">(2); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(with_context([](auto xrq) { xrq.template set<"offload">(2); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(with_context([](auto xrq) {
                  xrq.template set<"tag_matching_topology_context.log_matching_list_sz">(8);
              }),
              "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(with_context([](auto xrq) { xrq.template set<"wq.log_wq_sz">(16); }),
              "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(with_context([](auto xrq) { xrq.template set<"cqn">(0xbad); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(with_context([](auto xrq) { xrq.template set<"wq.pd">(0xbad); }),
              "BAD_RESOURCE unknown_object");
}

// --- Basic SRQs ----------------------------------------------------------------------------------

class BasicReceiveCommandsTest : public CommandTest {
protected:
    Call<hwtab::cmd_create_srq> good() {
        Call<hwtab::cmd_create_srq> call(sizeof(std::uint64_t));
        const auto fields = call.in().nested<"srq_context_entry", hwtab::srqc>();
        fields.set<"log_srq_size">(2);
        fields.set<"log_rq_stride">(2);
        fields.set<"pd">(bench.domain());
        fields.set<"dbr_addr">(bench.allocate(4096));
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }
    std::string with_context(auto corrupt_entry) {
        return corrupted(good(), [&](auto in) {
            corrupt_entry(in.template nested<"srq_context_entry", hwtab::srqc>());
        });
    }
};

TEST_F(BasicReceiveCommandsTest, DestroyedSrqUnknown) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = call.out().get<"srqn">();
    bench.store32(call.in().get<"srq_context_entry.dbr_addr">(), 3); // entries posted
    const auto arm = [&](std::uint16_t op_mod) {
        return run<hwtab::cmd_arm_rq>(
            [&](auto in) {
                in.template set<"srq_number">(number);
                in.template set<"lwm">(2);
            },
            op_mod);
    };
    const auto destroy = [&] {
        return run<hwtab::cmd_destroy_srq>([&](auto in) { in.template set<"srqn">(number); });
    };
    constexpr auto of_srq = hwtab::value<hwtab::arm_rq_op_mod, "srq">;
    EXPECT_EQ(arm(of_srq), "OK");
    EXPECT_EQ(arm(of_srq + 2), "BAD_OPERATION unknown_op_mod");
    Call<hwtab::cmd_query_srq> query;
    query.in().set<"srqn">(number);
    ASSERT_EQ(outcome(bench.run(query)), "OK");
    EXPECT_EQ(query.out().get<"srq_context_entry.lwm">(), 2U);
    EXPECT_EQ(destroy(), "OK");
    EXPECT_EQ(destroy(), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(arm(of_srq), "BAD_RESOURCE unknown_object");
}

TEST_F(BasicReceiveCommandsTest, CreateInvalidContextRefused) {
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"log_rq_stride">(0); }),
              "BAD_PARAMETER bad_ring_geometry");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"dbr_addr">(1); }),
              "BAD_PARAMETER bad_doorbell_record");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"log_srq_size">(8); }),
              "BAD_PARAMETER page_list_too_short");
    EXPECT_EQ(with_context([](auto srq) { srq.template set<"pd">(no_object); }),
              "BAD_RESOURCE unknown_object");
}

TEST_F(BasicReceiveCommandsTest, CreateWithCqRequiresXrcDomain) {
    const auto completions = bench.make_completion_queue().number();
    EXPECT_EQ(with_context([&](auto srq) { srq.template set<"cqn">(completions); }),
              "BAD_RESOURCE unknown_object");
    const auto xrc_domain = bench.make_xrc_domain();
    EXPECT_EQ(with_context([&](auto srq) {
                  srq.template set<"cqn">(completions);
                  srq.template set<"xrcd">(xrc_domain);
              }),
              "OK");
}

} // namespace
} // namespace cxemu::commands
