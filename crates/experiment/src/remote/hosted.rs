//! The side of the servers: carries a verb out as a child process, prints nothing of its own, and has scripts
//! carried to other hosts by the side that has started it.

use rustix::process::{Pid, Signal, kill_process};
use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, Receiver, Sender},
    time::{Duration, Instant},
};
use wirebench_schema::{
    agent::HEARTBEAT_WITHIN_NS,
    argv,
    hosting::{HOSTING_PROTOCOL, HostCommand, HostEvent},
};
use wirebench_server::{parallel, pipe::lines};

use super::carry::{Order, SOCKET_VARIABLE};

/// How often it is looked whether heartbeats still come and the verb has ended.
const LOOK: Duration = Duration::from_millis(100);
/// How long the verb may take to end in order.
const END_PATIENCE: Duration = Duration::from_secs(10);

enum Happening {
    Command(HostCommand),
    InputEnded,
    Event(HostEvent),
    /// A process wants a script to be carried.
    Opened(Order, UnixStream),
}

/// Runs the verb that is asked for on `input`, with `program`, until it or the input ends.
pub fn host(
    program: &Path,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let (sender, happenings) = mpsc::channel();
    let streams = BTreeMap::new();
    let mut hosted = Hosted { output, sender: sender.clone(), streams, next_stream: 0 };
    let wirebench = env!("CARGO_PKG_VERSION").to_owned();
    hosted.say(&HostEvent::Ready { protocol: HOSTING_PROTOCOL, wirebench })?;
    read_commands(input, sender.clone())?;
    let (arguments, lacks_carrier) = match happenings.recv() {
        Ok(Happening::Command(HostCommand::Start { arguments, lacks_carrier })) => {
            (arguments, lacks_carrier)
        }
        Ok(Happening::Command(other)) => {
            let reason = format!("{other:?} is no start: both sides must be the same version");
            return hosted.say(&HostEvent::Failed { reason });
        }
        _ => return Ok(()),
    };
    let socket = Socket::listen(sender.clone())?;
    let mut command = Command::new(program);
    command.args(arguments).env(SOCKET_VARIABLE, &socket.0);
    if lacks_carrier {
        let carrier = [program.display().to_string(), "carry".into(), "{host}".into()];
        command.args(["--carrier", &argv::display(&carrier)]);
    }
    let child = start(command, &sender)?;
    hosted.follow(child, &happenings)
}

/// Starts the verb. It ends in order if this process is killed.
fn start(mut command: Command, sender: &Sender<Happening>) -> io::Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    wirebench_sys::child::die_with_parent(&mut command);
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().map(|it| Box::new(it) as Box<dyn Read + Send>);
    let stderr = child.stderr.take().map(|it| Box::new(it) as Box<dyn Read + Send>);
    for (source, is_result) in [(stdout, true), (stderr, false)] {
        let (Some(source), sender) = (source, sender.clone()) else { continue };
        parallel::spawn(move || {
            for line in lines(source) {
                let _ = sender.send(Happening::Event(HostEvent::Printed { line, is_result }));
            }
        })?;
    }
    Ok(child)
}

fn read_commands(input: impl Read + Send + 'static, sender: Sender<Happening>) -> io::Result<()> {
    parallel::spawn(move || {
        for line in lines(input) {
            let Ok(command) = serde_json::from_str(&line) else { break };
            if sender.send(Happening::Command(command)).is_err() {
                return;
            }
        }
        let _ = sender.send(Happening::InputEnded);
    })?;
    Ok(())
}

/// A socket in a folder of its own, which no other user can enter. It is gone when this is dropped.
struct Socket(PathBuf);

impl Socket {
    fn listen(sender: Sender<Happening>) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        // A process of the same number may have been killed and have left its folder.
        let (id, now) = (std::process::id(), jiff::Timestamp::now().as_nanosecond());
        let folder = std::env::temp_dir().join(format!("wirebench-{id}-{now}"));
        fs::DirBuilder::new().mode(0o700).create(&folder)?;
        let socket = Self(folder.join("relay"));
        let listener = UnixListener::bind(&socket.0)?;
        parallel::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                // One that cannot be heard is closed, and its carrier says so.
                let _ = parallel::spawn(move || greet(stream, &sender));
            }
        })?;
        Ok(socket)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = self.0.parent().map(fs::remove_dir_all);
    }
}

