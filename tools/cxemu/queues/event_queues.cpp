// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/event_queues.hpp"

#include <nlohmann/json.hpp>

namespace cxemu::queues {

EventQueue* EventQueues::subscriber(hca::EventType type) const {
    EventQueue* found = nullptr;
    hca_.objects().of<EventQueue>().for_each([&](EventQueue& queue) {
        if (queue.events().test(static_cast<std::uint8_t>(type)))
            found = &queue;
    });
    return found;
}

bool EventQueues::post_event(hca::EventType type, std::uint8_t sub_type,
                             std::span<const std::byte> data) {
    EventQueue* queue = subscriber(type);
    const bool posted = queue != nullptr && queue->post(type, sub_type, data);
    ++(posted ? posted_ : lost_);
    return posted;
}

void EventQueues::vectors_changed(std::uint32_t first, std::uint32_t count) {
    hca_.objects().of<EventQueue>().for_each([&](EventQueue& queue) {
        if (queue.vector() - first < count)
            queue.vector_changed();
    });
}

nlohmann::json EventQueues::statistics() const {
    nlohmann::json queues = nlohmann::json::array();
    hca_.objects().of<EventQueue>().for_each([&](const EventQueue& queue) {
        queues.push_back({{"number", queue.number()},
                          {"vector", queue.vector()},
                          {"entries", queue.context().get<"producer_counter">()},
                          {"stopped", queue.stopped()}});
    });
    return {{"posted", posted_}, {"lost", lost_}, {"queues", queues}};
}

} // namespace cxemu::queues
