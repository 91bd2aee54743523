//! echoes: a changed one must be found where it is changed. What is checked stands in
//! `wirebench_loadgen::fuzzing`, not here, so that a test can do the same without a fuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wirebench_loadgen::fuzzing::echo(data));
