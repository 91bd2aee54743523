//! Files of requests, of which the first byte selects the order: what is read of them is sent as one request each.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| wirebench_loadgen::fuzzing::requests(data));
