//! `ktrial plot`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::{Error, Result};
use crate::output;
use crate::plot::Figure;
use crate::record::Record;

/// Columns of a mail.
const TEXT_WIDTH: usize = 72;

/// Draw a figure of a record.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The record's folder.
    record: PathBuf,
    /// The metric: a series (`memory.used`) over time, or a value of each trial (`memory.used.peak`).
    /// Without it, the series of the record's primary metric.
    #[arg(long)]
    metric: Option<String>,
    /// Only the cells where this parameter has this value; may be given for several parameters.
    #[arg(long = "cell", value_name = "PARAMETER=VALUE", value_parser = parameter)]
    cells: Vec<(String, String)>,
    /// The file to write, its form by its ending: .svg, .png or .txt; `-` prints text.
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
    /// With --output: replace the file when it is there already.
    #[arg(long, requires = "output")]
    force: bool,
}

fn parameter(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write it as parameter=value, such as config=debug".into()),
    }
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let render = renderer(&args.output)?;
    let record = Record::open(&args.record)?;
    let cell = args.cells.iter().cloned().collect();
    let figure = record.figure(args.metric.as_deref(), &cell)?;
    let bytes = render(&figure)?;
    if args.output == Path::new("-") {
        let printed = std::io::stdout().write_all(&bytes);
        printed.map_err(|e| Error::io("print the figure", &args.output, e))?;
    } else {
        let written = output::create(&args.output, args.force)?.write_all(&bytes);
        written.map_err(|e| Error::io("write the figure", &args.output, e))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Draws a figure as a file's bytes.
type Renderer = fn(&Figure) -> Result<Vec<u8>>;

/// How a file of this name is drawn.
fn renderer(output: &Path) -> Result<Renderer> {
    let ending = output
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("svg") => Ok(|figure| Ok(figure.to_svg()?.into_bytes())),
        Some("png") => Ok(Figure::to_png),
        Some("txt") => Ok(|figure| Ok(figure.to_text(TEXT_WIDTH).into_bytes())),
        _ if output == Path::new("-") => Ok(|figure| Ok(figure.to_text(TEXT_WIDTH).into_bytes())),
        _ => Err(
            Error::usage("the ending of the output file names no form of a figure")
                .at(output)
                .next("use .svg, .png or .txt, or - to print text"),
        ),
    }
}
