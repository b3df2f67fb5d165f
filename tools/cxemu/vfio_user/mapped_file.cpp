// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/mapped_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace cxemu::vfio_user {
namespace {

/// A mapping that the signal handler guards. begin is 0 in a free slot; it is set last and cleared
/// first, because the handler may run at any time.
struct Guard {
    std::atomic<std::uintptr_t> begin;
    std::atomic<std::size_t> size;
    std::atomic<bool> lost;
};

std::array<Guard, 4096> guards;
std::mutex guards_mutex; ///< protects the choice of a free slot
std::atomic<std::uint64_t> loss_count;
struct sigaction previous_action;

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free, "used in a signal handler");

Guard* find_guard(std::uintptr_t address) {
    for (auto& guard : guards) {
        const auto begin = guard.begin.load();
        if (begin != 0 && address >= begin && address - begin < guard.size.load())
            return &guard;
    }
    return nullptr;
}

/// Not a guarded mapping: run the previous handler, by default the process is killed.
void pass_on(int signal, siginfo_t* info, void* context) {
    if ((previous_action.sa_flags & SA_SIGINFO) != 0)
        previous_action.sa_sigaction(signal, info, context);
    else
        ::sigaction(signal, &previous_action, nullptr); // the access is repeated and faults again
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
    const int saved_errno = errno;
    Guard* guard = find_guard(reinterpret_cast<std::uintptr_t>(info->si_addr));
    if (guard == nullptr) {
        pass_on(signal, info, context);
    } else {
        guard->lost.store(true);
        loss_count.fetch_add(1);
        void* begin =
            reinterpret_cast<void*>(guard->begin.load()); // NOLINT(performance-no-int-to-ptr)
        if (::mmap(begin, guard->size.load(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
            pass_on(signal, info, context);
    }
    errno = saved_errno;
}

void install_handler() {
    static std::once_flag installed;
    std::call_once(installed, [] {
        struct sigaction action{};
        action.sa_sigaction = on_bus_error;
        action.sa_flags = SA_SIGINFO;
        ::sigaction(SIGBUS, &action, &previous_action);
    });
}

std::optional<std::size_t> take_guard(std::span<std::byte> bytes) {
    const std::lock_guard lock(guards_mutex);
    for (std::size_t i = 0; i < guards.size(); ++i) {
        Guard& guard = guards.at(i);
        if (guard.begin.load() != 0)
            continue;
        guard.size.store(bytes.size());
        guard.lost.store(false);
        guard.begin.store(reinterpret_cast<std::uintptr_t>(bytes.data()));
        return i;
    }
    return std::nullopt;
}

bool opened_for_writing(const UniqueFd& file) {
    return (::fcntl(file.get(), F_GETFL) & O_ACCMODE) == O_RDWR;
}

std::expected<std::span<std::byte>, int> map_shared(int file, std::size_t size, int protection) {
    void* address = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (address == MAP_FAILED)
        return std::unexpected(errno);
    return std::span(static_cast<std::byte*>(address), size);
}

/// Reads through the descriptor: reading a hole through the mapping would allocate a page.
bool page_is_zero(const UniqueFd& file, std::uint64_t offset) {
    std::array<std::byte, 4096> page{};
    const ssize_t count = ::pread(file.get(), page.data(), page.size(), static_cast<off_t>(offset));
    return count <= 0 || std::ranges::all_of(std::span(page).first(static_cast<std::size_t>(count)),
                                             [](std::byte byte) { return byte == std::byte{0}; });
}

} // namespace

std::expected<std::shared_ptr<MappedFile>, int> MappedFile::open(UniqueFd file) {
    install_handler();
    struct stat status{};
    if (::fstat(file.get(), &status) != 0)
        return std::unexpected(errno);
    if (!S_ISREG(status.st_mode) || status.st_size <= 0)
        return std::unexpected(EINVAL);
    const auto size = static_cast<std::size_t>(status.st_size);
    bool writable = opened_for_writing(file);
    auto bytes = map_shared(file.get(), size, PROT_READ | (writable ? PROT_WRITE : 0));
    if (!bytes && writable && (bytes.error() == EPERM || bytes.error() == EACCES)) {
        writable = false; // sealed against writing
        bytes = map_shared(file.get(), size, PROT_READ);
    }
    if (!bytes)
        return std::unexpected(bytes.error());
    const auto guard = take_guard(*bytes);
    if (!guard) {
        ::munmap(bytes->data(), bytes->size());
        return std::unexpected(ENOSPC);
    }
    return std::shared_ptr<MappedFile>(
        new MappedFile(std::move(file), status, *bytes, writable, *guard));
}

MappedFile::MappedFile(UniqueFd file, const struct stat& status, std::span<std::byte> bytes,
                       bool writable, std::size_t guard)
    : file_(std::move(file)), device_(status.st_dev), inode_(status.st_ino), bytes_(bytes),
      writable_(writable), guard_(guard) {}

MappedFile::~MappedFile() {
    guards.at(guard_).begin.store(0);
    ::munmap(bytes_.data(), bytes_.size());
}

bool MappedFile::serves(const UniqueFd& file, std::uint64_t end) const {
    struct stat status{};
    if (::fstat(file.get(), &status) != 0)
        return false;
    return status.st_dev == device_ && status.st_ino == inode_ && end <= bytes_.size() &&
           std::cmp_less_equal(end, status.st_size) && !lost() &&
           (writable_ || !opened_for_writing(file));
}

bool MappedFile::looks_untouched() const {
    constexpr std::uint64_t page = 4096;
    constexpr std::uint64_t first_part = 1U << 20;
    constexpr std::uint64_t samples = 1024;
    const std::uint64_t stride = std::max(page, bytes_.size() / samples / page * page);
    for (std::uint64_t at = 0; at < bytes_.size(); at += at < first_part ? page : stride)
        if (!page_is_zero(file_, at))
            return false;
    return true;
}

bool MappedFile::lost() const {
    return guards.at(guard_).lost.load();
}

std::uint64_t MappedFile::losses() {
    return loss_count.load();
}

} // namespace cxemu::vfio_user
