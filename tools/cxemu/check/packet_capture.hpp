// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The packet capture: a pcap file that Wireshark dissects as InfiniBand.
///
/// libpcap has a link type for bare InfiniBand packets (247), but Wireshark (4.4) refuses it. It
/// dissects records of the Extensible Record Format, link type 197, of type InfiniBand: 16 bytes in
/// front of each packet hold its arrival time and length.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/capture_limits.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <memory>
#include <pcap/pcap.h>
#include <span>
#include <string>
#include <vector>

namespace cxemu::check {

/// Bytes of the record header in front of each packet.
inline constexpr std::size_t record_header_size = 16;

/// Writes packets, from the first byte of the LRH to the last byte of the VCRC unless truncated,
/// with the time of day in nanoseconds. Outside of write() the file ends behind a complete packet,
/// so it can be read while the process runs and after it was killed.
class PacketCapture {
public:
    /// Written packets reach the file within this time.
    static constexpr auto flush_delay = std::chrono::milliseconds(50);

    /// Captures to \p file, which is emptied first.
    /// \return an error text that names the file and the cause
    static std::expected<std::unique_ptr<PacketCapture>, std::string>
    open(EventLoop& loop, const std::filesystem::path& file, Log log, CaptureLimits limits = {});

    ~PacketCapture();
    PacketCapture(const PacketCapture&) = delete;
    PacketCapture& operator=(const PacketCapture&) = delete;

    /// Adds a packet with the present time. The capture ends before the packet that would exceed
    /// the file size limit.
    void write(std::span<const std::byte> packet);

    /// Writes the buffered packets to the file. A write error is logged once and ends the capture.
    void flush();

    [[nodiscard]] std::uint64_t packets() const { return packets_; }

private:
    struct CloseHandle {
        void operator()(pcap_t* handle) const { pcap_close(handle); }
    };
    struct CloseStream {
        void operator()(std::FILE* stream) const {
            std::fclose(stream); // NOLINT(cppcoreguidelines-owning-memory): libpcap wants a stream
        }
    };
    struct CloseDumper {
        void operator()(pcap_dumper_t* dumper) const { pcap_dump_close(dumper); }
    };

    PacketCapture(EventLoop& loop, std::filesystem::path file, Log log, CaptureLimits limits);
    std::expected<void, std::string> start();
    void end_at_limit();

    std::filesystem::path path_;
    Log log_;
    CaptureLimits limits_;
    std::uint64_t size_ = 0;   ///< bytes of the file, including buffered ones
    std::vector<char> buffer_; ///< of the stream; must outlive the dumper
    std::size_t buffered_ = 0; ///< bytes not yet written to the file
    std::vector<std::byte> record_;
    std::unique_ptr<pcap_t, CloseHandle> handle_;
    std::unique_ptr<pcap_dumper_t, CloseDumper> dumper_; ///< empty once the capture has ended
    Timer flush_timer_;
    std::uint64_t packets_ = 0;
};

} // namespace cxemu::check
