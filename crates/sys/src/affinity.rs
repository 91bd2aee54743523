//! The CPU affinity of this thread and its children.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io;

/// The CPUs that the kernel lets this thread use, ascending.
pub fn current() -> io::Result<Vec<u32>> {
    let set = sched_getaffinity(None)?;
    let most = u32::try_from(CpuSet::MAX_CPU).unwrap_or(u32::MAX);
    Ok((0..most).filter(|cpu| set.is_set(*cpu as usize)).collect())
}

/// Binds this thread to `cpus`. Threads and processes that it starts afterwards inherit that.
pub fn bind(cpus: &[u32]) -> io::Result<()> {
    Ok(sched_setaffinity(None, &set_of(cpus)?)?)
}

pub(crate) fn set_of(cpus: &[u32]) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no CPU {cpu}")));
        }
        set.set(cpu as usize);
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bound_thread_reports_the_cpus_that_it_was_bound_to() {
        std::thread::spawn(|| {
            let before = super::current().unwrap();
            super::bind(&before[..1]).unwrap();
            assert_eq!(super::current().unwrap(), &before[..1]);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_beyond_every_machine_is_an_error() {
        assert!(super::bind(&[1 << 20]).is_err());
    }
}
