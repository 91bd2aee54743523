//! Builds `c/epoll` as it is, and once more with a known number of steps of work before each reply.

use anyhow::Context;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::programs::{output, root};

/// The work, for the compiler's `-include`.
const EXTRA_WORK: &str = include_str!("extra_work.h");
const STEP_TIME: &str = include_str!("step_time.c");

/// How long a synthetic machine is in either state: near for longer, so that slices near are compared.
pub(super) const NEAR_SECONDS: u32 = 12;
pub(super) const FAR_SECONDS: u32 = 6;

/// The folder of both builds and of the program that times a step.
#[derive(Debug)]
pub(crate) struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    /// Makes the folder below `target`.
    pub(crate) fn open(target: &Path) -> anyhow::Result<Self> {
        let folder = target.join("bench-difference");
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        for (name, text) in [("extra_work.h", EXTRA_WORK), ("step_time.c", STEP_TIME)] {
            fs::write(folder.join(name), text)?;
        }
        Ok(Self { folder })
    }

    pub(crate) fn plain(&self) -> anyhow::Result<PathBuf> {
        self.server("plain", &[])
    }

    /// The server with this many steps more for each reply, which make it so much slower.
    pub(crate) fn slowed(&self, percent: f64, steps: u64) -> anyhow::Result<PathBuf> {
        let header = self.folder.join("extra_work.h").display().to_string();
        // `prefork.c` says the same of _GNU_SOURCE, which must come before any header.
        let words = ["-D_GNU_SOURCE=", &format!("-DEXTRA_STEPS={steps}ul"), "-include", &header];
        self.server(&format!("slowed-{percent}"), &words)
    }

    /// The same with this many further steps while the machine is far.
    pub(crate) fn changing(
        &self,
        name: &str,
        steps: u64,
        far_steps: u64,
    ) -> anyhow::Result<PathBuf> {
        let header = self.folder.join("extra_work.h").display().to_string();
        let defined = [
            format!("-DEXTRA_STEPS={steps}ul"),
            format!("-DFAR_STEPS={far_steps}ul"),
            format!("-DNEAR_SECONDS={NEAR_SECONDS}"),
            format!("-DFAR_SECONDS={FAR_SECONDS}"),
        ];
        let defined = defined.iter().map(String::as_str);
        let words = ["-D_GNU_SOURCE=", "-include", &header].into_iter().chain(defined);
        self.server(name, &words.collect::<Vec<_>>())
    }

    fn server(&self, name: &str, words: &[&str]) -> anyhow::Result<PathBuf> {
        let program = self.folder.join(name);
        let mut command = Command::new("cc");
        command.args(["-O3", "-std=c11", "-Wall", "-Wextra", "-pthread"]).args(words);
        command.arg("-o").arg(&program);
        command.args(["../shared/prefork.c", "loop.c"]).current_dir(root().join("entries/c/epoll"));
        output(&mut command)?;
        Ok(program)
    }

    /// How long one step takes by itself, in nanoseconds.
    pub(crate) fn step_ns(&self) -> anyhow::Result<f64> {
        let program = self.folder.join("step_time");
        let mut command = Command::new("cc");
        command.args(["-O3", "-std=gnu11", "-DEXTRA_STEPS=1", "-o"]).arg(&program);
        command.arg(self.folder.join("step_time.c"));
        output(&mut command)?;
        let text = output(&mut Command::new(&program))?;
        text.trim().parse().with_context(|| format!("the time of a step is no number: `{text}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_servers_can_be_built_and_a_step_takes_time() {
        let target = tempfile::tempdir().unwrap();
        let workshop = Workshop::open(target.path()).unwrap();
        let (plain, slowed) = (workshop.plain().unwrap(), workshop.slowed(5.0, 170).unwrap());
        assert_ne!(fs::read(plain).unwrap(), fs::read(slowed).unwrap());
        let changing = workshop.changing("changing", 0, 170).unwrap();
        assert_ne!(fs::read(workshop.plain().unwrap()).unwrap(), fs::read(changing).unwrap());
        assert!(workshop.step_ns().unwrap() > 0.0);
    }
}
