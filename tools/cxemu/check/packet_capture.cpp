// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/packet_capture.hpp"

#include "base/byte_order.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <spdlog/fmt/fmt.h>
#include <utility>

namespace cxemu::check {

namespace {

constexpr int longest_packet = 8192; ///< bytes; more than any InfiniBand packet has
constexpr std::size_t buffer_size = std::size_t{1} << 20U;
constexpr std::size_t file_header = 24;        ///< bytes of the libpcap file header
constexpr std::size_t file_record_header = 16; ///< bytes of the libpcap header of a record
constexpr std::byte infiniband_record{21};
constexpr std::byte variable_length{0x04};

struct TimeOfDay {
    std::uint32_t seconds = 0;
    std::uint32_t nanoseconds = 0;

    static TimeOfDay now() {
        const auto time = std::chrono::system_clock::now().time_since_epoch();
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
        const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds);
        return {.seconds = static_cast<std::uint32_t>(seconds.count()),
                .nanoseconds = static_cast<std::uint32_t>(rest.count())};
    }

    /// In units of 2^-32 s.
    [[nodiscard]] std::uint64_t fixed_point() const {
        constexpr std::uint64_t nanoseconds_per_second = 1'000'000'000;
        return (std::uint64_t{seconds} << 32U) |
               ((std::uint64_t{nanoseconds} << 32U) / nanoseconds_per_second);
    }
};

/// Layout: time (little-endian), type, flags, record length, lost packets, wire length of the
/// packet.
void make_record_header(std::span<std::byte, record_header_size> header, const TimeOfDay& time,
                        std::size_t kept_size, std::size_t packet_size) {
    std::ranges::fill(header, std::byte{0});
    store_le(header, time.fixed_point());
    header[8] = infiniband_record;
    header[9] = variable_length;
    store_be(header.subspan<10>(), static_cast<std::uint16_t>(record_header_size + kept_size));
    store_be(header.subspan<14>(), static_cast<std::uint16_t>(packet_size));
}

} // namespace

std::expected<std::unique_ptr<PacketCapture>, std::string>
PacketCapture::open(EventLoop& loop, const std::filesystem::path& file, Log log,
                    CaptureLimits limits) {
    std::unique_ptr<PacketCapture> capture(new PacketCapture(loop, file, std::move(log), limits));
    if (auto started = capture->start(); !started)
        return std::unexpected(
            fmt::format("cannot open the packet capture {}: {}", file.string(), started.error()));
    return capture;
}

PacketCapture::PacketCapture(EventLoop& loop, std::filesystem::path file, Log log,
                             CaptureLimits limits)
    : path_(std::move(file)), log_(std::move(log)), limits_(limits), buffer_(buffer_size),
      flush_timer_(loop, [this] { flush(); }) {}

PacketCapture::~PacketCapture() = default;

std::expected<void, std::string> PacketCapture::start() {
    handle_.reset(
        pcap_open_dead_with_tstamp_precision(DLT_ERF, longest_packet, PCAP_TSTAMP_PRECISION_NANO));
    if (!handle_)
        return std::unexpected("libpcap refuses the link type");
    std::unique_ptr<std::FILE, CloseStream> stream(std::fopen(path_.c_str(), "wb"));
    if (!stream)
        return std::unexpected(std::strerror(errno));
    // A full stream buffer must not write a part of a packet to the file.
    std::setvbuf(stream.get(), buffer_.data(), _IOFBF, buffer_.size());
    // pcap_dump_fopen() closes the stream, also when it fails.
    // NOLINTNEXTLINE(clang-analyzer-unix.Stream): the analyzer doesn't know that
    dumper_.reset(pcap_dump_fopen(handle_.get(), stream.release()));
    if (!dumper_)
        return std::unexpected(pcap_geterr(handle_.get()));
    if (pcap_dump_flush(dumper_.get()) != 0)
        return std::unexpected(std::strerror(errno));
    size_ = file_header;
    return {};
}

void PacketCapture::write(std::span<const std::byte> packet) {
    if (!dumper_)
        return;
    const auto kept = packet.first(std::min(packet.size(), limits_.packet));
    const std::size_t needed = file_record_header + record_header_size + kept.size();
    if (needed > limits_.file - std::min(limits_.file, size_))
        return end_at_limit();
    if (buffered_ + needed > buffer_.size())
        flush();
    if (!dumper_)
        return;
    const TimeOfDay time = TimeOfDay::now();
    record_.resize(record_header_size);
    make_record_header(std::span(record_).first<record_header_size>(), time, kept.size(),
                       packet.size());
    record_.insert(record_.end(), kept.begin(), kept.end());
    // libpcap takes tv_usec for nanoseconds in a file of nanosecond precision.
    const pcap_pkthdr header{.ts = {.tv_sec = time.seconds, .tv_usec = time.nanoseconds},
                             .caplen = static_cast<bpf_u_int32>(record_.size()),
                             .len = static_cast<bpf_u_int32>(record_header_size + packet.size())};
    pcap_dump(reinterpret_cast<u_char*>(dumper_.get()), &header,
              reinterpret_cast<const u_char*>(record_.data()));
    buffered_ += needed;
    size_ += needed;
    ++packets_;
    if (!flush_timer_.active())
        flush_timer_.start(flush_delay);
}

void PacketCapture::end_at_limit() {
    flush();
    if (!dumper_)
        return;
    log_->info("the packet capture {} ends after {} packets: size limit {} bytes", path_.string(),
               packets_, limits_.file);
    dumper_.reset();
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
