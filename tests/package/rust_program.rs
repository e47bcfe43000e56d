// SPDX-License-Identifier: Apache-2.0
//! A program in Rust forecasts with a package that it loads, without anything but Rust's own library.
//!
//!     rust_program <package> <checkpoint> <abi.txt>
use std::ffi::{c_void, CStr, CString};
use std::os::raw::{c_char, c_int};
use std::{env, fs, mem, ptr};

#[link(name = "dl")]
extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

#[repr(C)]
struct Failure {
    size: u64,
    status: i32,
    sentence: [c_char; 2036],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Series {
    size: u64,
    batch: i64,
    variates: i64,
    steps: i64,
    values: *const f32,
    values_strides: [i64; 3],
    observed: *const u8,
    observed_strides: [i64; 3],
    groups: *const i32,
    exogenous: i64,
    future_exogenous: *const f32,
    future_observed: *const u8,
    future_steps: i64,
    first_series: u32,
    nan_is_gap: i32,
}

#[repr(C)]
struct Request {
    size: u64,
    horizon: i64,
    samples: i64,
    seed: u64,
    first_sample: u32,
    refuse_long_context: i32,
    extend: i32,
    reserved: i32,
}

#[repr(C)]
struct Facts {
    size: u64,
    batch: i64,
    variates: i64,
    horizon: i64,
    samples: i64,
    context: i64,
    not_finite: i64,
    values: *const f32,
    levels: *const f64,
    level_count: u64,
}

type Handle = *mut c_void;
type ModelOpen = unsafe extern "C" fn(*const c_char, *mut Handle, *mut Failure) -> i32;
type ServiceCreate = unsafe extern "C" fn(Handle, *const c_void, *mut Handle, *mut Failure) -> i32;
type Forecast = unsafe extern "C" fn(Handle, *const Series, *const Request, *mut Handle, *mut Failure) -> i32;
type Describe = unsafe extern "C" fn(Handle, *mut Facts, *mut Failure) -> i32;
type Quantiles = unsafe extern "C" fn(Handle, *const f64, u64, *mut f32, *const i64, *mut Failure) -> i32;
type Free = unsafe extern "C" fn(Handle);
type Version = unsafe extern "C" fn() -> u32;

struct Package(*mut c_void);

impl Package {
    /// A function of the C interface. The caller names its type.
    unsafe fn function<F: Copy>(&self, name: &str) -> F {
        let name = CString::new(format!("totograph_{name}")).unwrap();
        let found = dlsym(self.0, name.as_ptr());
        assert!(!found.is_null(), "{name:?} is missing");
        mem::transmute_copy(&found)
    }
}

fn zeroed<T>() -> T {
    unsafe { mem::zeroed() }
}

fn sentence(failure: &Failure) -> String {
    unsafe { CStr::from_ptr(failure.sentence.as_ptr()) }.to_string_lossy().into_owned()
}

fn check_layout(file: &str) {
    let table = fs::read_to_string(file).unwrap();
    let series: Series = zeroed();
    let base = ptr::addr_of!(series) as usize;
    let found = [
        ("totograph_error", mem::size_of::<Failure>()),
        ("totograph_series", mem::size_of::<Series>()),
        ("totograph_series.groups", ptr::addr_of!(series.groups) as usize - base),
        ("totograph_series.nan_is_gap", ptr::addr_of!(series.nan_is_gap) as usize - base),
        ("totograph_request", mem::size_of::<Request>()),
        ("totograph_forecast_facts", mem::size_of::<Facts>()),
    ];
    for (name, number) in found {
        assert!(table.lines().any(|line| line == format!("{name} {number}")), "{name} is not {number}");
    }
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    check_layout(&arguments[3]);
    let file = CString::new(arguments[1].as_str()).unwrap();
    let checkpoint = CString::new(arguments[2].as_str()).unwrap();
    unsafe {
        let package = Package(dlopen(file.as_ptr(), 2));
        assert!(!package.0.is_null());
        assert_eq!(package.function::<Version>("abi_version")(), 1);
        let mut failure: Failure = zeroed();
        failure.size = mem::size_of::<Failure>() as u64;

        let (mut model, mut service): (Handle, Handle) = (ptr::null_mut(), ptr::null_mut());
        let open = package.function::<ModelOpen>("model_open");
        let nowhere = CString::new("no_such_folder").unwrap();
        assert_eq!(open(nowhere.as_ptr(), &mut model, &mut failure), 4);
        assert!(sentence(&failure).contains("no_such_folder"), "{}", sentence(&failure));
        assert_eq!(open(checkpoint.as_ptr(), &mut model, &mut failure), 0, "{}", sentence(&failure));
        let create = package.function::<ServiceCreate>("service_create");
        assert_eq!(create(model, ptr::null(), &mut service, &mut failure), 0, "{}", sentence(&failure));

        let mut values: Vec<f32> = (0..48).map(|i| (0.4 * i as f32).sin()).collect();
        let mut series: Series = zeroed();
        series.size = mem::size_of::<Series>() as u64;
        (series.batch, series.variates, series.steps) = (1, 1, 48);
        series.values = values.as_ptr();
        let mut request: Request = zeroed();
        request.size = mem::size_of::<Request>() as u64;
        (request.horizon, request.seed) = (20, 7);
        let forecast = package.function::<Forecast>("service_forecast");
        let mut made: Handle = ptr::null_mut();
        assert_eq!(forecast(service, &series, &request, &mut made, &mut failure), 0, "{}", sentence(&failure));
        let mut facts: Facts = zeroed();
        facts.size = mem::size_of::<Facts>() as u64;
        assert_eq!(package.function::<Describe>("forecast_describe")(made, &mut facts, &mut failure), 0);
        assert_eq!((facts.horizon, facts.samples, facts.context, facts.not_finite), (20, 8, 48, 0));

        // The library's median against one from the samples: of eight, halfway between the fourth and the fifth.
        let samples = std::slice::from_raw_parts(facts.values, 20 * 8);
        let (level, mut median) = (0.5, [0f32; 20]);
        let quantiles = package.function::<Quantiles>("forecast_quantiles");
        assert_eq!(quantiles(made, &level, 1, median.as_mut_ptr(), ptr::null(), &mut failure), 0);
        for (step, found) in median.iter().enumerate() {
            let mut drawn = samples[8 * step..8 * step + 8].to_vec();
            drawn.sort_by(f32::total_cmp);
            let expected = 0.5 * (drawn[3] + drawn[4]);
            assert!((found - expected).abs() <= 1e-6 * expected.abs().max(1.0), "{step}: {found} {expected}");
        }
        package.function::<Free>("forecast_release")(made);

        values[4] = f32::NAN;
        series.values = values.as_ptr();
        assert_eq!(forecast(service, &series, &request, &mut made, &mut failure), 2);
        assert!(sentence(&failure).contains("holds NaN or infinity"), "{}", sentence(&failure));
        package.function::<Free>("service_destroy")(service);
        package.function::<Free>("model_close")(model);
    }
}
