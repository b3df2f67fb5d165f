// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The address spaces behind the PCI gateway: semaphores, and the mailbox of internal commands
/// (ICMD) through which boot ROMs and tools access registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace cxemu::hca {

class CommandDispatcher;
class Hca;

/// Addresses and codes are those of iPXE (mlx_icmd.h, mlx_reg_access.h), mstflint (mtcr_icmd_cif)
/// and mlx5_core (pci_vsc.h). The device executes an internal command when software sets the busy
/// bit. The only internal command is the access to a register; its TLVs are those of mlxsw's
/// emad.h.
class InternalSpaces {
public:
    static constexpr std::uint16_t commands = 0x3;   ///< address space of internal commands
    static constexpr std::uint16_t semaphores = 0xa; ///< address space of semaphores

    InternalSpaces(Hca& hca, CommandDispatcher& dispatcher);

    [[nodiscard]] static bool has(std::uint16_t space) {
        return space == commands || space == semaphores;
    }
    /// \return nothing where the space has no such address
    [[nodiscard]] std::optional<std::uint32_t> read(std::uint16_t space,
                                                    std::uint32_t address) const;
    /// \return false where the space has no such address
    bool write(std::uint16_t space, std::uint32_t address, std::uint32_t value);

    void reset();

private:
    static constexpr std::size_t mailbox_words = 256;
    static constexpr std::size_t semaphore_count = 64; ///< one a word

    [[nodiscard]] std::optional<std::uint32_t> read_command(std::uint32_t address) const;
    bool write_command(std::uint32_t address, std::uint32_t value);
    bool take_semaphore(std::uint32_t address, std::uint32_t owner);
    [[nodiscard]] std::uint8_t execute();
    [[nodiscard]] std::uint8_t access_register();
    [[nodiscard]] std::uint8_t run_access(std::uint16_t id, bool is_write, std::size_t words);

    Hca& hca_;
    CommandDispatcher& dispatcher_;
    std::uint32_t control_ = 0; ///< opcode (31:16), status (15:8), busy (0)
    std::array<std::uint32_t, mailbox_words> mailbox_{};
    std::array<std::uint32_t, semaphore_count> semaphores_{};
};

} // namespace cxemu::hca
