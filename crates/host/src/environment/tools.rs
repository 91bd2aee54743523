//! What compilers, runtimes and build tools say of their versions. A program that is not there, or
//! that does not answer in time, has none.

use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool, time::Duration};
use wirebench_server::{command::Job, parallel};

/// Each program, and the arguments that make it say its version. They are the languages and build
/// tools of the entries; what an entry uses besides is among the versions that it declares.
pub const TOOLS: [(&str, &[&str]); 12] = [
    ("cargo", &["--version"]),
    ("cmake", &["--version"]),
    ("dotnet", &["--version"]),
    ("dub", &["--version"]),
    ("g++", &["--version"]),
    ("gcc", &["--version"]),
    ("go", &["version"]),
    ("java", &["-version"]),
    ("ldc2", &["--version"]),
    ("node", &["--version"]),
    ("python3", &["--version"]),
    ("rustc", &["--version"]),
];

/// How long one of them may take. All are asked at the same time.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A question about a version is no occasion to fetch another one, to report to anybody or to
/// greet.
const ENV: [(&str, &str); 4] = [
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
    ("DOTNET_NOLOGO", "1"),
    ("GOTOOLCHAIN", "local"),
    ("RUSTUP_AUTO_INSTALL", "0"),
];

/// The versions of all that are there, by the name of the program. None once `stop` is set.
#[must_use]
pub fn versions(stop: &AtomicBool) -> BTreeMap<String, String> {
    ask(&TOOLS, stop)
}

fn ask(tools: &[(&str, &[&str])], stop: &AtomicBool) -> BTreeMap<String, String> {
    let env = ENV.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let one = |(program, arguments): &(&str, &[&str])| -> Option<(String, String)> {
        let argv: Vec<String> =
            [&[*program], *arguments].concat().into_iter().map(str::to_owned).collect();
        let job = Job { argv: &argv, folder: Path::new("/"), env: &env, timeout: TIMEOUT };
        let output = job.output(stop).ok().filter(|output| output.status.success())?;
        Some(((*program).to_owned(), first_line(&output.text)?))
    };
    parallel::map(tools, tools.len(), one).into_iter().flatten().collect()
}

/// The first line that says something of the program itself.
fn first_line(text: &str) -> Option<String> {
    // Java tells first what its environment has added to its arguments.
    let says = |line: &&str| !line.is_empty() && !line.starts_with("Picked up ");
    text.lines().map(str::trim).find(says).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_answer_are_in_the_list_and_others_are_not() {
        let tools: [(&str, &[&str]); 4] = [
            ("echo", &["version 1.2.3"]),
            ("false", &[]),
            ("no-such-program", &["--version"]),
            ("true", &[]),
        ];
        let versions = ask(&tools, &AtomicBool::new(false));
        let expected = BTreeMap::from([("echo".to_owned(), "version 1.2.3".to_owned())]);
        assert_eq!(versions, expected);
    }

    #[test]
    fn nothing_is_waited_for_once_the_run_is_to_stop() {
        let tools: [(&str, &[&str]); 1] = [("sleep", &["60"])];
        assert_eq!(ask(&tools, &AtomicBool::new(true)), BTreeMap::new());
    }

    #[test]
    fn what_java_says_of_its_environment_is_no_version() {
        let text = "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\n\nopenjdk version \"17.0.15\"\nmore\n";
        assert_eq!(first_line(text).as_deref(), Some("openjdk version \"17.0.15\""));
        assert_eq!(first_line("\n \n"), None);
    }
}
