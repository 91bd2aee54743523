//! What is printed to terminals: colours only where they are wanted, lines on a dumb one, and no commands of other
//! programs.

use crate::world::{ENTRY, World, program};

/// What wirebench prints to a terminal with these variables.
fn on_terminal(world: &World, variables: &str, arguments: &str) -> String {
    let program = program().display();
    world.on_terminal(&format!("env -u NO_COLOR -u CLICOLOR {variables} {program} {arguments}"))
}

#[test]
fn colours_and_live_lines_are_only_where_the_terminal_and_its_user_want_them() {
    let build = "[[build]]\ncommand = [\"cp\", \"/bin/true\", \"{build}/server\"]\n";
    let entry = ENTRY.replace("no-such-server", "{build}/server") + build;
    for (variables, is_coloured, is_live) in [
        ("TERM=xterm", true, true),
        ("TERM=xterm NO_COLOR=1", false, true),
        ("TERM=xterm CLICOLOR=0", false, true),
        ("TERM=xterm CLICOLOR=1", true, true),
        ("TERM=dumb", false, false),
    ] {
        let world = World::new().with_entry("c/x", &entry);
        let text = on_terminal(&world, variables, "report nowhere");
        assert_eq!(
            text.contains("\u{1b}[31merror\u{1b}[0m: nowhere"),
            is_coloured,
            "{variables}: {text}"
        );
        assert_eq!(text.contains("error: nowhere"), !is_coloured, "{variables}: {text}");
        let text = on_terminal(&world, variables, "build c/x");
        assert_eq!(text.contains("building c/x\r\n"), !is_live, "{variables}: {text}");
        assert!(text.contains("c/x: built in "), "{variables}: {text}");
        assert!(is_live || !text.contains('\u{1b}'), "{variables}: {text}");
    }
}

#[test]
fn what_a_server_prints_cannot_control_the_terminal() {
    let world = World::new();
    let script = r"printf '\033]0;title\007\033[2Jgone' >&2; exit 1 # {port}";
    let server = format!("sh -c \"{script}\"");
    for words in [&["verify", "--server", &server][..], &["ab", "--a", &server, "--b", &server]] {
        let outcome = world.wirebench(words);
        let text = outcome.stdout + &outcome.stderr;
        assert!(text.contains(r"\u{1b}]0;title\u{7}\u{1b}[2Jgone"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
}

#[test]
fn a_running_load_shows_its_latencies_and_statuses_where_there_is_room() {
    let (world, _server, url) = crate::load::served("hello");
    let load = format!("{} load -c2 -d500ms --interval 100ms {url}", program().display());
    for (columns, variables, has_view) in
        [(60, "NO_COLOR=1", true), (59, "NO_COLOR=1", false), (80, "NO_COLOR=1 TERM=dumb", false)]
    {
        let line = format!("stty cols {columns} rows 30; TERM=xterm env {variables} {load}");
        let text = world.on_terminal(&line);
        let view = ["  Req/s ", " % █", "  Statuses  2xx "];
        assert!(view.iter().all(|it| text.contains(it) == has_view), "{columns}: {text}");
        // The result follows on a clean line.
        assert!(text.contains("\n  Latency Distribution\r\n"), "{columns}: {text}");
    }
}
