//! When two servers count as the same program.

use std::fs;

use crate::{
    ab::SHORT,
    world::{World, program},
};

/// Whether two servers in folders with these files are the same program, and what their processes had mapped.
fn compared(libraries: [&str; 2]) -> (serde_json::Value, Vec<Option<String>>) {
    let world = World::new();
    let folders = ["a", "b"].map(|name| world.path(name));
    for (folder, library) in folders.iter().zip(libraries) {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("app.sh"), ". ./lib.sh\nserve $1 $2\n").unwrap();
        let serve = format!(
            "serve() {{ {library} {} null-server epoll hello $1 $2 1; }}\n",
            program().display()
        );
        fs::write(folder.join("lib.sh"), serve).unwrap();
    }
    let [a, b] = folders.map(|it| it.display().to_string());
    let command = "sh app.sh {host} {port}";
    let sides = ["--a", command, "--b", command, "--a-folder", &a, "--b-folder", &b];
    let outcome =
        world.wirebench(&[&SHORT[..], &sides, &["--cohorts=1", "--json"]].concat()).ended(0);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let mapped =
        world.journal().runs.into_iter().map(|run| run.outcome.mapped().map(str::to_owned));
    (json["cells"][1]["same_program"].clone(), mapped.collect())
}

#[test]
fn a_changed_file_that_the_command_does_not_name_is_another_program() {
    // A script may run what no command names, whatever its process becomes.
    for (library, is_known) in [("", false), ("exec", true)] {
        let (same, mapped) = compared([library; 2]);
        assert_eq!(same, serde_json::Value::Null);
        assert!(mapped.iter().all(|it| it.is_some() == is_known), "{mapped:?}");
    }
    assert_eq!(compared(["", "exec"]).0, false);
}
