// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random WRs on two connected QPs, over links that lose, duplicate, reorder and delay packets,
// compared with a reference model of the specification. Each seed yields one script; a failing
// script is reduced before it is printed.
#include "check/seeded_random.hpp"
#include "transport/testing/peers.hpp"
#include "transport/tests/random_script.hpp"
#include "transport/tests/reference_model.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cxemu::transport {
namespace {

using check::SeededRandom;
using fabric::LinkDirection;
using model::Defect;
using model::Direction;
using model::Kind;
using model::Request;
using queues::CompletionOpcode;
using queues::SendOpcode;
using queues::ServiceType;
using testing::ConnectionOptions;
using testing::Data;
using testing::LinkQuality;
using testing::Peer;
using testing::Peers;
using testing::Result;
using testing::Send;
using testing::status_of;
using testing::Weather;

// --- Scripts -------------------------------------------------------------------------------------

/// An action of software, or time.
struct Step {
    enum class Kind : std::uint8_t { post, receive, wait, drain, resume };
    Kind kind = Kind::wait;
    bool from_second = false; ///< sender of the request, or of the messages to receive
    Request request{};
    std::uint32_t length = 0; ///< of a receive buffer
    std::chrono::microseconds time{};
};

struct Script {
    std::uint64_t seed = 0;
    ConnectionOptions options;
    LinkQuality link;
    std::vector<Step> steps;
};

constexpr std::size_t max_requests = 24; ///< of a side: all fit into its queue
constexpr std::size_t max_receives = 56; ///< of a side, including those added at the end
constexpr std::uint32_t longest = 9'000; ///< bytes of a message
constexpr std::uint32_t largest_buffer = 9'216;
constexpr std::uint32_t grh_size = 40; ///< bytes in front of a datagram

Kind draw_kind(SeededRandom& random, ServiceType service) {
    constexpr std::array reliable{
        Kind::send, Kind::send_immediate, Kind::write,    Kind::write_immediate,
        Kind::read, Kind::compare_swap,   Kind::fetch_add};
    if (service == ServiceType::unreliable_datagram)
        return Kind::send_immediate;
    constexpr std::array unreliable{Kind::send_immediate, Kind::write, Kind::write_immediate};
    if (service == ServiceType::unreliable_connection)
        return unreliable.at(random.below(unreliable.size()));
    return reliable.at(random.below(reliable.size()));
}

Request draw_request(SeededRandom& random, const ConnectionOptions& options, std::uint32_t number) {
    Request request{.kind = draw_kind(random, options.service), .number = number};
    // Short lengths, about packet size, and long ones.
    constexpr std::array<std::uint32_t, 3> lengths{64, 1100, longest};
    request.length = static_cast<std::uint32_t>(random.below(lengths.at(random.below(3)) + 1));
    if (request.kind == Kind::read)
        request.length = std::max(request.length, 1U);
    if (options.service == ServiceType::unreliable_datagram)
        request.length = std::min(request.length, 128U << options.mtu_code);
    request.offset = static_cast<std::uint32_t>(random.below(Direction::memory_size - longest));
    if (model::is_atomic(request.kind)) {
        request.length = 8;
        request.offset = static_cast<std::uint32_t>(8 * random.below(4)); // so that they overlap
    }
    request.operand = random.below(3);
    request.compare = random.below(3);
    request.fence = random.below(8) == 0;
    request.signaled = random.below(4) != 0;
    return request;
}

/// Only the first side sends, and the other one has an SRQ.
bool is_one_way(ServiceType service) {
    return service == ServiceType::extended_reliable_connection || service == ServiceType::dci;
}

ConnectionOptions draw_options(SeededRandom& random) {
    constexpr std::array services{
        ServiceType::reliable_connection,          ServiceType::reliable_connection,
        ServiceType::extended_reliable_connection, ServiceType::unreliable_connection,
        ServiceType::unreliable_datagram,          ServiceType::dci};
    constexpr std::array<std::uint32_t, 3> psns{0, 0xff'fff8, 0x7f'fffc};
    ConnectionOptions options;
    options.service = services.at(random.below(services.size()));
    options.mtu_code = static_cast<std::uint8_t>(1 + random.below(5));
    options.first_psn = psns.at(random.below(psns.size()));
    options.not_ready_timer = static_cast<std::uint8_t>(1 + random.below(14));
    options.log_reads = static_cast<std::uint8_t>(random.below(4));
    options.shares_receives = !is_one_way(options.service) && random.below(3) == 0;
    return options;
}

Step draw_wait(SeededRandom& random) {
    constexpr std::array<std::uint64_t, 3> longest_waits{20, 2'000, 90'000};
    return {.time = std::chrono::microseconds(
                1 + random.below(longest_waits.at(random.below(longest_waits.size()))))};
}

Script draw_script(std::uint64_t seed) {
    SeededRandom random(seed);
    Script script{.seed = seed,
                  .options = draw_options(random),
                  .link = testing::draw_link(random),
                  .steps = {}};
    const bool both_send = !is_one_way(script.options.service);
    const std::size_t steps = 4 + random.below(60);
    std::array<std::uint32_t, 2> posted{};
    for (std::size_t i = 0; i < steps; ++i) {
        Step step = draw_wait(random);
        step.from_second = both_send && random.below(2) != 0;
        const auto choice = random.below(8);
        auto& number = posted.at(step.from_second ? 1 : 0);
        if (choice < 4 && number < max_requests) {
            step.kind = Step::Kind::post;
            step.request = draw_request(random, script.options, ++number);
        } else if (choice == 4 || choice == 5) {
            step.kind = Step::Kind::receive;
            step.length = largest_buffer;
        } else if (choice == 6) {
            step.kind = random.below(2) != 0 ? Step::Kind::drain : Step::Kind::resume;
        }
        script.steps.push_back(step);
    }
    return script;
}

/// One side sends, and one of its requests is invalid.
Script draw_failing_script(std::uint64_t seed) {
    Script script = draw_script(seed);
    SeededRandom random(~seed);
    if (!is_reliable(script.options.service))
        script.options.service = ServiceType::reliable_connection;
    std::vector<Request*> requests;
    for (Step& step : script.steps) {
        step.from_second = false;
        if (step.kind == Step::Kind::post && requests.size() < max_requests)
            requests.push_back(&step.request);
        else if (step.kind == Step::Kind::post)
            step.kind = Step::Kind::wait;
    }
    if (requests.empty())
        return script;
    Request& wrong = *requests.at(random.below(requests.size()));
    wrong.length = std::max(wrong.length, 1U);
    const bool is_send = wrong.kind == Kind::send || wrong.kind == Kind::send_immediate;
    const bool has_data =
        is_send || wrong.kind == Kind::write || wrong.kind == Kind::write_immediate;
    if (has_data && random.below(2) != 0)
        wrong.defect = Defect::local_key;
    else
        wrong.defect = is_send ? Defect::too_long : Defect::remote_key;
    if (wrong.defect == Defect::too_long)
        wrong.length = largest_buffer + 1;
    return script;
}

// --- Execution of scripts ------------------------------------------------------------------------

SendOpcode opcode_of(Kind kind) {
    constexpr std::array opcodes{SendOpcode::send,       SendOpcode::send_immediate,
                                 SendOpcode::rdma_write, SendOpcode::rdma_write_immediate,
                                 SendOpcode::rdma_read,  SendOpcode::compare_swap,
                                 SendOpcode::fetch_add};
    return opcodes.at(static_cast<std::size_t>(kind));
}

/// One direction: posted WRs and their buffers.
struct Traffic {
    Traffic(Peer& from, Peer& to, model::Service service, bool shares_receives)
        : sender(from), receiver(to), expected(service, shares_receives),
          memory(to.space(Direction::memory_size)) {}

