//! How a shell script is started on another host: an argument list with `{host}`.

use std::{fmt, process::Command, str::FromStr};
use wirebench_schema::argv;

/// What stands for the host.
const HOST: &str = "{host}";
/// The user's own configuration, keys, jump hosts and known hosts. A question would never be answered.
const SSH: [&str; 6] = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", HOST];

/// An argument list with `{host}`. A script for a POSIX shell follows as its last argument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Carrier(Vec<String>);

impl Carrier {
    /// OpenSSH.
    #[must_use]
    pub fn ssh() -> Self {
        Self(SSH.map(str::to_owned).to_vec())
    }

    /// The command that carries `script` out on `host`.
    #[must_use]
    pub(super) fn command(&self, host: &str, script: &str) -> Command {
        let mut words = self.0.iter().map(|word| word.replace(HOST, host));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(script);
        command
    }

    /// The command by which a user can try whether a host is reached.
    #[must_use]
    pub(super) fn trial(&self, host: &str) -> String {
        let words = self.0.iter().map(|word| word.replace(HOST, host));
        argv::display(&words.chain(["true".to_owned()]).collect::<Vec<_>>())
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
        assert_eq!(ssh.trial("a"), "ssh -o BatchMode=yes -o ConnectTimeout=10 a true");
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
