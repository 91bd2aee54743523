//! How a shell script is started on another host: an argument list with `{host}`.

use std::{
    fmt,
    path::Path,
    process::{Command, Stdio},
    str::FromStr,
    sync::atomic::AtomicBool,
    time::Duration,
};
use wirebench_schema::argv;
use wirebench_server::command::{CommandError, Job, NO_ENV};

const HOST: &str = "{host}";
/// The user's own configuration, keys, jump hosts and known hosts. A question would never be answered.
const SSH: [&str; 6] = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", HOST];

/// An argument list with `{host}`. A script for a POSIX shell follows as its last argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Carrier(Vec<String>);

impl Carrier {
    #[must_use]
    pub fn ssh() -> Self {
        Self(SSH.map(str::to_owned).to_vec())
    }

    fn words(&self, host: &str, script: &str) -> Vec<String> {
        let words = self.0.iter().map(|word| word.replace(HOST, host));
        words.chain([script.to_owned()]).collect()
    }

    /// The command that carries `script` out on `host`.
    #[must_use]
    pub(super) fn command(&self, host: &str, script: &str) -> Command {
        let mut words = self.words(host, script).into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        command
    }

    /// Carries `script` out on `host` to its end, between an input and an output. An error has the exit code, and how
    /// it ended with what it wrote.
    pub(super) fn run(
        &self,
        host: &str,
        script: &str,
        between: (Stdio, Stdio),
        (timeout, stop): (Duration, &AtomicBool),
    ) -> Result<(), (Option<i32>, String)> {
        let argv = self.words(host, script);
        let job = Job { argv: &argv, folder: Path::new("."), env: NO_ENV, timeout };
        let (status, words) = job.between(between, stop).map_err(|error| match error {
            CommandError::Interrupted => (None, error.to_string()),
            error => (None, format!("the carrier failed: {error}")),
        })?;
        if status.success() {
            return Ok(());
        }
        Err((status.code(), format!("the carrier failed ({status}): {}", words.trim())))
    }

    /// The command by which a user can carry `script` out on `host`.
    #[must_use]
    pub(super) fn shown(&self, host: &str, script: &str) -> String {
        argv::display(&self.words(host, script))
    }
}

impl FromStr for Carrier {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words =
            shlex::split(text).ok_or_else(|| format!("`{text}` has a quote without its end"))?;
        if !words.iter().any(|word| word.contains(HOST)) {
            return Err(format!("`{text}` has no {HOST}, so it cannot reach a host"));
        }
        Ok(Self(words))
    }
}

impl fmt::Display for Carrier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&argv::display(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_put_in_and_the_script_is_one_word() {
        let carrier: Carrier = "kubectl exec -i 'pod/{host}' -- sh -c".parse().unwrap();
        let command = carrier.command("a", "echo b c");
        let words: Vec<_> = command.get_args().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(command.get_program(), "kubectl");
        assert_eq!(words, ["exec", "-i", "pod/a", "--", "sh", "-c", "echo b c"]);
        let ssh = Carrier::ssh();
        assert_eq!(ssh.to_string().parse::<Carrier>().unwrap(), ssh);
        assert_eq!(ssh.shown("a", "true"), "ssh -o BatchMode=yes -o ConnectTimeout=10 a true");
    }

    #[test]
    fn a_carrier_without_a_host_is_refused() {
        let errors = ["ssh lab2", "ssh '{host}", ""].map(|it| it.parse::<Carrier>().unwrap_err());
        expect_test::expect![[r"
            `ssh lab2` has no {host}, so it cannot reach a host
            `ssh '{host}` has a quote without its end
            `` has no {host}, so it cannot reach a host"]]
        .assert_eq(&errors.join("\n"));
    }
}
