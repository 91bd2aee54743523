//! HTTP replies: what is remembered of them must not change a verdict. What is checked stands in
//! `wirebench_loadgen::fuzzing`, not here, so that a test can do the same without a fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wirebench_loadgen::fuzzing::reply(data));
