//! Which further variables of the environment may change how servers run.

use super::settings::changes_servers;
use crate::secrets::is_secret;

/// Variables that differ from terminal to terminal or between runs of a build server, with all whose names go on after
/// an underscore.
const OF_SESSION: &str = " _ ACTIONS BUILD CARGO CI COLORTERM COLUMNS DBUS DISPLAY EDITOR GITHUB GITLAB GIT HOSTNAME \
                          INVOCATION JENKINS JOB JOURNAL LESS LESSOPEN LINES LOGNAME LS MAIL OLDPWD PAGER PATH PS1 PWD \
                          RUNNER RUSTUP SHLVL SLURM SSH STY SUDO TERM TMUX USER VSCODE WAYLAND WINDOWID WIREBENCH \
                          XAUTHORITY XDG ";

/// Whether another value of the variable `name`, of which results hold no value, may be the cause of another figure.
#[must_use]
pub fn may_change_servers(name: &str) -> bool {
    let group = name.split('_').next().filter(|it| !it.is_empty()).unwrap_or("_");
    !changes_servers(name) && !is_secret(name) && !OF_SESSION.contains(&format!(" {group} "))
}
