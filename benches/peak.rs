//! What slower sampling would have seen of a trial's peak: `cargo run --example peak -- RECORD [METRIC]`.
//!
//! Of each trial's series, 100 Hz or so, every sub-sampling of 1, 5 and 10 Hz is looked at, in all of its phases.

use ktrial::prelude::*;
use ktrial::summary::peak::shortfall;

/// The slower samplings.
const RATES_HZ: [f64; 3] = [1.0, 5.0, 10.0];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        return Err(Error::usage("no record is given").next("peak RECORD [METRIC]"));
    };
    let metric = arguments.next().unwrap_or_else(|| "memory.used".into());
    let record = Record::open(&path)?;
    println!(
        "how far the peak of {} falls short when it is sampled at",
        metric.escape_default()
    );
    println!("trial      Hz  phases          min       median          max");
    for (trial, series) in record.series(&metric)? {
        for hz in RATES_HZ {
            let Some(short) = shortfall(&series, 1.0 / hz) else {
                println!("{:<8}{hz:>5}  too short a series", trial.id);
                continue;
            };
            let [min, median, max] =
                [short.min, short.median, short.max].map(|value| series.unit.show(value));
            let phases = short.phases;
            println!(
                "{:<8}{hz:>5}{phases:>8}{min:>13}{median:>13}{max:>13}",
                trial.id
            );
        }
    }
    Ok(())
}
