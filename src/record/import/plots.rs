//! gnuplot text plots in a mail, one a condition, with exact peaks from `sort -n -r FILE | head -1` where posted.

use super::about::{About, Plotted};
use super::mail::Mail;
use super::{Draft, DraftTrial, RawPart};
use crate::error::{Error, Result};
use crate::parse::dumb_plot::{self, Plot};
use crate::parse::{figures, series_file};
use crate::record::{Replication, State, Trial};
use crate::series::{Series, Value};
use crate::unit::Unit;

const FILE_NAME_LIMIT: usize = 64;
/// How far above a plot the command that shows it may stand, in lines that are not blank.
const COMMAND_DISTANCE: usize = 2;

/// A peak as published.
#[derive(Debug, Clone, PartialEq)]
struct Peak {
    /// The file that was sorted.
    file: String,
    value: f64,
}

/// The record that the plots make; none when the mail holds no plot.
pub(super) fn draft(mail: &Mail, about: &About) -> Result<Option<Draft>> {
    let plots = dumb_plot::find(&mail.text, &mail.file)?;
    if plots.is_empty() {
        return Ok(None);
    }
    let shown = about.series.as_ref().ok_or_else(|| {
        Error::input(format!(
            "holds {} plots, and what they show is not known",
            plots.len()
        ))
        .at(&mail.file)
        .next("say it in a file, for example `series: {metric: memory.used, unit: KiB, interval_s: 1}`, and give it with --about FILE")
    })?;
    let files: Vec<String> = plots
        .iter()
        .map(|plot| plotted_file(&mail.text, plot.line))
        .collect();
    let conditions = if about.conditions.is_empty() {
        differing_words(&files)
    } else {
        about.conditions.clone()
    };
    let mut peaks = peaks(&mail.text)
        .into_iter()
        .map(|peak| Ok((condition_of(&peak.file, &conditions, mail)?, peak)))
        .collect::<Result<Vec<_>>>()?;
    let mut trials = Vec::new();
    let mut quanta = Vec::new();
    for (index, (plot, file)) in plots.iter().zip(&files).enumerate() {
        let condition = condition_of(file, &conditions, mail)?;
        let peak = peaks
            .iter()
            .position(|(of, _)| *of == condition)
            .map(|at| peaks.remove(at).1);
        quanta.push(format!("{} {}", plot.y.quantum(), shown.unit));
        let mut trial = Trial::new(&super::trial_id(index, plots.len()), &condition);
        trial.state = State::Complete;
        trials.push(digitise(plot, peak.as_ref(), shown, trial).map_err(|why| {
            Error::input(format!("the plot cannot be read back: {why}"))
                .at_line(&mail.file, plot.line)
                .next("only plots in which every sample has a column of its own can be imported")
        })?);
    }
    if let Some((condition, peak)) = peaks.first() {
        return Err(Error::input(format!(
            "the peak {} of `{condition}` belongs to no plot",
            peak.value
        ))
        .at(&mail.file)
        .next("import a copy of the mail with one plot and one peak a condition"));
    }
    quanta.dedup();
    let how = format!(
        "points of gnuplot text plots, each known to within {}, peaks as printed by `sort -n -r | head -1`",
        quanta.join(", ")
    );
    Ok(Some(Draft {
        conditions,
        replication: Replication::Trial,
        trials,
        how,
        notes: vec!["no sample from before the workload: there is no idle reference, so a difference may have been there already".into()],
    }))
}