/// Reads the order of a process that wants a script to be carried.
fn greet(mut stream: UnixStream, sender: &Sender<Happening>) {
    // Byte by byte: what follows belongs to the script.
    let mut line = Vec::new();
    let mut byte = [0];
    while stream.read_exact(&mut byte).is_ok() && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    if let Ok(order) = serde_json::from_slice(&line) {
        let _ = sender.send(Happening::Opened(order, stream));
    }
}

/// A verb that is carried out here.
struct Hosted<W> {
    output: W,
    sender: Sender<Happening>,
    streams: BTreeMap<u32, UnixStream>,
    next_stream: u32,
}

impl<W: Write> Hosted<W> {
    fn say(&mut self, event: &HostEvent) -> io::Result<()> {
        writeln!(self.output, "{}", serde_json::to_string(event)?)?;
        self.output.flush()
    }

    /// Follows the verb to its end, or ends it.
    fn follow(&mut self, mut child: Child, happenings: &Receiver<Happening>) -> io::Result<()> {
        let mut heard = Instant::now();
        let mut ending: Option<Instant> = None;
        loop {
            let mut is_over = heard.elapsed() > Duration::from_nanos(HEARTBEAT_WITHIN_NS);
            match happenings.recv_timeout(LOOK) {
                Ok(Happening::Event(event)) => is_over |= self.say(&event).is_err(),
                Ok(Happening::Opened(order, stream)) => self.open(order, stream)?,
                Ok(Happening::Command(command)) => {
                    heard = Instant::now();
                    is_over = command == HostCommand::Interrupt;
                    is_over |= self.pass_on(&command).is_err();
                }
                Ok(Happening::InputEnded) => is_over = true,
                Err(_) => {}
            }
            if is_over && ending.is_none() {
                ending = Some(Instant::now());
                let _ = kill_process(Pid::from_child(&child), Signal::TERM);
            }
            if ending.is_some_and(|since| since.elapsed() > END_PATIENCE) {
                child.kill()?;
            }
            if let Ok(Some(status)) = child.try_wait() {
                return self.finish(status.code().unwrap_or(1), happenings);
            }
        }
    }

    fn open(&mut self, order: Order, stream: UnixStream) -> io::Result<()> {
        let number = self.next_stream;
        self.next_stream += 1;
        let Order { host, script } = order;
        self.say(&HostEvent::Open { stream: number, host, script })?;
        let (source, sender) = (stream.try_clone()?, self.sender.clone());
        self.streams.insert(number, stream);
        parallel::spawn(move || {
            let say = |event| sender.send(Happening::Event(event));
            for line in lines(source) {
                if say(HostEvent::Line { stream: number, line }).is_err() {
                    return;
                }
            }
            let _ = say(HostEvent::Close { stream: number });
        })?;
        Ok(())
    }

    /// Hands a command to the stream that it is for. One that has gone needs nothing any more.
    fn pass_on(&mut self, command: &HostCommand) -> io::Result<()> {
        match command {
            HostCommand::Heartbeat => return self.say(&HostEvent::Alive),
            HostCommand::Line { stream, .. } | HostCommand::Closed { stream, .. } => {
                if let Some(to) = self.streams.get_mut(stream) {
                    let _ = writeln!(to, "{}", serde_json::to_string(command)?);
                }
            }
            HostCommand::Start { .. } | HostCommand::Interrupt => {}
        }
        if let HostCommand::Closed { stream, .. } = command {
            self.streams.remove(stream);
        }
        Ok(())
    }

    /// What the verb has printed last, and that it has ended.
    fn finish(&mut self, code: i32, happenings: &Receiver<Happening>) -> io::Result<()> {
        while let Ok(happening) = happenings.recv_timeout(LOOK) {
            if let Happening::Event(event @ HostEvent::Printed { .. }) = happening {
                self.say(&event)?;
            }
        }
        self.say(&HostEvent::Ended { code })
    }
}
