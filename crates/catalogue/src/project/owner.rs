//! Whose folders may hold a project. Commands of its entries and programs of its builds run with
//! the rights of the user who starts wirebench, so folders of other users are refused.
//!
//! Only the owner counts; write permission that an owner gives to other users does not.

use std::{
    fs, io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The users whose folders are trusted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trusted {
    /// The user with whose rights commands run.
    pub(super) effective: u32,
    /// The user who called sudo.
    sudo: Option<u32>,
}

impl Trusted {
    /// The users whom this process trusts.
    pub(super) fn of_this_process() -> Self {
        let sudo = std::env::var("SUDO_UID").ok().and_then(|text| text.parse().ok());
        Self { effective: rustix::process::geteuid().as_raw(), sudo }
    }

    /// Any process can set the variable of sudo, so it means something to root alone.
    const fn includes(self, owner: u32) -> bool {
        owner == self.effective
            || (self.effective == 0 && matches!(self.sudo, Some(user) if user == owner))
    }

    /// The first of `folders` that another user owns, and that user. A symbolic link counts
    /// itself, and so does the folder to which it leads. Absent folders belong to no user.
    pub(super) fn first_foreign<'a>(
        self,
        folders: impl IntoIterator<Item = &'a Path>,
    ) -> io::Result<Option<(PathBuf, u32)>> {
        for folder in folders {
            for metadata in [fs::symlink_metadata(folder), fs::metadata(folder)] {
                match metadata.map(|it| it.uid()) {
                    Ok(owner) if self.includes(owner) => {}
                    Ok(owner) => return Ok(Some((folder.to_owned(), owner))),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_trusts_the_user_who_called_sudo() {
        let rows = [
            (1000, None, 1000, true),
            (1000, None, 0, false),
            (1000, None, 1001, false),
            (1000, Some(1001), 1001, false),
            (0, None, 1000, false),
            (0, Some(1000), 1000, true),
            (0, Some(1000), 1001, false),
            (0, Some(1000), 0, true),
        ];
        for (effective, sudo, owner, expected) in rows {
            let trusted = Trusted { effective, sudo };
            assert_eq!(trusted.includes(owner), expected, "{trusted:?} {owner}");
        }
    }

    #[test]
    fn a_link_of_another_user_is_found_as_well_as_its_target() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, absent] = ["real", "link", "absent"].map(|name| folder.path().join(name));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let own = Trusted { effective: fs::metadata(&real).unwrap().uid(), sudo: None };
        let all = [real.as_path(), &link, &absent];
        assert_eq!(own.first_foreign(all).unwrap(), None);
        let stranger = Trusted { effective: own.effective + 1, sudo: None };
        let found = stranger.first_foreign([absent.as_path(), &link]).unwrap();
        assert_eq!(found, Some((link.clone(), own.effective)));
        if std::os::unix::fs::lchown(&link, Some(65534), None).is_ok() {
            assert_eq!(own.first_foreign(all).unwrap(), Some((link, 65534)));
        }
    }
}
