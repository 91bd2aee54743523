//! Runs the load generator as a child process of this program and reads what it says.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};
use wirebench_schema::{
    load::{EngineChoice, LoadConfig, LoadEvent, Stop},
    scenario::Protocol,
    units::write_duration,
};

use crate::launch::StderrTail;

/// The arguments of `wirebench load` that ask for `config`.
#[must_use]
pub fn load_arguments(config: &LoadConfig) -> Vec<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    option("-t", config.threads.to_string());
    option("-c", config.connections.to_string());
    match config.stop {
        Stop::After(duration) => option("-d", write_duration(duration)),
        Stop::Requests(requests) => option("-n", requests.to_string()),
        Stop::RequestsPerConnection(requests) => {
            option("--count-per-connection", requests.to_string());
        }
    }
    option("--warmup", write_duration(config.warmup));
    option("--timeout", write_duration(config.timeout));
    option("--seed", config.seed.to_string());
    match config.engine {
        EngineChoice::Auto => {}
        engine => option("--engine", engine.name().to_owned()),
    }
    if config.target.protocol() == Protocol::Echo {
        option("--payload", config.payload_bytes.to_string());
    } else {
        option("--method", config.method.clone());
        for (name, value) in &config.headers {
            option("-H", format!("{name}: {value}"));
        }
        if let Some(body) = &config.expect_body {
            option("--expect-body", body.clone());
        }
    }
    arguments.push(config.target.to_string());
    arguments
}

/// A load generator that runs. Dropping it kills it.
#[derive(Debug)]
pub struct Generator {
    child: Child,
    events: Receiver<LoadEvent>,
    stderr: StderrTail,
}

impl Generator {
    /// Starts `argv`, which is this program with `load --events` and its arguments, on `cpus`.
    pub fn start(argv: &[String], cpus: Option<&[u32]>) -> std::io::Result<Self> {
        let mut command = Command::new(&argv[0]);
        command.args(&argv[1..]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        wirebench_sys::child::die_with_parent(&mut command);
        if let Some(cpus) = cpus {
            wirebench_sys::child::on_cpus(&mut command, cpus)?;
        }
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("a pipe is missing");
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = StderrTail::follow(child.stderr.take().ok_or_else(missing)?);
        let (sender, events) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let event = serde_json::from_str(&line).unwrap_or_else(|error| LoadEvent::Failed {
                    reason: format!("the generator said `{line}`: {error}"),
                });
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, events, stderr })
    }

    /// The next event, or none within `timeout`. An error is a sentence on how the generator ended.
    pub fn next_event(&mut self, timeout: Duration) -> Result<Option<LoadEvent>, String> {
        match self.events.recv_timeout(timeout) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
                let stderr = self.stderr.text();
                Err(format!("the generator ended without a report ({status}) {stderr}"))
            }
        }
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_say_all_that_matters_to_the_protocol() {
        let mut config = LoadConfig::new("http://127.0.0.1:80/x".parse().unwrap());
        config.expect_body = Some("Hello world!".to_owned());
        let text = load_arguments(&config).join(" ");
        assert!(
            text.contains("--expect-body Hello world!") && text.ends_with("http://127.0.0.1:80/x")
        );
        assert!(!text.contains("--payload"));
        config.target = "tcp://127.0.0.1:80".parse().unwrap();
        let text = load_arguments(&config).join(" ");
        assert!(text.contains("--payload 64") && !text.contains("--method"), "{text}");
    }
}
