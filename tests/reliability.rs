//! docs/reliability.md promises nothing without a test: what each row of its table names is there.

use std::fs;
use std::path::Path;

/// The names in the last column of the table, a row each.
fn rows(page: &str) -> Vec<(&str, Vec<&str>)> {
    let faults = page.split("\n## ").find(|part| part.starts_with("Faults"));
    let lines = faults.expect("the table").lines();
    lines
        .filter(|line| line.starts_with("| ") && !line.starts_with("| fault |"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let [fault, _, shown_by] = cells[..] else {
                panic!("three columns: {line}");
            };
            (
                fault.trim(),
                shown_by.split('`').skip(1).step_by(2).collect(),
            )
        })
        .collect()
}

#[test]
fn every_promise_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |path: &str| fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let page = read("docs/reliability.md");
    let rows = rows(&page);
    assert!(rows.len() > 20, "{} rows", rows.len());
    for (fault, names) in rows {
        assert!(!names.is_empty(), "{fault}: no test");
        for name in names {
            if let Some((file, test)) = name.split_once("::") {
                let lines = format!("#[test]\nfn {test}() {{");
                assert!(read(file).contains(&lines), "{fault}: {name} is no test");
            } else {
                let (file, words) = name.split_once(": ").expect(name);
                assert!(
                    read(file).contains(&format!("'{words}'")),
                    "{fault}: {name}"
                );
            }
        }
    }
}
