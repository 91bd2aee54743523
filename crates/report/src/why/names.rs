//! Names of functions and system calls, without what differs between two builds, places or files of one program.

/// The end of the frames of the kernel.
pub(super) const KERNEL: &str = "_[k]";
/// Marks with which compilers name parts and clones of a function.
const CLONES: [&str; 6] = [".constprop.", ".isra.", ".part.", ".cold", ".lto_priv.", ".llvm."];
/// What old symbols of Rust have in the place of other signs.
const RUST: [(&str, &str); 9] = [
    ("_$LT$", "<"),
    ("$LT$", "<"),
    ("$GT$", ">"),
    ("$RF$", "&"),
    ("$BP$", "*"),
    ("$C$", ","),
    ("$u20$", " "),
    ("$u7b$", "{"),
    ("$u7d$", "}"),
];
/// A part of names of C++.
const ANONYMOUS: &str = "(anonymous namespace)";
/// Kinds of JavaScript functions, after which V8 marks how each is compiled.
const JAVASCRIPT: [&str; 3] = ["LazyCompile:", "Function:", "JS:"];
/// Beginnings of the place of a function in a program without a compiled file.
const PLACES: [&str; 4] = [" /", ":/", " file:", " node:"];
/// Calls that have a second name with `64`.
const LARGE_FILE: &str =
    "fcntl fopen fstat fstatat ftruncate lseek lstat mmap open openat pread pwrite sendfile stat";

/// The name of a system call.
pub(super) fn call(name: &str) -> &str {
    let is_call = |it: &&str| LARGE_FILE.split(' ').any(|call| it.rsplit('_').next() == Some(call));
    name.strip_suffix("64").filter(is_call).unwrap_or(name)
}

/// The name of a frame.
pub(super) fn function(frame: &str) -> String {
    if frame.starts_with('[') && frame.ends_with(']') && !frame.ends_with(KERNEL) {
        return file(frame).to_owned();
    }
    let (name, end) = frame.strip_suffix(KERNEL).map_or((frame, ""), |name| (name, KERNEL));
    let (name, place) = name.split_at(first(name, &PLACES));
    let script = JAVASCRIPT.iter().find_map(|it| name.strip_prefix(it));
    let name = script.map_or(name, |it| it.trim_start_matches(['~', '^', '+', '*', '\'']));
    if name.is_empty() {
        let file = place.rsplit('/').next().unwrap_or_default();
        return format!("(anonymous) {}", &file[..first(file, &[":"])]);
    }
    let name = in_rust(without_hash(&name[..first(name, &CLONES)]));
    let name = call(without_parameters(&name));
    // What follows `0x` is an address, which differs from process to process.
    let parts = name.split("0x").enumerate().map(|(index, part)| match index {
        0 => part,
        _ => part.trim_start_matches(|it: char| it.is_ascii_hexdigit()),
    });
    parts.collect::<Vec<_>>().join("0x") + end
}

/// A symbol of Rust as its source has it.
fn in_rust(symbol: &str) -> String {
    let name = RUST.iter().fold(symbol.to_owned(), |name, (sign, shown)| name.replace(sign, shown));
    if name == symbol { name } else { name.replace("..", "::") }
}

/// A function without its parameters in C++. Go has `.(*Type)` in the names of methods.
fn without_parameters(symbol: &str) -> &str {
    let mut depth = 0;
    for (at, sign) in symbol.char_indices() {
        let is_name = symbol[..at].ends_with('.') || symbol[at..].starts_with(ANONYMOUS);
        match sign {
            '(' if depth == 0 && !is_name => return &symbol[..at],
            '<' | '{' | '[' | '(' => depth += 1,
            '>' | '}' | ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    symbol
}

/// Index of the first of the marks, or the length.
fn first(name: &str, marks: &[&str]) -> usize {
    marks.iter().filter_map(|it| name.find(it)).min().unwrap_or(name.len())
}

/// A file in which no function has a name. Two servers are two programs, and use the same libraries.
fn file(name: &str) -> &str {
    match name {
        "[unknown]" | "[vdso]" | "[vsyscall]" => name,
        _ if name.contains(".so") => name,
        _ if first(name, &["[perf-", "[anon", "[memfd", "[jitted-"]) == 0 => "[generated code]",
        _ => "[program]",
    }
}

/// A symbol of Rust ends with `::h` and sixteen digits.
fn without_hash(symbol: &str) -> &str {
    let is_hash = |it: &&str| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    symbol.rsplit_once("::h").filter(|(_, hash)| is_hash(hash)).map_or(symbol, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_function_are_one() {
        let same: [(&[&str], &str); 15] = [
            (&["[srv-a]", "[srv-b]"], "[program]"),
            (&["[perf-71.map]", "[perf-8123.map]", "[anon]"], "[generated code]"),
            (
                &[
                    "LazyCompile:~handler /tmp/a/app.js:3:1",
                    "LazyCompile:*handler /tmp/b/app.js:5:1",
                    "JS:+'handler file:///srv/a b/app.mjs:9:11",
                    "Function:^handler /tmp/other.js:1:1",
                ],
                "handler",
            ),
            (&["LazyCompile:~ /tmp/a/app.js:3:1", "JS:* /tmp/b/app.js:5:2"], "(anonymous) app.js"),
            (&["JS:*nextTick node:internal/process:9:1"], "nextTick"),
            (&["py::handle:/tmp/a/app.py", "py::handle:/tmp/b/app.py"], "py::handle"),
            (&["sendfile64", "sendfile"], "sendfile"),
            (&["__x64_sys_openat64_[k]", "__x64_sys_openat_[k]"], "__x64_sys_openat_[k]"),
            (&["app::handle::h0123456789abcdef", "app::handle"], "app::handle"),
            (&["f(int)::{lambda(int)#1}::operator()(int) const", "f(char)"], "f"),
            (
                &["(anonymous namespace)::f<void (int)>(int)"],
                "(anonymous namespace)::f<void (int)>",
            ),
            (&["_$LT$a..B$u20$as$u20$C$GT$::f::h0123456789abcdef"], "<a::B as C>::f"),
            (
                &["burn", "burn.constprop.0", "burn.isra.0.part.1", "burn.cold", "burn.llvm.42"],
                "burn",
            ),
            (&["finish_switch.isra.0_[k]", "finish_switch_[k]"], "finish_switch_[k]"),
            (&["Lambda$7/0x00007f11.run", "Lambda$7/0x00007f2a.run"], "Lambda$7/0x.run"),
        ];
        for (names, expected) in same {
            for name in names {
                assert_eq!(function(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn names_of_different_functions_stay() {
        let names = [
            "[libc.so.6]",
            "[vdso]",
            "[nf_conntrack]_[k]",
            "net/http.(*conn).serve",
            "ns::operator/",
            "base64",
            "do_syscall_64_[k]",
            "std::head",
        ];
        assert_eq!(names.map(function), names);
        assert_eq!(["sendfile64", "crc64", "pread64"].map(call), ["sendfile", "crc64", "pread"]);
    }
}
