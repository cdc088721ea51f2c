//! Builds the program of this package as a static one, by a cargo of its own, so that the library can hold it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set for the cargo within, whose library holds no program.
const WITHIN: &str = "KTRIAL_AGENT_WITHIN";

fn main() {
    for path in ["build.rs", "src", "Cargo.toml", "../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-env-changed={WITHIN}");
    let target = text("TARGET");
    println!("cargo::rustc-env=KTRIAL_AGENT_MACHINE={}", machine(&target));
    let built = match env::var_os(WITHIN) {
        Some(_) => None,
        None => match build(&target) {
            Ok(program) => Some(program),
            Err(why) => {
                println!("cargo::warning=no program for hosts, the shell supervisor serves: {why}");
                None
            }
        },
    };
    let line = match built {
        Some(path) => format!("Some(include_bytes!({path:?}))\n"),
        None => "None\n".to_owned(),
    };
    let out = Path::new(&text("OUT_DIR")).join("program.rs");
    if let Err(e) = fs::write(&out, line) {
        println!("cargo::error={}: {e}", out.display());
    }
}

/// Builds it; where it is then.
fn build(target: &str) -> Result<PathBuf, String> {
    let target = static_target(target)?;
    let folder = Path::new(&text("OUT_DIR")).join("static");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    command
        .args([
            "build",
            "--release",
            "--bin",
            "ktrial-agent",
            "--locked",
            "--quiet",
        ])
        .arg("--manifest-path")
        .arg(Path::new(&text("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder)
        .args(["--target", &target])
        .env(WITHIN, "1")
        .env(
            "CARGO_ENCODED_RUSTFLAGS",
            "-Ctarget-feature=+crt-static\u{1f}-Crelocation-model=static",
        )
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s")
        .env("CARGO_PROFILE_RELEASE_LTO", "true")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort")
        .env("CARGO_PROFILE_RELEASE_STRIP", "true")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    // How the build outside is checked or wrapped is not the program's.
    for name in [
        "RUSTFLAGS",
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_BUILD_RUSTFLAGS",
    ] {
        command.env_remove(name);
    }
    let of_clippy = env::var_os("RUSTC_WRAPPER").is_some_and(|w| is_clippy(&w));
    if of_clippy {
        command.env_remove("RUSTC_WRAPPER");
    }
    // What a build script is told of its own package would make the one within another each time.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PKG_", "DEP_"]
            .iter()
            .any(|p| name.starts_with(p))
        {
            command.env_remove(name);
        }
    }
    // The build outside has fetched all crates already, so the network is asked for only if one is missing.
    let offline = command.env("CARGO_NET_OFFLINE", "true").output();
    let output = match offline {
        Ok(output) if !output.status.success() && env::var_os("CARGO_NET_OFFLINE").is_none() => {
            command.env_remove("CARGO_NET_OFFLINE").output()
        }
        other => other,
    };
    let output = output.map_err(|e| format!("cargo: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| line.starts_with("error"));
        return Err(line.unwrap_or("cargo ended without a word").to_owned());
    }
    Ok(folder.join(target).join("release/ktrial-agent"))
}

fn is_clippy(wrapper: &OsString) -> bool {
    wrapper.to_string_lossy().contains("clippy")
}

/// The target with musl where it is installed; a static program with glibc otherwise.
fn static_target(target: &str) -> Result<String, String> {
    if !target.contains("-linux-") {
        return Err(format!("{target} is not Linux"));
    }
    let musl = target.replace("-gnu", "-musl");
    let rustc = env::var_os("RUSTC").unwrap_or("rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output();
    let sysroot = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    let is_installed = |sysroot: String| {
        let libraries = Path::new(&sysroot)
            .join("lib/rustlib")
            .join(&musl)
            .join("lib");
        libraries.is_dir()
    };
    match sysroot.is_ok_and(is_installed) {
        true => Ok(musl),
        false => Ok(target.to_owned()),
    }
}

/// What `uname -m` says on a target.
fn machine(target: &str) -> String {
    let word = target.split('-').next().unwrap_or_default();
    match word {
        "powerpc64" => "ppc64".to_owned(),
        "powerpc64le" => "ppc64le".to_owned(),
        word if word.starts_with("riscv64") => "riscv64".to_owned(),
        word if word.starts_with("armv7") => "armv7l".to_owned(),
        word => word.to_owned(),
    }
}

fn text(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
