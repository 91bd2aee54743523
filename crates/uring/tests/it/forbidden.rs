//! The message where io_uring is forbidden.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use std::{collections::BTreeMap, thread};

/// Makes a system call of io_uring fail with this error, for the calling thread alone.
fn forbid(error: i32) {
    let forbidden = SeccompAction::Errno(error.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let rules = BTreeMap::from([(libc::SYS_io_uring_setup, Vec::new())]);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, forbidden, architecture).unwrap();
    apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
}

#[test]
fn a_filter_of_system_calls_is_named_with_what_lifts_it() {
    assert_eq!(wirebench_uring::probe(), Ok(()));
    for (error, cause, remedy) in [
        (libc::EPERM, "forbidden by a seccomp filter", "seccomp=unconfined"),
        (libc::ENOSYS, "io_uring is missing", "CONFIG_IO_URING"),
    ] {
        let probed = thread::spawn(move || {
            forbid(error);
            wirebench_uring::probe()
        });
        let sentence = probed.join().unwrap().unwrap_err();
        assert!(sentence.contains(cause) && sentence.contains(remedy), "{sentence}");
    }
}