    Peer& sender;
    Peer& receiver;
    Direction expected;
    Data memory;
    std::vector<Data> responses;                     ///< one for each send WR
    std::vector<Data> buffers;                       ///< one for each receive WR
    std::map<std::uint16_t, std::size_t> request_at; ///< by WQE index
    std::size_t receives_wanted = 0;
    model::Observation seen;
};

class Run {
public:
    explicit Run(const Script& script)
        : script_(script), peers_(script.options),
          traffic_{Traffic(peers_.first, peers_.second, model_service(), shares()),
                   Traffic(peers_.second, peers_.first, model_service(), shares())},
          weather_(peers_.time.loop, script.link, script.seed) {
        if (script.options.service == ServiceType::dci)
            other_target_ = &peers_.second.make_target(script.options);
        if (script.link.loses_responses())
            traffic_[0].expected.may_lose_responses();
        peers_.connect();
        peers_.set_filter(
            [this](fabric::Link& link, LinkDirection direction, fabric::Packet packet) {
                weather_.take(link, direction, std::move(packet));
            });
    }

    /// \return the difference from the model
    std::optional<std::string> operator()() {
        for (const Step& step : script_.steps)
            take(step);
        for (Traffic& traffic : traffic_) {
            while (traffic.buffers.size() < traffic.receives_wanted)
                post_receive(traffic, largest_buffer);
        }
        finish();
        for (Traffic& traffic : traffic_) {
            if (auto wrong = check(traffic))
                return wrong;
        }
        return {};
    }

private:
    [[nodiscard]] model::Service model_service() const {
        return is_reliable(script_.options.service) ? model::Service::reliable
                                                    : model::Service::unreliable;
    }
    [[nodiscard]] bool shares() const {
        return script_.options.shares_receives || is_one_way(script_.options.service);
    }
    [[nodiscard]] std::uint32_t skipped() const {
        return script_.options.service == ServiceType::unreliable_datagram ? grh_size : 0;
    }
    [[nodiscard]] bool is_xrc() const {
        return script_.options.service == ServiceType::extended_reliable_connection;
    }

