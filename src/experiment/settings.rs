//! Settings: files of the kernel that hold a value during a trial.

/// A file below `/proc/sys` or `/sys` and its value. With `{variable}` places still open in an experiment, filled in
/// in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Setting {
    /// The file, absolute. A sysctl's name is turned into its file when an experiment is read.
    pub file: String,
    /// What is written into it for a trial.
    pub value: String,
}

/// The file that a name means: a sysctl such as `vm.oom_dump_tasks`, or an absolute path below `/proc/sys` or `/sys`
/// (module parameters, debugfs). None when it is neither.
pub(super) fn file(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:@/".contains(c);
    if name.len() > 255 || !name.chars().all(plain) {
        return None;
    }
    let path = match name.starts_with('/') {
        true => name.to_owned(),
        false if !name.contains('.') => return None,
        // sysctl(8): dots part the names, and a slash stands for a dot within one.
        false => {
            let swapped = name.chars().map(|c| match c {
                '.' => '/',
                '/' => '.',
                c => c,
            });
            format!("/proc/sys/{}", swapped.collect::<String>())
        }
    };
    let below = ["/proc/sys/", "/sys/"]
        .iter()
        .any(|root| path.starts_with(root));
    let whole = path
        .split('/')
        .skip(1)
        .all(|part| !part.is_empty() && part != "." && part != "..");
    (below && whole && path.matches('/').count() > 2).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::file;

    #[test]
    fn sysctls_and_paths_below_the_kernel_s_own_are_files() {
        assert_eq!(
            file("vm.oom_dump_tasks").unwrap(),
            "/proc/sys/vm/oom_dump_tasks"
        );
        assert_eq!(
            file("net.ipv4.conf.eth0/1.forwarding").unwrap(),
            "/proc/sys/net/ipv4/conf/eth0.1/forwarding"
        );
        let parameter = "/sys/module/module/parameters/x";
        assert_eq!(file(parameter).unwrap(), parameter);
        for bad in [
            "",
            "swappiness",
            "/etc/passwd",
            "/sys/../etc/x",
            "/sys//a/b",
            "vm.a b",
            "/sys/a$(id)/b",
            "vm..x",
        ] {
            assert_eq!(file(bad), None, "{bad}");
        }
    }
}