/// One trial: its series, and its exact peak when published.
fn digitise(
    plot: &Plot,
    peak: Option<&Peak>,
    shown: &Plotted,
    mut trial: Trial,
) -> Result<DraftTrial, String> {
    if let Some(unit) = plot.title.as_deref().and_then(unit_in_brackets)
        && unit != shown.unit
    {
        return Err(format!(
            "its key says {unit}, the import says {}",
            shown.unit
        ));
    }
    let (first, rows) = plot.samples()?;
    let mut values: Vec<f64> = rows.iter().map(|&row| plot.y.at(row)).collect();
    let quantum = plot.y.quantum();
    let mut remarks = vec![
        format!(
            "digitised from a gnuplot text plot: each value is the middle of its row and known to {quantum} {}",
            shown.unit
        ),
        seen(first, rows.len()),
    ];
    if let Some(peak) = peak {
        remarks.push(pin(plot, &rows, &mut values, peak.value, &shown.unit)?);
    }
    trial.notes = remarks.clone();
    let series = Series {
        metric: shown.metric.clone(),
        unit: shown.unit.clone(),
        time_s: Vec::new(),
        values,
        quantum: Some(quantum),
    };
    let text = series_file::write(&series, shown.interval_s, &remarks);
    // The ending of compressed files is none that a mail may give to a plain one.
    let name = peak.and_then(|p| file_name(&p.file));
    let name = name.filter(|name| !name.ends_with(".zst"));
    let mut raw = vec![RawPart {
        monitor: "series",
        name: name.unwrap_or_else(|| "series.txt".into()),
        bytes: text.into_bytes(),
    }];
    if let Some(peak) = peak {
        let value = Value {
            metric: format!("{}.peak", shown.metric),
            unit: shown.unit.clone(),
            value: peak.value,
        };
        let text = figures::write(&["as published".into()], &[value]);
        raw.push(RawPart {
            monitor: "figures",
            name: "figures.tsv".into(),
            bytes: text.into_bytes(),
        });
    }
    Ok(DraftTrial { trial, raw })
}

fn seen(first: usize, count: usize) -> String {
    let last = first + count.saturating_sub(1);
    let hidden = match first {
        0 => String::new(),
        1 => "; sample 0 lies behind the plot's frame".into(),
        _ => format!("; samples 0 to {} are not seen", first - 1),
    };
    format!(
        "samples {first} to {last} of the plot ({count} numbers){hidden}; time 0 is sample {first}"
    )
}

/// Sets the first sample of the topmost row to the exact peak, and the others of that row, which cannot be above it,
/// to the middle of what is left of the row. Says so.
fn pin(
    plot: &Plot,
    rows: &[usize],
    values: &mut [f64],
    peak: f64,
    unit: &Unit,
) -> Result<String, String> {
    let top = rows.iter().copied().max().unwrap_or_default();
    let middle = plot.y.at(top);
    let half = plot.y.quantum() / 2.0;
    let (low, high) = (middle - half, middle + half);
    if !(low..=high).contains(&peak) {
        return Err(format!(
            "the published peak {peak} is not within what the topmost row can stand for, {low} to {high} {unit}"
        ));
    }
    let rest = (low + peak) / 2.0;
    let mut pinned = None;
    let mut others = 0;
    for (index, (value, _)) in values
        .iter_mut()
        .zip(rows)
        .enumerate()
        .filter(|(_, (_, row))| **row == top)
    {
        if pinned.is_none() {
            pinned = Some(index);
            *value = peak;
        } else {
            others += 1;
            *value = rest;
        }
    }
    let pinned = pinned.ok_or("it has no points")?;
    let mut remark = format!(
        "number {} is the exact peak {peak} as published",
        pinned + 1
    );
    if others > 0 {
        remark.push_str(&format!(
            ", put at the first sample of the topmost row: which of the row's {} samples it was is not known; \
             the other {others} cannot be above it and are given as {rest}, the middle of {low} to {peak}",
            others + 1
        ));
    }
    Ok(remark)
}

fn unit_in_brackets(title: &str) -> Option<Unit> {
    let (_, rest) = title.rsplit_once('(')?;
    rest.split_once(')')?.0.trim().parse().ok()
}

/// The last word of the nearest command or heading above a plot.
fn plotted_file(text: &str, plot_line: usize) -> String {
    let above: Vec<&str> = text.lines().take(plot_line.saturating_sub(1)).collect();
    above
        .iter()
        .rev()
        .map(|line| line.trim_start_matches(['>', ' ', '\t']).trim())
        .filter(|line| !line.is_empty())
        .take(COMMAND_DISTANCE)
        .find(|line| line.contains("cat ") || line.ends_with(':'))
        .and_then(|line| line.split_whitespace().next_back())
        .unwrap_or_default()
        .to_owned()
}

