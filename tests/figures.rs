//! Figures through the public interface: SVG as a reader of XML sees it, PNG as pixels, text as in a mail.

use ktrial::plot::{Figure, Group, Line};
use ktrial::unit::Unit;

fn line(label: &str, condition: &str, hz: f64, values: Vec<f64>) -> Line {
    Line {
        label: label.into(),
        condition: condition.into(),
        time_s: (0..values.len()).map(|i| i as f64 / hz).collect(),
        values,
        phases: Vec::new(),
    }
}

fn ramp(from: f64, to: f64, count: u32) -> Vec<f64> {
    let step = (to - from) / f64::from(count - 1);
    (0..count).map(|i| from + step * f64::from(i)).collect()
}

fn two_conditions() -> Figure {
    let lines = vec![
        line("t01", "before", 1.0, ramp(505_000.0, 528_732.0, 40)),
        line("t02", "after", 1.0, ramp(425_000.0, 442_516.0, 40)),
    ];
    Figure::time_series("84.2 MiB lower peak", "memory.used", &Unit::KiB, lines)
}

fn settle() -> Figure {
    let group = |condition: &str, values: [f64; 4]| Group {
        condition: condition.into(),
        values: values.to_vec(),
    };
    let groups = vec![
        group("before", [5.5, 5.9, 6.1, 5.65]),
        group("after", [4.5, 4.71, 4.9, 4.71]),
    ];
    Figure::runs("settle is faster", "settle", &Unit::Second, groups)
        .with_interval(-1.0825, (-1.48, -0.685))
}

/// The names of all elements and all text, in order; fails on what is no XML.
fn read_xml(svg: &str) -> (Vec<String>, String) {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(svg);
    let (mut elements, mut text) = (Vec::new(), String::new());
    let mut open = 0;
    loop {
        match reader.read_event().expect("well-formed XML") {
            Event::Start(tag) => {
                open += 1;
                elements.push(String::from_utf8(tag.name().as_ref().to_vec()).unwrap());
                tag.attributes()
                    .for_each(|attribute| drop(attribute.expect("an attribute")));
            }
            Event::Empty(tag) => {
                elements.push(String::from_utf8(tag.name().as_ref().to_vec()).unwrap());
                tag.attributes()
                    .for_each(|attribute| drop(attribute.expect("an attribute")));
            }
            Event::End(_) => open -= 1,
            Event::Text(part) => text.push_str(&part.decode().unwrap()),
            Event::GeneralRef(name) => {
                let name = name.decode().unwrap();
                text.push_str(
                    quick_xml::escape::resolve_xml_entity(&name).expect("an entity of XML"),
                );
            }
            Event::Eof => break,
            other => panic!("an SVG has no {other:?}"),
        }
    }
    assert_eq!(open, 0, "every element is closed");
    (elements, text)
}

fn count(elements: &[String], name: &str) -> usize {
    elements.iter().filter(|element| *element == name).count()
}

#[test]
fn an_svg_says_what_it_shows() {
    let svg = two_conditions().to_svg().unwrap();
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\""));
    let (elements, text) = read_xml(&svg);
    assert_eq!(elements[..3], ["svg", "title", "desc"]);
    assert!(text.contains("84.2 MiB lower peak"));
    assert!(
        text.contains("before: n = 1 trial, highest 516 MiB at 39.0 s in t01."),
        "{text}"
    );
    assert!(text.contains("time, s"));
    // The only marks stand on samples: a ring at each condition's highest.
    assert_eq!(count(&elements, "polygon"), 0);
    assert_eq!(count(&elements, "circle"), 2);
}

/// Ten samples of idle, `workload_s` of workload and the rest of 50 of settle; the idle phase holds the highest.
fn under_load(label: &str, condition: &str, level: f64, workload_s: f64) -> Line {
    use ktrial::series::{Phase, PhaseSpan};
    let mut line = line(label, condition, 1.0, ramp(level, level * 1.1, 50));
    line.time_s.iter_mut().for_each(|time| *time -= 10.0);
    line.values[3] = level * 1.3;
    let end = workload_s + 5.0;
    line.phases = [
        (Phase::Idle, -10.0, 0.0),
        (Phase::Workload, 0.0, workload_s),
        (Phase::Settle, workload_s, end),
    ]
    .map(|(phase, start_s, end_s)| PhaseSpan {
        phase,
        start_s,
        end_s,
    })
    .to_vec();
    line
}

#[test]
fn where_phases_are_known_the_workloads_peak_is_named() {
    let lines = vec![under_load("t01", "before", 400_000.0, 30.0)];
    let figure = Figure::time_series("", "memory.used", &Unit::KiB, lines);
    let text = figure.to_text(72);
    assert!(text.contains("n = 1 trial, peak 423 MiB (O)"), "{text}");
    let (_, svg) = read_xml(&figure.to_svg().unwrap());
    assert!(svg.contains("peak 423 MiB at 30.0 s in t01."), "{svg}");
    assert!(!svg.contains("508 MiB"), "the idle phase's highest: {svg}");
}

