//! Starts an agent on another host, and copies this program there when the host does not have it.

use std::{
    fs::File,
    io,
    path::PathBuf,
    process::{Command, Stdio},
};
use wirebench_schema::agent::{AGENT_PROTOCOL, AgentEvent};
use wirebench_server::{digest, pipe::PipedChild};

use super::Carrier;

/// The file of this program, even after another one was put in its place.
const OWN_FILE: &str = "/proc/self/exe";
/// How a script says that the program is not there.
const MISSING: i32 = 87;
/// The folder of copied programs, in the user's cache.
const FOLDER: &str = "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/wirebench/agents";

/// The program that is started on other hosts.
#[derive(Clone, Debug)]
pub enum Program {
    /// This one: it is copied to hosts that do not have it.
    Own {
        /// Its file.
        path: PathBuf,
        /// The digest of that file.
        digest: String,
    },
    /// `wirebench` as the host has it.
    Installed,
}

impl Program {
    /// The program that runs.
    pub fn own() -> io::Result<Self> {
        let unreadable = || io::Error::other("the file of this program cannot be read");
        let digest = digest::own().ok_or_else(unreadable)?;
        Ok(Self::Own { path: OWN_FILE.into(), digest })
    }

    /// The script that finds out whether it is there.
    fn probe(&self) -> String {
        match self {
            Self::Installed => format!("command -v wirebench > /dev/null || exit {MISSING}"),
            Self::Own { digest, .. } => format!("test -x {FOLDER}/{digest} || exit {MISSING}"),
        }
    }

    /// The script that becomes a role of wirebench.
    pub(super) fn start(&self, role: &str) -> String {
        match self {
            Self::Installed => format!("exec wirebench {role}"),
            Self::Own { digest, .. } => format!("exec {FOLDER}/{digest} {role}"),
        }
    }
}

/// Makes sure that `host` has the program.
pub(super) fn provide(carrier: &Carrier, host: &str, program: &Program) -> Result<(), String> {
    let failed = |reason: String| {
        format!("{host}: {reason}; try `{}`, which must not ask anything", carrier.trial(host))
    };
    let probe = finish(carrier.command(host, &program.probe()).stdin(Stdio::null()));
    match (probe, program) {
        (Ok(()), _) => Ok(()),
        (Err((Some(MISSING), _)), Program::Installed) => {
            Err(format!("{host}: wirebench is not installed there: install it, or omit --no-copy"))
        }
        (Err((Some(MISSING), _)), Program::Own { path, digest }) => {
            let file =
                File::open(path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
            let copied = finish(carrier.command(host, &receive(digest)).stdin(file));
            copied.map_err(|(_, why)| failed(format!("wirebench could not be copied: {why}")))
        }
        (Err((_, why)), _) => Err(failed(why)),
    }
}

/// Starts the agent of `host`, which says when it takes commands.
pub(super) fn spawn(
    carrier: &Carrier,
    host: &str,
    program: &Program,
) -> Result<PipedChild<AgentEvent>, String> {
    let mut command = carrier.command(host, &program.start("agent"));
    command.stdin(Stdio::piped());
    PipedChild::spawn(command, None)
        .map_err(|error| format!("{host}: the carrier cannot be started: {error}"))
}

/// Whether both sides have the same protocol.
pub(super) fn check(protocol: u32, wirebench: &str) -> Result<(), String> {
    if protocol == AGENT_PROTOCOL {
        return Ok(());
    }
    Err(format!(
        "its wirebench {wirebench} has protocol {protocol}, and this one has {AGENT_PROTOCOL}: install the same \
         version, or omit --no-copy"
    ))
}

/// The script that stores its input as the program. A copy that was cut off is not taken for it.
fn receive(digest: &str) -> String {
    format!(
        "set -eu; umask 077; folder={FOLDER}; mkdir -p \"$folder\"; new=\"$folder/.{digest}.$$\"; \
         trap 'rm -f \"$new\"' EXIT; cat > \"$new\"; chmod 700 \"$new\"; \"$new\" --version > /dev/null; \
         mv \"$new\" \"$folder/{digest}\""
    )
}

/// Runs a carrier to its end. An error has the exit code, and how it ended with what it wrote.
pub(super) fn finish(command: &mut Command) -> Result<(), (Option<i32>, String)> {
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output =
        output.map_err(|error| (None, format!("the carrier cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err((output.status.code(), format!("the carrier failed ({}): {}", output.status, words.trim())))
}