/// Numbers printed by `sort -n -r FILE | head -1`, with the file.
fn peaks(text: &str) -> Vec<Peak> {
    let mut lines = text
        .lines()
        .map(|line| line.trim_start_matches('>').trim())
        .filter(|line| !line.is_empty());
    let mut peaks = Vec::new();
    while let Some(line) = lines.next() {
        let Some(file) = sorted_file(line) else {
            continue;
        };
        let next = lines.next().and_then(|line| line.parse::<f64>().ok());
        if let Some(value) = next.filter(|v| v.is_finite()) {
            peaks.push(Peak { file, value });
        }
    }
    peaks
}

fn sorted_file(line: &str) -> Option<String> {
    let (sort, head) = line.split_once('|')?;
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    if !["head -1", "head -n 1", "head -n1"].contains(&head.as_str()) {
        return None;
    }
    let mut words = sort.split_whitespace().skip_while(|w| *w != "sort").skip(1);
    let mut flags = String::new();
    let mut file = None;
    for word in words.by_ref() {
        match word.strip_prefix('-') {
            Some(letters) => flags.push_str(letters),
            None => file = Some(word.to_owned()),
        }
    }
    (flags.contains('n') && flags.contains('r'))
        .then_some(file)
        .flatten()
}

fn words(name: &str) -> Vec<String> {
    name.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

/// The words in which names of one pattern differ, `before` and `after` of `log-1-before.txt` and `log-1-after.txt`;
/// empty when they do not differ in exactly one place.
fn differing_words(names: &[String]) -> Vec<String> {
    let split: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let Some(first) = split.first() else {
        return Vec::new();
    };
    if split.iter().any(|other| other.len() != first.len()) {
        return Vec::new();
    }
    let mut places =
        (0..first.len()).filter(|&at| split.iter().any(|s| s.get(at) != first.get(at)));
    match (places.next(), places.next()) {
        (Some(place), None) => split.iter().filter_map(|s| s.get(place).cloned()).collect(),
        _ => Vec::new(),
    }
}

fn condition_of(name: &str, conditions: &[String], mail: &Mail) -> Result<String> {
    let words = words(name);
    let mut found = conditions
        .iter()
        .filter(|c| words.contains(&c.to_ascii_lowercase()));
    match (found.next(), found.next()) {
        (Some(condition), None) => Ok(condition.clone()),
        _ => Err(Error::input(format!(
            "which condition `{}` belongs to cannot be told",
            name.chars().take(80).collect::<String>().escape_default()
        ))
        .at(&mail.file)
        .next("name the conditions with --about FILE, `conditions: [before, after]`: words of the plotted files' names")),
    }
}

/// The last part of a posted path, when it is plain enough to be a file's name here.
fn file_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    let is_plain = name.len() <= FILE_NAME_LIMIT
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    (is_plain && name != "figures.tsv").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_are_found_with_their_files() {
        let text = "root # sort -n -r log-a.txt  | head -1\n5\n\n$ sort -rn b.txt | head -n 1\n\n7.5\n$ sort b.txt | head -1\n9\n";
        let peak = |file: &str, value| Peak {
            file: file.into(),
            value,
        };
        assert_eq!(peaks(text), [peak("log-a.txt", 5.0), peak("b.txt", 7.5)]);
    }

    #[test]
    fn conditions_come_from_what_differs_in_the_names() {
        let names = |a: &str, b: &str| differing_words(&[a.into(), b.into()]);
        assert_eq!(
            names("log-1-before.txt", "log-1-after.txt"),
            ["before", "after"]
        );
        assert_eq!(names("a-1.txt", "b-2.txt"), Vec::<String>::new());
    }

    #[test]
    fn posted_paths_do_not_become_paths() {
        assert_eq!(file_name("/tmp/log-1.txt").as_deref(), Some("log-1.txt"));
        for bad in [
            "..",
            "../..",
            ".hidden",
            "a b",
            "x\u{1b}",
            "",
            "figures.tsv",
        ] {
            assert_eq!(file_name(bad), None, "{bad:?}");
        }
    }
}
