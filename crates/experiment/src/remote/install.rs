//! Copies this program to another host when that does not have it.

use std::{fs::File, io, path::PathBuf, process::Stdio, sync::atomic::AtomicBool, time::Duration};
use wirebench_server::digest;

use super::carrier::Carrier;

/// The file of this program, even after another one was put in its place.
const OWN_FILE: &str = "/proc/self/exe";
/// How long a host may take to say whether it has the program: `ssh` alone may take ten seconds to connect.
const CONTACT: Duration = Duration::from_secs(30);
/// How long a copy may take.
const COPY: Duration = Duration::from_secs(600);
/// How a script says that the program is not there.
const MISSING: i32 = 87;
/// The folder of copied programs, in the user's cache.
const FOLDER: &str = "\"${XDG_CACHE_HOME:-$HOME/.cache}\"/wirebench/agents";

/// The program that is started on other hosts.
#[derive(Clone, Debug)]
pub enum Program {
    /// This one: it is copied to hosts that do not have it.
    Own { path: PathBuf, digest: String },
    /// `wirebench` as the host has it.
    Installed,
}

impl Program {
    pub fn own() -> io::Result<Self> {
        let unreadable = || io::Error::other("the file of this program cannot be read");
        let digest = digest::own().ok_or_else(unreadable)?;
        Ok(Self::Own { path: OWN_FILE.into(), digest })
    }

    /// The script that finds out whether it is there.
    fn probe(&self) -> String {
        match self {
            Self::Installed => format!("command -v wirebench > /dev/null || exit {MISSING}"),
            Self::Own { digest, .. } => format!(
                "f={FOLDER}/{digest}; test -x \"$f\" && test -O \"$f\" && test -O {FOLDER} && \
                 test \"$(sha256sum < \"$f\" | cut -c1-{})\" = {digest} || exit {MISSING}",
                digest.len()
            ),
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
pub(super) fn provide(
    carrier: &Carrier,
    host: &str,
    program: &Program,
    stop: &AtomicBool,
) -> Result<(), String> {
    let failed = |reason: String| {
        format!(
            "{host}: {reason}; try `{}`, which must not ask anything",
            carrier.shown(host, "true")
        )
    };
    let nothing = (Stdio::null(), Stdio::null());
    let probe = carrier.run(host, &program.probe(), nothing, (CONTACT, stop));
    match (probe, program) {
        (Ok(()), _) => Ok(()),
        (Err((Some(MISSING), _)), Program::Installed) => {
            Err(format!("{host}: wirebench is not installed there: install it, or omit --no-copy"))
        }
        (Err((Some(MISSING), _)), Program::Own { path, digest }) => {
            let file =
                File::open(path).map_err(|error| failed(format!("{}: {error}", path.display())))?;
            let between = (file.into(), Stdio::null());
            let copied = carrier.run(host, &receive(digest), between, (COPY, stop));
            copied.map_err(|(_, why)| failed(format!("wirebench could not be copied: {why}")))
        }
        (Err((_, why)), _) => Err(failed(why)),
    }
}

/// The script that stores its input as the program, in a folder of this user. A copy that was cut off is not taken for
/// it.
fn receive(digest: &str) -> String {
    format!(
        "set -eu; umask 077; folder={FOLDER}; mkdir -p \"$folder\"; test -O \"$folder\" || {{ echo \"$folder\" \
         belongs to another user: remove it, or set XDG_CACHE_HOME there >&2; exit 1; }}; \
         new=\"$folder/.{digest}.$$\"; trap 'rm -f \"$new\"' EXIT; cat > \"$new\"; chmod 700 \"$new\"; \
         \"$new\" --version > /dev/null; mv \"$new\" \"$folder/{digest}\""
    )
}
