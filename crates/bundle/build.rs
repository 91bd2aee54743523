//! Packs the tracked files of `entries/` and `suites/` into an archive for the library. In a package, where these
//! folders are absent, it takes the archive of the package instead.

use sha2::{Digest as _, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

const PARTS: [&str; 2] = ["entries", "suites"];
const PACKAGED: &str = "project.tar.gz";
/// When the project's tests last checked each entry. It changes without any change of the entries.
const LEDGER: &str = "entries/verified.tsv";
/// Folders in which toolchains leave their outputs.
const OUTPUT_FOLDERS: [&str; 4] = ["target", "build", "node_modules", "__pycache__"];
/// Bytes of the digest that names the archive.
const DIGEST_BYTES: usize = 6;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let (here, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    let workspace = here.join("../..");
    let archive =
        if workspace.join("suites/quick.toml").is_file() && workspace.join("entries").is_dir() {
            compressed(&packed(&workspace.canonicalize()?)?)?
        } else {
            println!("cargo:rerun-if-changed={PACKAGED}");
            fs::read(here.join(PACKAGED)).map_err(|error| {
                let text = format!(
                    "{PACKAGED}: {error}: this package was made without the archive of entries"
                );
                io::Error::new(error.kind(), text)
            })?
        };
    let digest = Sha256::digest(&archive);
    let digest: String =
        digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=WIREBENCH_BUNDLE_DIGEST={digest}");
    fs::write(out.join(PACKAGED), archive)
}

/// The archive of the files below `root`: the same bytes for the same contents.
fn packed(root: &Path) -> io::Result<Vec<u8>> {
    let mut files = Files { root, found: BTreeMap::new(), folders: BTreeSet::new() };
    for part in PARTS {
        files.add(Path::new(part), Path::new(part))?;
    }
    for folder in &files.folders {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    let mut archive = tar::Builder::new(Vec::new());
    for (name, file) in &files.found {
        let content = fs::read(file)?;
        let is_program = fs::metadata(file)?.permissions().mode() & 0o100 != 0;
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(if is_program { 0o755 } else { 0o644 });
        archive.append_data(&mut header, name, content.as_slice())?;
    }
    archive.into_inner()
}

fn compressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Files to pack, by their names in the archive.
struct Files<'a> {
    root: &'a Path,
    found: BTreeMap<PathBuf, PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl Files<'_> {
    /// Adds the files of `folder` as those of `name`. A link to a folder becomes that folder: entries link to crates
    /// of the workspace.
    fn add(&mut self, folder: &Path, name: &Path) -> io::Result<()> {
        self.folders.insert(folder.to_owned());
        for path in self.listed(folder).into_iter().filter(|path| path != Path::new(LEDGER)) {
            let file = self.root.join(&path);
            let name = name.join(path.strip_prefix(folder).unwrap_or(&path));
            match fs::metadata(&file) {
                Ok(it) if it.is_dir() => {
                    let target = file.canonicalize()?;
                    let target = target.strip_prefix(self.root).map_err(io::Error::other)?;
                    self.add(target, &name)?;
                }
                Ok(_) => {
                    self.found.insert(name, file);
                }
                // Tracked, and removed from the working tree.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The tracked files and links below `folder`; without git, all but the outputs of builds.
    fn listed(&self, folder: &Path) -> Vec<PathBuf> {
        let mut git = Command::new("git");
        // A hook of git describes another repository by these.
        for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
            git.env_remove(name);
        }
        let tracked =
            git.arg("-C").arg(self.root).args(["ls-files", "-z", "--"]).arg(folder).output();
        let tracked = tracked.ok().filter(|output| output.status.success());
        let tracked = tracked.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
        let tracked = tracked.unwrap_or_default();
        let tracked: Vec<PathBuf> =
            tracked.split('\0').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
        if tracked.is_empty() { self.walked(folder) } else { tracked }
    }

    fn walked(&self, folder: &Path) -> Vec<PathBuf> {
        let is_source = |it: &walkdir::DirEntry| {
            !(it.file_type().is_dir() && OUTPUT_FOLDERS.iter().any(|name| it.file_name() == *name))
        };
        let all = walkdir::WalkDir::new(self.root.join(folder)).into_iter().filter_entry(is_source);
        let files = all.flatten().filter(|it| !it.file_type().is_dir());
        files.filter_map(|it| Some(it.path().strip_prefix(self.root).ok()?.to_owned())).collect()
    }
}
