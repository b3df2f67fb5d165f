// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/health.hpp"

namespace cxemu::hca {

namespace {
constexpr std::uint32_t counter_mask = 0xff'ffff;
}

std::uint32_t Health::ticks() const {
    return static_cast<std::uint32_t>((loop_.now() - power_on_) / tick) & counter_mask;
}

std::uint32_t Health::counter() const {
    return stopped_ ? stopped_at_ : ticks();
}

void Health::stop_counter(bool stopped) {
    stopped_at_ = ticks();
    stopped_ = stopped;
}

void Health::reset() {
    report_ = {};
    miss_syndrome_ = 0;
    stopped_ = false;
}

} // namespace cxemu::hca
