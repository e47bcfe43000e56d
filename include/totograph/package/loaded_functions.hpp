// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>
#include <totograph/package/interface/status.hpp>
#include <totograph/package/package_header.hpp>

namespace totograph::package {

/// The functions of a package that was loaded. It stays loaded until the process ends, for results point into it.
class LoadedFunctions {
public:
    /// Loads the library whose header was checked. Throws `Error(invalid_file)` with the system's reason when that
    /// fails, or when it lacks a function.
    explicit LoadedFunctions(const PackageHeader& header)
        : path_(header.path), library_(::dlopen(std::filesystem::absolute(path_).c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (library_ == nullptr) {
            fail(::dlerror());
        }
        find(abi_version, "totograph_abi_version");
        find(model_open, "totograph_model_open");
        find(model_close, "totograph_model_close");
        find(model_describe, "totograph_model_describe");
        find(model_bucket, "totograph_model_bucket");
        find(model_explain, "totograph_model_explain");
        find(service_create, "totograph_service_create");
        find(service_destroy, "totograph_service_destroy");
        find(service_warm_up, "totograph_service_warm_up");
        find(service_memory, "totograph_service_memory");
        find(service_forecast, "totograph_service_forecast");
        find(service_forecast_on, "totograph_service_forecast_on");
        find(forecast_release, "totograph_forecast_release");
        find(forecast_describe, "totograph_forecast_describe");
        find(text_free, "totograph_text_free");
        if (abi_version() != TOTOGRAPH_ABI_VERSION) {
            fail("its code is of another version of the C interface than its header says");
        }
    }
    LoadedFunctions(const LoadedFunctions&) = delete;
    LoadedFunctions& operator=(const LoadedFunctions&) = delete;
    ~LoadedFunctions() = default;

    /// Throws the `Error` that a call reported, when it did.
    static void check(totograph_status status, const totograph_error& error) {
        if (status != TOTOGRAPH_OK) {
            throw Error(code_of(status), static_cast<const char*>(error.sentence));
        }
    }

    decltype(&totograph_abi_version) abi_version = nullptr;
    decltype(&totograph_model_open) model_open = nullptr;
    decltype(&totograph_model_close) model_close = nullptr;
    decltype(&totograph_model_describe) model_describe = nullptr;
    decltype(&totograph_model_bucket) model_bucket = nullptr;
    decltype(&totograph_model_explain) model_explain = nullptr;
    decltype(&totograph_service_create) service_create = nullptr;
    decltype(&totograph_service_destroy) service_destroy = nullptr;
    decltype(&totograph_service_warm_up) service_warm_up = nullptr;
    decltype(&totograph_service_memory) service_memory = nullptr;
    decltype(&totograph_service_forecast) service_forecast = nullptr;
    decltype(&totograph_service_forecast_on) service_forecast_on = nullptr;
    decltype(&totograph_forecast_release) forecast_release = nullptr;
    decltype(&totograph_forecast_describe) forecast_describe = nullptr;
    decltype(&totograph_text_free) text_free = nullptr;

private:
    template <class Function>
    void find(Function& to, const char* name) {
        void* const found = ::dlsym(library_, name);
        if (found == nullptr) {
            fail("it has no function " + std::string(name));
        }
        to = reinterpret_cast<Function>(found);
    }

    [[noreturn]] void fail(std::string_view why) const {
        detail::refuse_file(path_, "cannot be loaded: " + io::printable(why, io::longest_quote) + ".");
    }

    std::filesystem::path path_;
    void* library_ = nullptr;
};

}  // namespace totograph::package