    /// Resumes drained sends until nothing is left to do.
    void finish() {
        constexpr int rounds = 2;
        for (int round = 0; round < rounds; ++round) {
            for (Traffic& traffic : traffic_)
                resume(traffic.sender);
            peers_.run(std::chrono::milliseconds(20), 10); // longer than any timer
        }
        poll();
    }

    void resume(Peer& sender) {
        if (sender.queue_pair().state() == queues::QueuePairState::send_queue_drained)
            sender.resume_sends(script_.options);
    }

    void take(const Step& step) {
        Traffic& traffic = traffic_.at(step.from_second ? 1 : 0);
        switch (step.kind) {
        case Step::Kind::post:
            post(traffic, step.request);
            break;
        case Step::Kind::receive:
            if (traffic.buffers.size() + max_requests < max_receives)
                post_receive(traffic, step.length);
            break;
        case Step::Kind::wait:
            peers_.advance(step.time);
            break;
        case Step::Kind::drain:
            traffic.sender.queue_pair().drain_sends();
            break;
        case Step::Kind::resume:
            resume(traffic.sender);
            break;
        }
        poll();
    }

    void post(Traffic& traffic, const Request& request) {
        Send send{.opcode = opcode_of(request.kind),
                  .remote = {.address = traffic.memory.address + request.offset},
                  .immediate = request.number,
                  .fence = request.fence ? queues::Fence::reads_and_atomics : queues::Fence::none,
                  .signaled = request.signaled,
                  .atomic = {.swap_or_add = request.operand, .compare = request.compare}};
        constexpr std::uint32_t no_such_key = 0xffff00;
        if (request.defect == Defect::local_key)
            send.local_key = no_such_key;
        if (request.defect == Defect::remote_key)
            send.remote_key = no_such_key;
        if (is_xrc())
            send.xrc_srq = peers_.second.xrc_queue().number();
        if (request.number % 3 == 0)
            send.target = other_target_;
        const Data data = traffic.sender.space(request.length);
        const bool is_read_or_atomic = request.kind == Kind::read || model::is_atomic(request.kind);
        if (!is_read_or_atomic)
            std::ranges::copy(model::data_of(request),
                              traffic.sender.bench.at(data.address, data.length).begin());
        if (request.length != 0)
            send.data = {data};
        traffic.responses.push_back(is_read_or_atomic ? data : Data{});
        traffic.request_at[traffic.sender.next_send()] = traffic.expected.requests().size();
        traffic.expected.post_send(request);
        traffic.receives_wanted += model::takes_receive(request.kind) ? 1 : 0;
        traffic.sender.post(send);
        peers_.time.loop.turn(EventLoop::Duration::zero());
    }

    void post_receive(Traffic& traffic, std::uint32_t length) {
        const Data buffer = traffic.receiver.space(length + skipped());
        const auto slot = static_cast<std::uint16_t>(traffic.buffers.size());
        if (is_xrc())
            traffic.receiver.post_shared(traffic.receiver.xrc_queue(), slot, buffer);
        else if (shares())
            traffic.receiver.post_to_pool(buffer);
        else
            traffic.receiver.post_receive({buffer});
        traffic.buffers.push_back(buffer);
        traffic.expected.post_receive(length);
    }

