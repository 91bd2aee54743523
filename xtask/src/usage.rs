//! The CPU time of a child process at its end.

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::{
    fs, io,
    process::{Child, ExitStatus},
    time::Duration,
};

/// Waits for the end of `child`, and returns how it ended and its CPU time, user and system together, with that of
/// the children that it has waited for itself. The kernel shows it in ticks of 10 ms.
pub(crate) fn wait(child: &mut Child) -> io::Result<(ExitStatus, Duration)> {
    // A child that waits for input would never end.
    drop(child.stdin.take());
    let pid = Pid::from_child(child);
    // The process stays readable below /proc until it is reaped.
    while let Err(error) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        if error != rustix::io::Errno::INTR {
            return Err(error.into());
        }
    }
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let ticks = ticks(&stat).ok_or_else(|| io::Error::other(format!("no times in `{stat}`")))?;
    let cpu = ticks as f64 / rustix::param::clock_ticks_per_second() as f64;
    Ok((child.wait()?, Duration::from_secs_f64(cpu)))
}

/// The sum of the four times in a file `stat`: see proc_pid_stat(5).
fn ticks(stat: &str) -> Option<u64> {
    // The name of the program, in parentheses, may contain anything.
    let fields = stat.rsplit_once(')')?.1.split_whitespace();
    let times: Vec<u64> = fields.skip(11).take(4).map_while(|it| it.parse().ok()).collect();
    (times.len() == 4).then(|| times.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_times_of_the_process_and_its_children_are_added() {
        let stat = "7 (a ) b) R 1 2 3 0 -1 4194304 5 6 7 8 10 20 300 4000 20 0";
        assert_eq!(ticks(stat), Some(4330));
        assert_eq!(ticks("7 (a) R 1"), None);
    }

    #[test]
    fn a_child_whose_children_work_has_used_time_and_its_exit_code_is_known() {
        let work = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 3";
        let mut child = Command::new("sh").args(["-c", work]).spawn().unwrap();
        let (status, cpu) = wait(&mut child).unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(cpu > Duration::ZERO);
    }

    #[test]
    fn a_child_that_waits_for_input_ends() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        assert!(wait(&mut child).unwrap().0.success());
    }
}
