//! `cargo xtask dist`: a stripped binary, man pages, completions and checksums under `target/dist/`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

use crate::process;

/// The largest binary that is shipped, in bytes.
const BINARY_BYTES_MAX: u64 = 12 * 1024 * 1024;

/// Runs it.
pub(crate) fn run() -> anyhow::Result<()> {
    process::run(&["cargo", "build", "--release", "--locked", "--bin", "git-discern"])?;
    let folder = Path::new("target/dist");
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let binary = folder.join("git-discern");
    // The release profile strips it.
    fs::copy("target/release/git-discern", &binary)?;
    let bytes = fs::metadata(&binary)?.len();
    ensure!(bytes <= BINARY_BYTES_MAX, "the binary has {bytes} bytes, more than {BINARY_BYTES_MAX}");
    crate::r#gen::assets(folder)?;
    for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        fs::copy(file, folder.join(file)).with_context(|| format!("copy `{file}`"))?;
    }
    let mut files = files_below(folder)?;
    files.sort();
    let mut sums = String::new();
    for file in &files {
        let digest = Sha256::digest(fs::read(file)?);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        sums.push_str(&format!("{hex}  {}\n", file.strip_prefix(folder)?.display()));
    }
    fs::write(folder.join("SHA256SUMS"), sums)?;
    println!("target/dist: {} files, the binary {:.1} MiB", files.len() + 1, bytes as f64 / 1024.0 / 1024.0);
    Ok(())
}

fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}