    void poll() {
        for (Traffic& traffic : traffic_) {
            for (const Result& result : traffic.sender.poll())
                note(traffic, result);
        }
    }

    /// A completion of the sender of \p outgoing; receive completions are of the other direction.
    void note(Traffic& outgoing, const Result& result) {
        model::Completion completion{.index = result.index, .status = status_of(result)};
        if (result.is_send()) {
            const auto request = outgoing.request_at.find(result.index);
            completion.index =
                request == outgoing.request_at.end() ? ~std::size_t{0} : request->second;
            outgoing.seen.sends.push_back(completion);
            return;
        }
        Traffic& incoming = &outgoing == traffic_.data() ? traffic_[1] : traffic_[0];
        if (!result.error) {
            completion.length = result.byte_count - skipped();
            if (result.opcode != CompletionOpcode::send)
                completion.immediate = result.immediate;
        }
        incoming.seen.receives.push_back(completion);
    }

    std::optional<std::string> check(Traffic& traffic) {
        traffic.seen.memory = traffic.receiver.contents(traffic.memory);
        for (const Data& buffer : traffic.buffers)
            traffic.seen.buffers.push_back(traffic.receiver.contents(
                {.address = buffer.address + skipped(), .length = buffer.length - skipped()}));
        for (const Data& response : traffic.responses)
            traffic.seen.responses.push_back(traffic.sender.contents(response));
        auto wrong = traffic.expected.check(traffic.seen);
        if (wrong)
            wrong->insert(0,
                          &traffic == traffic_.data() ? "first to second: " : "second to first: ");
        return wrong;
    }

    const Script& script_;
    Peers peers_;
    std::array<Traffic, 2> traffic_;
    Weather weather_;
    const queues::QueuePair* other_target_ = nullptr; ///< of a DCI
};

std::optional<std::string> run(const Script& script) {
    return Run(script)();
}

// --- Failures ------------------------------------------------------------------------------------

std::string describe(const Step& step) {
    const std::string_view who = step.from_second ? "second" : "first";
    const Request& request = step.request;
    switch (step.kind) {
    case Step::Kind::post:
        return fmt::format("{} posts {} {} of {} bytes at {:#x}{}{}, operand {}, compare {}, "
                           "defect {}",
                           who, model::name_of(request.kind), request.number, request.length,
                           request.offset, request.fence ? ", fenced" : "",
                           request.signaled ? "" : ", unsignaled", request.operand, request.compare,
                           static_cast<int>(request.defect));
    case Step::Kind::receive:
        return fmt::format("a receive of {} bytes for the messages of the {}", step.length, who);
    case Step::Kind::drain:
        return fmt::format("the {} drains its sends", who);
    case Step::Kind::resume:
        return fmt::format("the {} sends again", who);
    case Step::Kind::wait:
        return fmt::format("{} us pass", step.time.count());
    }
    return {};
}

std::string describe(const Script& script) {
    const ConnectionOptions& options = script.options;
    std::string text = fmt::format(
        "seed {}, service {}{}, MTU code {}, first PSN {:#x}, RNR timer {}, 2^{} reads, "
        "lost {}%, doubled {}%, overtaken {}%, late {}%\n",
        script.seed, queues::name_of(options.service),
        options.shares_receives ? " with shared receives" : "", options.mtu_code, options.first_psn,
        options.not_ready_timer, options.log_reads, script.link.lost, script.link.doubled,
        script.link.overtaken, script.link.late);
    for (const Step& step : script.steps)
        text += "  " + describe(step) + "\n";
    return text;
}

void try_seeds(Script (*draw)(std::uint64_t), std::uint64_t usual) {
    testing::try_seeds(usual, [draw](std::uint64_t seed) -> std::optional<std::string> {
        Script script = draw(seed);
        if (!run(script))
            return {};
        testing::shorten(script.steps, [&script] { return run(script).has_value(); });
        return *run(script) + "\n" + describe(script);
    });
}

TEST(RandomConnection, ScriptsMatchSpecificationModel) {
    try_seeds(draw_script, 20);
}

TEST(RandomConnection, FailingScriptsMatchSpecificationModel) {
    try_seeds(draw_failing_script, 15);
}

} // namespace
} // namespace cxemu::transport
