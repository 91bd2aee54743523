//! Whose files may run, or say what runs: those of the user who starts wirebench and of root, if no other user can
//! write to them.
//!
//! Only the folders that wirebench works with count, not those above them.

use std::{fs, io, os::unix::fs::MetadataExt as _, path::Path};
use walkdir::WalkDir;

/// Why a file or folder is not trusted.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Untrusted(String);

/// Checks `paths`: of a symbolic link, itself and the file to which it leads. Absent ones can do no harm.
pub fn check<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Untrusted> {
    let users = Users::of_this_process();
    paths.into_iter().try_for_each(|path| users.check(path))
}

/// Checks `top`, `file` below it, and every folder between the two.
pub fn check_down(top: &Path, file: &Path) -> Result<(), Untrusted> {
    check(file.ancestors().take_while(|it| it.starts_with(top)))
}

/// Checks `top` and everything in it, apart from what is inside folders named in `except`.
pub fn check_tree(top: &Path, except: &[&str]) -> Result<(), Untrusted> {
    let users = Users::of_this_process();
    let mut walk = WalkDir::new(top).into_iter();
    while let Some(Ok(file)) = walk.next() {
        users.check(file.path())?;
        if file.file_type().is_dir() && except.iter().any(|name| file.file_name() == *name) {
            walk.skip_current_dir();
        }
    }
    Ok(())
}

/// The users whose files are trusted, in addition to root.
#[derive(Clone, Copy, Debug)]
struct Users {
    /// The user with whose rights commands run.
    effective: u32,
    /// The user who called sudo.
    sudo: Option<u32>,
}

impl Users {
    fn of_this_process() -> Self {
        let sudo = std::env::var("SUDO_UID").ok().and_then(|text| text.parse().ok());
        Self { effective: rustix::process::geteuid().as_raw(), sudo }
    }

    /// Any process can set the variable of sudo, so it means something to root alone.
    const fn includes(self, owner: u32) -> bool {
        owner == self.effective
            || owner == 0
            || (self.effective == 0 && matches!(self.sudo, Some(user) if user == owner))
    }

    fn check(self, path: &Path) -> Result<(), Untrusted> {
        let (shown, effective) = (path.display(), self.effective);
        for metadata in [fs::symlink_metadata(path), fs::metadata(path)] {
            let metadata = match metadata {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) => return Err(Untrusted(format!("{shown}: {error}"))),
            };
            let (owner, mode) = (metadata.uid(), metadata.mode() & 0o7777);
            if !self.includes(owner) {
                let reason =
                    format!("belongs to uid {owner}, and wirebench runs as uid {effective}");
                return Err(Untrusted(format!("{shown} {reason}")));
            }
            // A group with the number of the owner has no other members: the mode of a umask of 002.
            let is_writable = mode & 0o002 != 0 || (mode & 0o020 != 0 && metadata.gid() != owner);
            // Files of a sticky folder can be replaced only by their owners. Links to devices are common.
            let counts = (metadata.is_file() || metadata.is_dir()) && mode & 0o1000 == 0;
            if is_writable && counts {
                let mode = format!("(mode {mode:o}; `chmod go-w` ends that)");
                return Err(Untrusted(format!("other users can write to {shown} {mode}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn root_is_trusted_and_only_root_trusts_the_user_who_called_sudo() {
        let rows = [
            (1000, None, 1000, true),
            (1000, None, 0, true),
            (1000, None, 1001, false),
            (1000, Some(1001), 1001, false),
            (0, None, 1000, false),
            (0, Some(1000), 1000, true),
            (0, Some(1000), 1001, false),
            (0, Some(1000), 0, true),
        ];
        for (effective, sudo, owner, expected) in rows {
            let users = Users { effective, sudo };
            assert_eq!(users.includes(owner), expected, "{users:?} {owner}");
        }
    }

    #[test]
    fn a_file_that_other_users_can_write_is_found_below_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let [inner, link] = ["inner", "link"].map(|name| folder.path().join(name));
        let file = inner.join("file");
        fs::create_dir(&inner).unwrap();
        fs::write(&file, "").unwrap();
        symlink(&file, &link).unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        let is_trusted = || {
            let down = check_down(folder.path(), &file).is_ok();
            assert_eq!(check_tree(folder.path(), &[]).is_ok(), down);
            down
        };
        assert!(is_trusted());
        for (path, wrong) in [(&inner, 0o777), (&file, 0o666)] {
            mode(path, wrong).unwrap();
            assert!(!is_trusted(), "{}", path.display());
            mode(path, 0o755).unwrap();
        }
        mode(&inner, 0o1777).unwrap();
        assert!(is_trusted());
        mode(&file, 0o602).unwrap();
        let message = check([link.as_path()]).unwrap_err().to_string();
        let expected = format!(
            "other users can write to {} (mode 602; `chmod go-w` ends that)",
            link.display()
        );
        assert_eq!(message, expected);
        assert!(check_tree(folder.path(), &["inner"]).is_err(), "the link leads there");
        fs::remove_file(&link).unwrap();
        assert!(check_tree(folder.path(), &["inner"]).is_ok());
    }

    #[test]
    #[ignore = "needs root"]
    fn a_link_of_another_user_is_found_as_well_as_its_target_as_root() {
        let folder = tempfile::tempdir().unwrap();
        let [real, link, absent] = ["real", "link", "absent"].map(|name| folder.path().join(name));
        fs::create_dir(&real).unwrap();
        symlink(&real, &link).unwrap();
        let found = || check([real.as_path(), &link, &absent]).map_err(|it| it.to_string());
        assert_eq!(found(), Ok(()));
        std::os::unix::fs::lchown(&link, Some(65534), None).unwrap();
        let foreign = |path: &Path| {
            Err(format!("{} belongs to uid 65534, and wirebench runs as uid 0", path.display()))
        };
        assert_eq!(found(), foreign(&link));
        std::os::unix::fs::chown(&real, Some(65534), None).unwrap();
        assert_eq!(found(), foreign(&real));
    }
}
