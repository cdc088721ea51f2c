//! Runs tiny notebooks that load nothing. The tests share one directory for cells, so they also wait for each other.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A notebook in a folder of its own.
struct Notebook {
    folder: tempfile::TempDir,
}

impl Notebook {
    fn of(cells: &[&str]) -> Notebook {
        let cells: Vec<Value> = cells
            .iter()
            .map(|source| {
                json!({"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": source})
            })
            .collect();
        let notebook = Notebook {
            folder: tempfile::tempdir().unwrap(),
        };
        let text = json!({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4});
        std::fs::write(notebook.path(), text.to_string()).unwrap();
        notebook
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("n.ipynb")
    }

    fn kernel(&self, command: &str, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ktrial-kernel"))
            .arg(command)
            .arg(self.path())
            .args(more)
            // As started from a shell: cargo has set the toolchain's libraries for this test.
            .env_remove("LD_LIBRARY_PATH")
            .env(
                "KTRIAL_CACHE",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
            )
            .output()
            .unwrap()
    }

    /// Runs it to the failure of its second cell; gives that cell's last output, and checks that the third did not run.
    fn fails_in_the_second(&self, more: &[&str]) -> Value {
        let output = self.kernel("run", more);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(
            text(&output).contains("code cell 2 failed"),
            "{}",
            text(&output)
        );
        let cells = self.cells();
        assert_eq!(cells[0]["outputs"][0]["text"], json!(["first\n"]));
        assert_eq!(cells[1]["outputs"][0]["text"], json!(["before\n"]));
        assert_eq!(cells[2]["outputs"], json!([]));
        assert_eq!(cells[2]["execution_count"], Value::Null);
        let last = cells[1]["outputs"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        assert_eq!(last["output_type"], "error");
        last
    }

    fn cells(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path()).unwrap();
        let notebook: Value = serde_json::from_str(&text).unwrap();
        notebook["cells"].as_array().unwrap().clone()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn failing(second: &str) -> Notebook {
    Notebook::of(&[
        r#"println!("first");"#,
        &format!("println!(\"before\");\n{second}"),
        r#"println!("third");"#,
    ])
}

#[test]
fn outputs_stand_in_order_and_a_second_run_gives_the_same() {
    let notebook = Notebook::of(&[
        "let numbers = vec![1, 2];\nprintln!(\"one\");\neprintln!(\"warned\");\nprintln!(\"two\");",
        "",
        "numbers.len()",
        "use std::io::Write;\nprint!(\"no line break\");\nstd::io::stdout().flush()?;",
        r#"
fn show(what: &str) {
    println!("EVCXR_BEGIN_CONTENT text/html\n<b>{what}</b>\nEVCXR_END_CONTENT");
    println!("EVCXR_BEGIN_CONTENT text/plain\n{what}\nEVCXR_END_CONTENT");
}
show("a");
show("b");
println!("between");
show("c");
"#,
        r#"std::fs::write("here.txt", "")?;"#,
    ]);
    let output = notebook.kernel("run", &[]);
    assert!(output.status.success(), "{}", text(&output));
    let cells = notebook.cells();
    let stream =
        |name: &str, text: &[&str]| json!({"output_type": "stream", "name": name, "text": text});
    assert_eq!(
        cells[0]["outputs"],
        json!([
            stream("stdout", &["one\n", "two\n"]),
            stream("stderr", &["warned\n"])
        ])
    );
    assert_eq!(cells[1]["execution_count"], Value::Null);
    assert_eq!(
        cells[2]["outputs"],
        json!([{"output_type": "execute_result", "execution_count": 2, "metadata": {}, "data": {"text/plain": ["2"]}}])
    );
    assert_eq!(
        cells[3]["outputs"],
        json!([stream("stdout", &["no line break"])])
    );
    let shown = |what: &str| {
        let html = format!("<b>{what}</b>");
        json!({"output_type": "display_data", "metadata": {}, "data": {"text/html": [html], "text/plain": [what]}})
    };
    assert_eq!(
        cells[4]["outputs"],
        json!([
            shown("a"),
            shown("b"),
            stream("stdout", &["between\n"]),
            shown("c")
        ])
    );
    assert!(notebook.folder.path().join("here.txt").exists());

    let output = notebook.kernel("check", &[]);
    assert!(output.status.success(), "{}", text(&output));
    let changed = std::fs::read_to_string(notebook.path())
        .unwrap()
        .replace("\"between\\n\"", "\"beyond\\n\"");
    std::fs::write(notebook.path(), &changed).unwrap();
    let output = notebook.kernel("check", &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output).contains("code cell 5, output 3 differs"),
        "{}",
        text(&output)
    );
    assert_eq!(
        std::fs::read_to_string(notebook.path()).unwrap(),
        changed,
        "check writes nothing"
    );
}

#[test]
fn a_panic_is_an_error() {
    let error = failing("numbers_of(&[])[1];\nfn numbers_of(n: &[u8]) -> Vec<u8> { n.to_vec() }")
        .fails_in_the_second(&[]);
    assert_eq!(error["ename"], "Panic");
    assert_eq!(
        error["evalue"],
        "index out of bounds: the len is 0 but the index is 1"
    );
}

#[test]
fn an_error_through_the_question_mark_is_an_error() {
    let error = failing("let n: u8 = \"x\".parse()?;").fails_in_the_second(&[]);
    assert_eq!(error["ename"], "Error");
    assert_eq!(error["evalue"], "ParseIntError { kind: InvalidDigit }");
}

#[test]
fn a_process_that_ends_is_an_error() {
    let error =
        failing("eprintln!(\"last words\");\nstd::process::exit(3);").fails_in_the_second(&[]);
    assert_eq!(error["ename"], "Ended");
    assert_eq!(error["evalue"], "the cell's process ended with code 3");
    assert_eq!(error["traceback"], json!(["last words"]));
}

#[test]
fn a_cell_that_runs_too_long_is_ended_with_what_it_started() {
    let notebook = failing("std::process::Command::new(\"sleep\").arg(\"86399\").status()?;");
    let error = notebook.fails_in_the_second(&["--timeout", "1"]);
    assert_eq!(error["ename"], "Timeout");
    assert_eq!(
        error["evalue"],
        "the cell ran for longer than 1 s and was ended"
    );
    let processes = Command::new("ps").args(["-eo", "args"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&processes.stdout).contains("sleep 86399"));
}

#[test]
fn what_does_not_compile_is_an_error_with_its_place_in_the_cell() {
    let notebook = Notebook::of(&["let kept = 1;", "let a = kept;\na + missing", "kept"]);
    let output = notebook.kernel(
        "run",
        &[
            "-o",
            notebook.folder.path().join("out.ipynb").to_str().unwrap(),
        ],
    );
    assert_eq!(output.status.code(), Some(1));
    let out = std::fs::read_to_string(notebook.folder.path().join("out.ipynb")).unwrap();
    let out: Value = serde_json::from_str(&out).unwrap();
    let error = &out["cells"][1]["outputs"][0];
    assert_eq!(error["ename"], "CompilationError");
    assert_eq!(error["evalue"], "cannot find value `missing` in this scope");
    assert_eq!(error["traceback"][1], "   2 | a + missing");
    assert_eq!(out["cells"][2]["outputs"], json!([]));
    assert_eq!(
        notebook.cells()[1]["outputs"],
        json!([]),
        "the notebook itself stays as it was"
    );
}

#[test]
fn a_file_that_is_no_notebook_is_refused() {
    let notebook = Notebook::of(&[]);
    std::fs::write(notebook.path(), "no JSON").unwrap();
    let output = notebook.kernel("run", &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output).contains("not a notebook"),
        "{}",
        text(&output)
    );
}
