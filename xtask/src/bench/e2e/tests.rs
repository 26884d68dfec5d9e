use super::*;

fn told(lines: &[&str]) -> Vec<Told> {
    let told = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    told.collect()
}

fn figures(machine: &str, counts: &[(&str, Option<f64>)]) -> Figures {
    let row = |(scenario, instructions): &(&str, Option<f64>)| Row {
        instructions: *instructions,
        ..Row::new(scenario, "request")
    };
    Figures {
        origin: Origin {
            commit: "abc1234".to_owned(),
            date: "2026-02-03".to_owned(),
            machine: machine.to_owned(),
            compiler: "rustc 1.95.0".to_owned(),
        },
        rows: counts.iter().map(row).collect(),
    }
}

const COUNTED: &str = r#"{"scenario":"held_many","unit":"request","instructions":81000.4}"#;
const TIMED: &str = r#"{"scenario":"held_many","unit":"request","cpu_us":[52.0,50.5,61.0],"per_second":[100.0,300.0,200.0],"p50_us":40.2,"p99_us":90.6,"held":9500,"held_bytes":27092.6}"#;

#[test]
fn what_the_rig_tells_of_a_scenario_is_one_row() {
    let first = r#"{"scenario":"held_10","unit":"request","cpu_us":[50.0,51.5,60.0],"held":10,"held_bytes":23000.0}"#;
    let rows = rows(told(&[COUNTED, first, TIMED]));
    let mut expected = Row {
        instructions: Some(81_000.4),
        cpu: Some(52.0),
        least: Some(50.5),
        per_second: Some(200.0),
        p50: Some(40.2),
        p99: Some(90.6),
        held: Some((9500, 27_092.6)),
        rounds: vec![52.0, 50.5, 61.0],
        ..Row::new("held_many", "request")
    };
    assert_eq!(rows.first(), Some(&expected));
    let names: Vec<&str> = rows.iter().map(|row| row.scenario.as_str()).collect();
    assert_eq!(names, ["held_many", "held_10"]);

    let mut written = figures("A, 2 cores", &[]);
    written.rows = rows;
    let paper = written.paper();
    let tables = paper.split_once("\n\n| scenario").unwrap().1;
    assert_eq!(
        tables,
        " | per | instructions | CPU µs | least CPU µs | per second | p50 µs | p99 µs |
|---|---|---:|---:|---:|---:|---:|---:|
| held_many | request | 81000 | 52.00 | 50.50 | 200 | 40 | 91 |
| held_10 | request | - | 51.50 | 50.00 | - | - | - |

| of | compared | instructions more | | CPU µs more |
|---|---|---:|---:|---:|
| open streams | held_10 to held_many | - | - | 1.00 |

Memory of an open stream: 27.1 KB, of 9500 held at a time.
"
    );

    let read = Figures::read(&paper).unwrap();
    assert_eq!(read.origin, written.origin);
    expected = Row {
        instructions: Some(81_000.0),
        p50: Some(40.0),
        p99: Some(91.0),
        held: None,
        rounds: Vec::new(),
        ..expected
    };
    assert_eq!((read.rows.len(), read.rows.first()), (2, Some(&expected)));
    assert!(Figures::read("# nothing\n").is_err());
    assert!(Figures::read(&paper.replace("| 200 |", "| many |")).is_err());
}

#[test]
fn more_instructions_than_the_record_are_a_problem() {
    let kept = [("a", Some(1_000.0)), ("b", Some(1_000.0)), ("c", None)];
    let kept = figures("A", &kept);
    let now = [
        ("a", Some(1_019.0)),
        ("b", Some(1_021.0)),
        ("c", Some(1.0)),
        ("d", None),
    ];
    assert_eq!(
        above(&figures("A", &now), Some(&kept)),
        [
            "e2e b: 1021.0 instructions per request, +2.1 % of 1000.0",
            "e2e c: not in the record"
        ]
    );
    assert_eq!(above(&figures("B", &now), Some(&kept)), [""; 0]);
    assert_eq!(
        above(&figures("A", &now), None),
        ["e2e: no record; cargo xtask bench e2e --record writes it"]
    );
}

#[test]
fn a_cost_that_grows_with_a_number_is_a_problem() {
    let counts = [
        ("keys_10", Some(1_000.0)),
        ("keys_10000", Some(1_049.0)),
        ("aliases_10", Some(1_000.0)),
        ("aliases_10000", Some(1_051.0)),
        ("held_10", None),
        ("held_many", Some(5_000.0)),
        ("unary_bare", Some(1_000.0)),
        ("unary_full", Some(2_000.0)),
    ];
    assert_eq!(
        steep(&figures("B", &counts)),
        [
            "a request takes 1051 instructions in aliases_10000, +5.1 % of 1000 in aliases_10: its cost grows with the number of aliases"
        ]
    );
}

#[test]
fn a_translated_event_that_costs_over_three_cleaned_ones_is_a_problem() {
    let counts = [
        ("burst1000_strict", Some(1_000.0)),
        ("burst1000_anthropic_chat", Some(3_000.0)),
        ("burst1000_bedrock_chat", Some(3_004.9)),
        ("burst1000_gemini_chat", None),
    ];
    assert_eq!(
        steep(&figures("B", &counts)),
        [
            "an event takes 3005 instructions in burst1000_bedrock_chat, 3.00 times the 1000 in burst1000_strict: 3 times are allowed"
        ]
    );
}

#[test]
fn the_change_stands_beside_the_figures() {
    let kept = figures("A", &[("unary_bare", Some(1_000.0))]);
    let now = figures(
        "A",
        &[("unary_bare", Some(970.0)), ("unary_full", Some(1_067.0))],
    );
    let tables = now.tables(Some(&kept));
    let rows: Vec<_> = tables
        .lines()
        .filter(|line| line.contains("unary"))
        .collect();
    assert_eq!(
        rows,
        [
            "| unary_bare | request | 970 | - | - | - | - | - | -3.0 % |",
            "| unary_full | request | 1067 | - | - | - | - | - | - |",
            "| keys, rates, limits, metrics page and log | unary_bare to unary_full | 97 | +10.0 % | - |"
        ]
    );
}
