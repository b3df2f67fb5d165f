// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Rules of the command interface, the objects and the firmware pages.
#pragma once

#include "check/rule.hpp"

namespace cxemu::hca::rules {

inline constexpr check::Rule reserved_bits_set{"reserved_bits_set",
                                               "A reserved field of a command input is not zero."};
inline constexpr check::Rule input_longer_than_table{"input_longer_than_table",
                                                     "A command input is longer than its layout."};
inline constexpr check::Rule input_too_short{"input_too_short",
                                             "A command input is shorter than its layout."};
inline constexpr check::Rule unknown_opcode{"unknown_opcode",
                                            "A command opcode that the device doesn't support."};
inline constexpr check::Rule command_in_wrong_state{
    "command_in_wrong_state", "The state of the function doesn't allow the command."};
inline constexpr check::Rule command_delivery{"command_delivery",
                                              "A command queue entry or a mailbox is malformed."};
inline constexpr check::Rule doorbell_of_busy_slot{
    "doorbell_of_busy_slot", "The doorbell of a command slot was rung before its completion."};
inline constexpr check::Rule doorbell_without_ownership{
    "doorbell_without_ownership",
    "The doorbell of a command slot was rung before the entry was handed to hardware."};
inline constexpr check::Rule doorbell_without_queue{
    "doorbell_without_queue", "A command doorbell was rung without a command queue."};
inline constexpr check::Rule unknown_object{"unknown_object",
                                            "A command names an object that doesn't exist."};
inline constexpr check::Rule foreign_object{"foreign_object",
                                            "A command names an object of another user context."};
inline constexpr check::Rule destroyed_while_referenced{
    "destroyed_while_referenced", "A destroy command names an object with references."};
inline constexpr check::Rule objects_left_at_teardown{
    "objects_left_at_teardown", "The function was torn down with objects left in it."};
inline constexpr check::Rule page_given_twice{"page_given_twice",
                                              "A page was given to the firmware twice."};
inline constexpr check::Rule page_address_invalid{
    "page_address_invalid", "A page was given at address 0, misaligned, or outside the DMA maps."};
inline constexpr check::Rule page_changed_by_host{
    "page_changed_by_host", "A page changed, or became unreachable, while the firmware held it."};
inline constexpr check::Rule pages_left_at_disable{
    "pages_left_at_disable", "The function was disabled before its pages were taken back."};
inline constexpr check::Rule pages_not_asked_for{
    "pages_not_asked_for", "Pages were given that the firmware had not requested."};
inline constexpr check::Rule doorbell_of_unknown_uar{
    "doorbell_of_unknown_uar", "A UAR page was written that is no allocated UAR."};
inline constexpr check::Rule doorbell_undecoded{"doorbell_undecoded",
                                                "A write to a UAR page that no doorbell decodes."};
inline constexpr check::Rule bar_access_undecoded{
    "bar_access_undecoded", "An access of BAR 0 that no register and no memory decodes."};
inline constexpr check::Rule dma_outside_service{
    "dma_outside_service", "Software caused DMA before INIT_HCA or after TEARDOWN_HCA."};

} // namespace cxemu::hca::rules
