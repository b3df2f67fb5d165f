// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/packet_capture.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace cxemu::check {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packet_of(std::size_t size, std::uint8_t fill) {
    return {size, std::byte{fill}};
}

/// Contents of a capture file.
struct Contents {
    int link_type = -1;
    std::vector<Bytes> headers; ///< of the records
    std::vector<Bytes> packets;
    std::vector<std::size_t> lengths; ///< of record and packet on the wire
    std::string error;                ///< empty when the file ends behind a packet
};

Contents read_capture(const std::filesystem::path& file) {
    Contents contents;
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap_t* reader = pcap_open_offline(file.c_str(), error.data());
    if (reader == nullptr) {
        contents.error = error.data();
        return contents;
    }
    contents.link_type = pcap_datalink(reader);
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    int result = 0;
    while ((result = pcap_next_ex(reader, &header, &data)) == 1) {
        const auto bytes = std::as_bytes(std::span(data, header->caplen));
        const auto [record, packet] =
            std::pair(bytes.first(record_header_size), bytes.subspan(record_header_size));
        contents.headers.emplace_back(record.begin(), record.end());
        contents.packets.emplace_back(packet.begin(), packet.end());
        contents.lengths.push_back(header->len);
    }
    if (result != PCAP_ERROR_BREAK)
        contents.error = pcap_geterr(reader);
    pcap_close(reader);
    return contents;
}

class Capture : public ::testing::Test {
protected:
    Capture()
        : file(std::filesystem::path(::testing::TempDir()) /
               fmt::format("capture_test.{}.pcap", ::getpid())),
          loop([this] { return now; }) {}
    ~Capture() override { std::filesystem::remove(file); }

    std::unique_ptr<PacketCapture> open(CaptureLimits limits = {}) {
        auto capture = PacketCapture::open(loop, file, make_silent_log(), limits);
        EXPECT_TRUE(capture) << capture.error();
        return *std::move(capture);
    }

    std::filesystem::path file;
    EventLoop::TimePoint now{};
    EventLoop loop;
};

TEST_F(Capture, EmptyCaptureHasErfHeader) {
    const auto capture = open();
    const Contents contents = read_capture(file);
    EXPECT_EQ(contents.error, "");
    EXPECT_EQ(contents.link_type, DLT_ERF);
    EXPECT_TRUE(contents.packets.empty());
}

TEST_F(Capture, PacketsKeptWholeInOrder) {
    const auto capture = open();
    const std::vector packets{packet_of(26, 1), packet_of(4200, 2), packet_of(290, 3)};
    for (const Bytes& packet : packets)
        capture->write(packet);
    capture->flush();
    EXPECT_EQ(read_capture(file).packets, packets);
    EXPECT_EQ(capture->packets(), 3U);
}

TEST_F(Capture, RecordHasInfiniBandTypeAndLengths) {
    const auto capture = open();
    capture->write(packet_of(290, 3));
    capture->flush();
    const Bytes header = read_capture(file).headers.at(0);
    const Bytes type_and_lengths(header.begin() + 8, header.end());
    const Bytes expected{std::byte{21}, std::byte{4}, std::byte{0x01}, std::byte{0x32},
                         std::byte{0},  std::byte{0}, std::byte{0x01}, std::byte{0x22}};
    EXPECT_EQ(type_and_lengths, expected);
}

TEST_F(Capture, FlushDelayOverWritesFile) {
    const auto capture = open();
    capture->write(packet_of(100, 1));
    EXPECT_TRUE(read_capture(file).packets.empty());
    now += PacketCapture::flush_delay;
    loop.turn({});
    EXPECT_EQ(read_capture(file).packets.size(), 1U);
}

TEST_F(Capture, FileAlwaysEndsBehindPacket) {
    const auto capture = open();
    for (int i = 0; i < 1000; ++i) {
        capture->write(packet_of(4139, 5));
        if (i % 100 == 99) {
            EXPECT_EQ(read_capture(file).error, "") << "after " << i + 1 << " packets";
        }
    }
    EXPECT_GT(read_capture(file).packets.size(), 700U);
}

TEST_F(Capture, LongPacketTruncatedToLimit) {
    const auto capture = open({.packet = 290});
    capture->write(packet_of(4139, 1));
    capture->write(packet_of(290, 2));
    capture->flush();
    const Contents contents = read_capture(file);
    EXPECT_EQ(contents.packets, (std::vector{packet_of(290, 1), packet_of(290, 2)}));
    EXPECT_EQ(contents.lengths,
              (std::vector<std::size_t>{record_header_size + 4139, record_header_size + 290}));
    const Bytes header = contents.headers.at(0);
    const Bytes lengths(header.begin() + 10, header.end());
    const Bytes expected{std::byte{0x01}, std::byte{0x32}, std::byte{0},
                         std::byte{0},    std::byte{0x10}, std::byte{0x2b}};
    EXPECT_EQ(lengths, expected) << "of the record, lost packets, on the wire";
}

TEST_F(Capture, FileLimitEndsBehindLastFittingPacket) {
    constexpr std::uint64_t max = 1000;
    const auto capture = open({.file = max});
    for (int i = 0; i < 10; ++i) {
        capture->write(packet_of(268, 1)); // a record of 300 bytes in the file
    }
    EXPECT_EQ(read_capture(file).packets.size(), 3U) << "without being flushed";
    EXPECT_EQ(read_capture(file).error, "");
    EXPECT_LE(std::filesystem::file_size(file), max);
    capture->write(packet_of(26, 2));
    capture->flush();
    EXPECT_EQ(read_capture(file).packets.size(), 3U) << "no later packet follows one left out";
}

TEST_F(Capture, FileLimitFilledToLastByte) {
    const auto capture = open({.file = 24 + 300});
    capture->write(packet_of(268, 1));
    capture->flush();
    EXPECT_EQ(read_capture(file).packets.size(), 1U);
    EXPECT_EQ(std::filesystem::file_size(file), 24U + 300U);
}

TEST_F(Capture, UnopenableFileNamed) {
    const auto capture = PacketCapture::open(loop, "/nonexistent/x.pcap", make_silent_log());
    ASSERT_FALSE(capture);
    EXPECT_THAT(capture.error(), ::testing::HasSubstr("/nonexistent/x.pcap"));
    EXPECT_THAT(capture.error(), ::testing::HasSubstr("No such file"));
}

/// Limits the size of files that this process writes.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) : former_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &former_);
        const rlimit limit{.rlim_cur = bytes, .rlim_max = former_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FileSizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &former_);
        std::signal(SIGXFSZ, former_handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;

private:
    rlimit former_{};
    void (*former_handler_)(int);
};

TEST_F(Capture, FileCannotGrowEndsCapture) {
    const auto capture = open();
    capture->write(packet_of(100, 1));
    capture->flush();
    {
        const FileSizeLimit full(std::filesystem::file_size(file));
        capture->write(packet_of(100, 2));
        capture->flush();
    }
    EXPECT_EQ(capture->packets(), 2U);
    capture->write(packet_of(100, 3));
    EXPECT_EQ(capture->packets(), 2U) << "nothing is captured any more";
    EXPECT_EQ(read_capture(file).packets.size(), 1U);
}

TEST_F(Capture, UnwritableFileRefused) {
    if (!std::filesystem::exists("/dev/full"))
        GTEST_SKIP() << "this system has no /dev/full";
    EXPECT_FALSE(PacketCapture::open(loop, "/dev/full", make_silent_log()));
}

} // namespace
} // namespace cxemu::check
