// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <totograph/forecast/series.hpp>

namespace totograph {

/// Finds the memory of a state on the host by its name; null where the programs have no such state. A view of a
/// callable, which outlives it.
class StateMemory {
public:
    /// @param find  `void* find(std::string_view name)`; it may have members `written` and `unpadded`, as below, which
    ///              throw nothing
    template <class Find>
    StateMemory(const Find& find)  // NOLINT(google-explicit-constructor): it takes the place of what it views
        : self_(&find),
          find_(
              [](const void* self, std::string_view name) -> void* { return (*static_cast<const Find*>(self))(name); }),
          written_([]([[maybe_unused]] const void* self, [[maybe_unused]] const void* end) noexcept {
              if constexpr (requires { static_cast<const Find*>(self)->written(end); }) {
                  static_cast<const Find*>(self)->written(end);
              }
          }),
          unpadded_([]([[maybe_unused]] const void* self) noexcept {
              if constexpr (requires { static_cast<const Find*>(self)->unpadded(); }) {
                  return static_cast<const Find*>(self)->unpadded();
              } else {
                  return SeriesExtents::all();
              }
          }) {}

    [[nodiscard]] float* floats(std::string_view name) const { return static_cast<float*>(find_(self_, name)); }
    [[nodiscard]] std::int32_t* integers(std::string_view name) const {
        return static_cast<std::int32_t*>(find_(self_, name));
    }
    /// Tells that a state which is written row by row, from its beginning on, is complete up to here.
    void written(const void* end) const noexcept { written_(self_, end); }
    /// Up to where the states `series` and `observed` are to be written. What lies behind is padding already.
    [[nodiscard]] SeriesExtents unpadded() const noexcept { return unpadded_(self_); }

private:
    const void* self_;
    void* (*find_)(const void* self, std::string_view name);
    void (*written_)(const void* self, const void* end) noexcept;
    SeriesExtents (*unpadded_)(const void* self) noexcept;
};

}  // namespace totograph
