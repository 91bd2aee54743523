//! Takes out of a text in any form what its reader must not learn about the machine and its users: the
//! folders of paths, and names.

use wirebench_schema::secrets::REDACTED;

/// Folders that are the same on every machine.
const SYSTEM: [&str; 8] = ["bin", "dev", "etc", "lib", "proc", "run", "sys", "usr"];
/// Names shorter than this are parts of ordinary words too often.
const SHORTEST_NAME: usize = 4;

/// What stands before the names of other hosts, with commas between them.
const BEFORE_HOSTS: [&str; 8] = [
    "--from ",
    "--server-on ",
    "--pairs ",
    "\"host\":\"",
    "\"host\": \"",
    "\"pair\":\"",
    "load generator on ",
    "pair of hosts ",
];

/// What stands before the path of a request, which is no folder.
const BEFORE_REQUESTS: [&str; 11] = [
    "GET ",
    "HEAD ",
    "POST ",
    "PUT ",
    "PATCH ",
    "DELETE ",
    "OPTIONS ",
    "\"path\":\"",
    "\"path\": \"",
    "--path ",
    "--path=",
];

/// The text without them. `names` are those of the host and of the user.
#[must_use]
pub fn text(text: &str, names: &[String]) -> String {
    let hosts = hosts(text);
    let text = without_folders(text);
    let names = names.iter().chain(&hosts).filter(|name| name.chars().count() >= SHORTEST_NAME);
    names.fold(text, |text, name| without_name(&text, name))
}

/// The names of other hosts in a text.
fn hosts(text: &str) -> Vec<String> {
    let lists = BEFORE_HOSTS.iter().flat_map(|before| text.split(before).skip(1));
    let is_end = |it: char| it.is_whitespace() || "\"'&<".contains(it);
    let lists = lists.filter_map(|rest| rest.split(is_end).next());
    let names = lists.flat_map(|it| it.split([',', ':', '+']));
    let mut hosts: Vec<String> = names.map(str::to_owned).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

/// A path keeps its last part, except for those of the system.
fn without_folders(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(at) = rest.find('/') {
        let (head, tail) = rest.split_at(at);
        result.push_str(head);
        let before_slash = head.chars().next_back().or(before);
        let begins =
            before_slash.is_none_or(|it| it.is_whitespace() || "\"'`=:(;,>[|".contains(it));
        let begins = begins && !BEFORE_REQUESTS.iter().any(|it| head.ends_with(it));
        // Only where a path begins: histograms are long texts with many slashes.
        if let Some(path) = begins.then(|| path(tail)).filter(|path| is_private(path)) {
            let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or("");
            result.push_str("...");
            result.push('/');
            result.push_str(last);
            before = path.chars().next_back();
            rest = &tail[path.len()..];
        } else {
            result.push('/');
            before = Some('/');
            rest = &tail[1..];
        }
    }
    result + rest
}

/// The path at the beginning of a text.
fn path(text: &str) -> &str {
    let end = text.find(|it: char| it.is_whitespace() || "\"'`<>&,;)|:\\]".contains(it));
    &text[..end.unwrap_or(text.len())]
}

/// Whether it is an absolute path of at least two parts outside the folders of the system.
fn is_private(path: &str) -> bool {
    let mut parts = path.split('/').skip(1);
    let first = parts.next().unwrap_or("");
    let begins = first.starts_with(|it: char| it.is_alphanumeric() || "._~-".contains(it));
    begins && parts.next().is_some() && !SYSTEM.contains(&first)
}

/// The text with `name` replaced where it is a word of its own.
fn without_name(text: &str, name: &str) -> String {
    let is_part = |it: char| it.is_alphanumeric() || "_/-".contains(it);
    let mut result = String::with_capacity(text.len());
    let mut last = 0;
    for (at, found) in text.match_indices(name) {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        if !before.is_some_and(is_part) && !after.is_some_and(is_part) {
            result.push_str(&text[last..at]);
            result.push_str(REDACTED);
            last = at + found.len();
        }
    }
    result + &text[last..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::assert_golden;

    #[test]
    fn folders_and_names_are_taken_out_and_nothing_else() {
        let lines = [
            "/home/alice/work/server --port 80",
            "`/home/alice/my server`: --root=/opt/x/y, (/srv/a/b)",
            "\"/home/alice/a\", &quot;/home/alice/b&quot; <td>/home/alice/c</td>",
            "GET /users/1, --path=/users/1 {\"path\": \"/users/{seq}\"} /home/alice/users",
            "/usr/bin/python3 /proc/1/stat /dev/full / /a requests/s c/epoll text/plain",
            "http://127.0.0.1:8080/path/x unix:/home/alice/socket",
            "on workstation7, workstation7/x and workstation77 of alice",
            "/* a comment */ <br/> </td> 1 / 2 //x",
            "/home/älice/ü ß",
            "load --from lab-2,lab-3 http://10.0.0.1/; load generator on lab-4: lab-2; pair of hosts lab-5:lab-6",
        ];
        let names = ["workstation7", "alice", "vm"].map(str::to_owned);
        let shown = lines.map(|line| format!("{line}\n  {}\n", text(line, &names)));
        assert_golden("redacted.txt", &shown.concat());
    }
}
