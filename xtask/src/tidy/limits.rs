//! Limits of lengths, and the maximum of each count. `cargo xtask tidy --counts` prints both tables with the counts of
//! today.

/// Lines above which a source file must be split.
pub(super) const FILE_LINES: usize = 400;
/// Lines above which a source file is counted as too long.
pub(super) const LONG_FILE: usize = 300;

/// Per crate: lines of code, of tests, of golden files; cycles of modules; doc comments without a noun or a verb at
/// their beginning; long files; functions excepted from the limit of lines; calls that accept a failed run.
pub(super) const CRATES: &[(&str, [usize; 8])] = &[
    ("agent", [323, 219, 0, 0, 2, 0, 0, 0]),
    ("bundle", [222, 71, 0, 0, 4, 0, 0, 0]),
    ("catalogue", [2350, 1096, 27, 0, 44, 4, 0, 0]),
    ("cli", [9985, 12214, 2957, 5, 85, 12, 0, 71]),
    ("doctor", [1110, 409, 263, 0, 14, 1, 0, 0]),
    ("experiment", [7803, 2249, 79, 2, 137, 4, 0, 0]),
    ("host", [1297, 994, 0, 0, 24, 1, 0, 0]),
    ("judge", [1584, 1715, 88, 1, 61, 2, 0, 0]),
    ("lab", [1925, 273, 7, 0, 0, 0, 0, 0]),
    ("loadgen", [10385, 8704, 110, 2, 113, 22, 0, 0]),
    ("nullserver", [1062, 966, 0, 0, 7, 1, 0, 0]),
    ("report", [17391, 8664, 6789, 7, 310, 12, 0, 0]),
    ("schema", [8299, 2720, 419, 4, 161, 8, 0, 0]),
    ("server", [3143, 1054, 85, 1, 64, 1, 0, 0]),
    ("stats", [1842, 1976, 0, 0, 14, 2, 0, 0]),
    ("sys", [292, 95, 0, 0, 3, 0, 0, 0]),
    ("uring", [478, 254, 7, 0, 5, 0, 0, 0]),
    ("verify", [3044, 2151, 30, 0, 42, 2, 0, 0]),
    ("xtask", [1829, 409, 0, 0, 0, 0, 0, 0]),
];
/// Counts of the workspace.
pub(super) const OTHERS: &[(&str, usize)] = &[
    ("surplus definitions of pub types with one name", 43),
    ("surplus definitions of pub and pub(..) types with one name", 145),
    ("threshold of lines of a function in clippy.toml", 70),
    ("options of run", 83),
    ("options of ab", 79),
    ("options of load", 65),
    ("options of tune", 62),
    ("options of report", 22),
    ("options of compare", 18),
    ("options of join", 2),
    ("options of site", 4),
    ("options of list", 10),
    ("options of new", 2),
    ("options of build", 5),
    ("options of verify", 32),
    ("options of serve", 5),
    ("options of versions", 3),
    ("options of setup", 5),
    ("options of doctor", 7),
    ("options of schema", 1),
    ("options of completions", 2),
    ("options of man", 1),
    ("options of agent", 1),
    ("options of guard", 1),
    ("options of null-server", 2),
];
