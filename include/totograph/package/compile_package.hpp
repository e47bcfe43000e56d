// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/c/totograph.h>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/io/constant_json.hpp>
#include <totograph/package/compile_model.hpp>
#include <totograph/package/instructions.hpp>
#include <totograph/package/note.hpp>
#include <totograph/package/packaged_model.hpp>
#include <totograph/version.hpp>

// What the source files of a package are made of; `totograph_add_package` writes them.
namespace totograph::package {

/// The note of a package for a kind of devices.
template <const char* package_name, const char* device>
struct PackageDocument {
    static constexpr void write(io::ConstantJson& json) {
        json.begin_object()
            .member("name", package_name)
            .member("version", version)
            .member("abi", int{TOTOGRAPH_ABI_VERSION})
            .member("device", device)
            .member("architecture", architecture);
        json.key("instructions").begin_array();
        for (const Extension& one : extensions()) {
            if (one.is_compiled_for) {
                json.value(one.name);
            }
        }
        json.end_array();
#if defined(__clang__)
        json.member("compiler", "clang " __clang_version__);
#else
        json.member("compiler", "gcc " __VERSION__);
#endif
        json.end_object();
    }
};

/// The note of a model of a package.
template <class Model, const char* model_name, Bucket... buckets>
struct ModelDocument {
    static constexpr void write(io::ConstantJson& json) {
        json.begin_object().member("name", model_name);
        json.key("config");
        constexpr bool has_config_text = requires {
            write_config(json, Model::config);
        };
        static_assert(
            has_config_text,
            "totograph: a package tells the configuration of its models; declare `constexpr void "
            "write_config(totograph::io::ConstantJson&, const Config&)` beside the type of the configuration, "
            "which writes it as config.json has it.");
        // By the name alone: which family a model is of, nothing outside of `models/` knows.
        if constexpr (has_config_text) {
            constexpr bool is_object = [] {
                io::ConstantJson config;
                write_config(config, Model::config);
                return !config.text().empty() && config.text().front() == '{' && config.text().back() == '}';
            }();
            static_assert(is_object,
                          "totograph: `write_config` writes one object of JSON: it begins with `json.begin_object()` "
                          "and ends with `end_object()`.");
            write_config(json, Model::config);
        }
        json.key("buckets").begin_array();
        for (const Bucket& bucket : buckets_by_cost<Model, buckets...>) {
            json.begin_object()
                .member("batch", bucket.batch)
                .member("variates", bucket.variates)
                .member("context", bucket.context)
                .member("horizon", bucket.horizon)
                .member("samples", bucket.samples)
                .member("exogenous", bucket.exogenous)
                .end_object();
        }
        json.end_array().end_object();
    }
};

}  // namespace totograph::package
