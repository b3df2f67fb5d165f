// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/capture.hpp"

#include <cerrno>
#include <cstring>
#include <spdlog/fmt/fmt.h>
#include <utility>

namespace cxemu::check {

namespace {

constexpr int longest_packet = 8192; ///< bytes; more than any InfiniBand packet has
constexpr std::size_t buffer_size = std::size_t{1} << 20U;
constexpr std::size_t record_header = 16; ///< bytes in front of each packet in the file

timeval time_of_day() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds);
    // In a file of nanosecond precision libpcap takes tv_usec for nanoseconds.
    return {.tv_sec = seconds.count(), .tv_usec = rest.count()};
}

} // namespace

std::expected<std::unique_ptr<PacketCapture>, std::string>
PacketCapture::open(EventLoop& loop, const std::filesystem::path& file, Log log) {
    std::unique_ptr<PacketCapture> capture(new PacketCapture(loop, file, std::move(log)));
    if (auto started = capture->start(); !started)
        return std::unexpected(
            fmt::format("cannot open the packet capture {}: {}", file.string(), started.error()));
    return capture;
}

PacketCapture::PacketCapture(EventLoop& loop, std::filesystem::path file, Log log)
    : path_(std::move(file)), log_(std::move(log)), buffer_(buffer_size),
      flush_timer_(loop, [this] { flush(); }) {}

PacketCapture::~PacketCapture() = default;

std::expected<void, std::string> PacketCapture::start() {
    handle_.reset(pcap_open_dead_with_tstamp_precision(DLT_INFINIBAND, longest_packet,
                                                       PCAP_TSTAMP_PRECISION_NANO));
    if (!handle_)
        return std::unexpected("libpcap refuses the link type");
    std::FILE* stream = std::fopen(path_.c_str(), "wb");
    if (stream == nullptr)
        return std::unexpected(std::strerror(errno));
    // The stream must not send a part of a packet because its buffer is full.
    std::setvbuf(stream, buffer_.data(), _IOFBF, buffer_.size());
    dumper_.reset(pcap_dump_fopen(handle_.get(), stream));
    if (!dumper_)
        return std::unexpected(pcap_geterr(handle_.get()));
    if (pcap_dump_flush(dumper_.get()) != 0)
        return std::unexpected(std::strerror(errno));
    return {};
}

void PacketCapture::write(std::span<const std::byte> packet) {
    if (!dumper_)
        return;
    const std::size_t needed = record_header + packet.size();
    if (buffered_ + needed > buffer_.size())
        flush();
    if (!dumper_)
        return;
    const pcap_pkthdr header{.ts = time_of_day(),
                             .caplen = static_cast<bpf_u_int32>(packet.size()),
                             .len = static_cast<bpf_u_int32>(packet.size())};
    pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header,
              reinterpret_cast<const u_char*>(packet.data()));
    buffered_ += needed;
    ++packets_;
    if (!flush_timer_.active())
        flush_timer_.start(flush_delay);
}

void PacketCapture::flush() {
    flush_timer_.stop();
    buffered_ = 0;
    if (!dumper_ || pcap_dump_flush(dumper_.get()) == 0)
        return;
    log_->error("the packet capture {} ends after {} packets: {}", path_.string(), packets_,
                std::strerror(errno));
    dumper_.reset();
}

} // namespace cxemu::check