#[test]
fn workloads_that_end_apart_each_have_their_own_end() {
    let figure = |after_s| {
        let lines = vec![
            under_load("t01", "before", 500_000.0, 33.0),
            under_load("t02", "after", 400_000.0, after_s),
        ];
        Figure::time_series("", "memory.used", &Unit::KiB, lines)
    };
    let apart = figure(20.0).to_text(72);
    assert!(apart.contains("workload ends at 33.0 s (O)"), "{apart}");
    assert!(apart.contains("workload ends at 20.0 s (X)"), "{apart}");
    let phases = apart.lines().find(|line| line.contains("--workload--"));
    let phases = phases.unwrap_or_else(|| panic!("no phases in {apart}"));
    let (_, after) = phases.split_once("workload").unwrap();
    assert!(after.contains("-x  ") && after.contains(" o"), "{phases}");
    let svg = figure(20.0).to_svg().unwrap();
    assert!(svg.contains("Upright lines"), "{svg}");
    assert!(svg.contains("Phase workload: 0.0 to 20.0 s"), "{svg}");
    assert!(svg.contains("Phase settle: 33.0 to"), "{svg}");

    let together = figure(32.5).to_text(72);
    assert!(!together.contains("workload ends"), "{together}");
}

#[test]
fn long_names_of_conditions_stay_apart() {
    let names = ["log-memory-kdump-before-1", "log-memory-kdump-after-12"];
    let group = |name: &str| Group {
        condition: name.into(),
        values: vec![1.0, 2.0, 3.0, 4.0, 5.0],
    };
    let groups = names.map(group).to_vec();
    let text = Figure::runs("", "settle", &Unit::Second, groups).to_text(72);
    let label = |line: &str| line.split_once(" |").map(|(label, _)| label.to_owned());
    let labels: Vec<_> = text.lines().filter_map(label).collect();
    let labels: Vec<_> = labels.iter().filter(|l| l.contains("(n = 5)")).collect();
    assert_eq!(labels.len(), 2, "{text}");
    assert_ne!(labels[0], labels[1], "{text}");
}

#[test]
fn several_svgs_share_a_page() {
    for svg in [
        two_conditions().to_svg().unwrap(),
        settle().to_svg().unwrap(),
    ] {
        for forbidden in [" id=", "href", "url(", "<style", "<script", "<?xml"] {
            assert!(!svg.contains(forbidden), "{forbidden}");
        }
        assert_eq!(svg.matches("http").count(), 1, "only the name space");
    }
}

#[test]
fn names_from_outside_stay_text() {
    let hostile = "</text><script>alert(1)</script>&\"'\u{1b}[2J\0\u{202e}\u{ffff}";
    let lines = vec![line(hostile, hostile, 1.0, ramp(1.0, 2.0, 5))];
    let figure = Figure::time_series(hostile, hostile, &Unit::Count, lines).with_note(hostile);
    let (elements, text) = read_xml(&figure.to_svg().unwrap());
    assert_eq!(count(&elements, "script"), 0);
    assert!(
        text.contains("</text><script>alert(1)</script>&\"'?[2J???"),
        "{text}"
    );
    assert!(
        figure
            .to_text(72)
            .bytes()
            .all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte))
    );
}

#[test]
fn forty_trials_at_100_hz_stay_small_and_keep_the_peak() {
    let noise = |seed: u32| {
        let value = move |i: u32| f64::from((i * 7919 + seed * 104_729) % 9973);
        (0..6000).map(value).collect::<Vec<_>>()
    };
    let mut lines: Vec<Line> = (0..40)
        .map(|i| {
            line(
                &format!("t{i:02}"),
                ["before", "after"][i as usize % 2],
                100.0,
                noise(i),
            )
        })
        .collect();
    lines[7].values[4321] = 20_000.0;
    let svg = Figure::time_series("", "memory.used", &Unit::KiB, lines)
        .to_svg()
        .unwrap();
    assert!(svg.len() < 300 * 1024, "{} bytes", svg.len());
    assert!(svg.contains("highest 19.5 MiB at 43.2 s in t07"));
}

#[test]
fn coordinates_have_at_most_two_decimals() {
    for svg in [
        two_conditions().to_svg().unwrap(),
        settle().to_svg().unwrap(),
    ] {
        let (_, shapes) = svg.split_once("</desc>").unwrap();
        for attribute in shapes.split('"').skip(1).step_by(2) {
            for number in attribute
                .split([' ', ','])
                .filter(|word| word.parse::<f64>().is_ok())
            {
                let decimals = number
                    .split_once('.')
                    .map_or(0, |(_, decimals)| decimals.len());
                assert!(decimals <= 2, "{number} in {attribute}");
            }
        }
    }
}

#[test]
fn a_png_shows_both_conditions() {
    let file = two_conditions().to_png().unwrap();
    let mut reader = png::Decoder::new(&file[..]).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.width, 1600);
    let count = |color: [u8; 3]| pixels.chunks(3).filter(|pixel| *pixel == color).count();
    assert!(count([0, 114, 178]) > 1000, "blue");
    assert!(count([213, 94, 0]) > 1000, "vermillion");
}

#[test]
fn without_samples_the_figure_says_so() {
    let empty = Figure::time_series("", "memory.used", &Unit::KiB, Vec::new());
    let gaps = vec![line("t01", "before", 1.0, vec![f64::NAN; 9])];
    let gaps = Figure::time_series("", "memory.used", &Unit::KiB, gaps);
    let runs = Figure::runs("", "memory.used", &Unit::KiB, Vec::new());
    for figure in [empty, gaps, runs] {
        assert_eq!(figure.to_text(72), "no samples of memory.used\n");
        assert!(
            read_xml(&figure.to_svg().unwrap())
                .1
                .contains("no samples of memory.used")
        );
        assert!(figure.to_png().is_ok());
    }
}

#[test]
fn a_time_series_in_a_mail() {
    assert_eq!(
        two_conditions().to_text(72),
        include_str!("figures/time-series.txt")
    );
}

#[test]
fn runs_in_a_mail() {
    assert_eq!(settle().to_text(72), include_str!("figures/runs.txt"));
}
