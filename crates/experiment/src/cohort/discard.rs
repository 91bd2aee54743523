//! How much of each visit is discarded, over all servers of a cohort. Pure.

use std::collections::BTreeSet;
use wirebench_schema::id::VariantId;

/// The discard of all servers, given each with its program and its own one, where waiting for the slowest costs little:
/// of two servers, and of one program. A request costs more or less with the time since the load began, so that equal
/// servers with unequal discards would differ.
pub(super) fn common_discard(servers: &[(VariantId, Option<String>, u64)]) -> Option<u64> {
    let variants: BTreeSet<_> = servers.iter().map(|it| &it.0).collect();
    let programs: BTreeSet<_> = servers.iter().map(|it| &it.1).collect();
    let is_common = variants.len() <= 2 || programs.len() == 1;
    servers.iter().map(|it| it.2).max().filter(|_| is_common)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_servers_and_copies_of_one_program_have_one_discard() {
        let server = |id: &str, program: &str, discard_ns| {
            (id.parse::<VariantId>().unwrap(), Some(program.to_owned()), discard_ns)
        };
        let [a, b] = [server("ab/A", "./old", 5), server("ab/B", "./new", 40)];
        assert_eq!(common_discard(&[a.clone(), b.clone(), a.clone()]), Some(40));
        let third = server("go/net", "./net", 60);
        assert_eq!(common_discard(&[a, b, third]), None);
        let copy = |id, discard_ns| server(id, "wirebench", discard_ns);
        assert_eq!(common_discard(&[copy("d/a", 5), copy("d/b", 7), copy("d/c", 6)]), Some(7));
    }
}
