use super::*;

fn record(machine: &str, rows: &[(&str, Option<f64>)]) -> Record {
    let row = |(shape, instructions): &(&str, Option<f64>)| Row {
        shape: (*shape).to_owned(),
        unit: "event".to_owned(),
        units: 1,
        bytes: 200.0,
        instructions: *instructions,
        nanoseconds: Some(12.5),
    };
    Record {
        origin: Origin {
            commit: "abc1234".to_owned(),
            date: "2026-02-03".to_owned(),
            machine: machine.to_owned(),
            compiler: "rustc 1.95.0".to_owned(),
        },
        rows: rows.iter().map(row).collect(),
    }
}

#[test]
fn a_paper_is_read_back() {
    let written = record("A, 2 cores", &[("small", Some(1_000.5)), ("large", None)]);
    let paper = written.paper("onwards-sse");
    assert!(paper.ends_with(
        "| small | event | 200 | 1000.5 | 12.5 | 5.00 | 62 |\n| large | event | 200 | - | 12.5 | - | 62 |\n"
    ));
    assert_eq!(Record::read(&paper).unwrap(), written);
    assert!(Record::read("# nothing\n").is_err());
}

#[test]
fn more_instructions_than_the_record_are_a_problem() {
    let kept = record("A", &[("a", Some(100.0)), ("b", Some(100.0)), ("c", None)]);
    let measured = record(
        "A",
        &[
            ("a", Some(102.9)),
            ("b", Some(103.1)),
            ("c", Some(1.0)),
            ("d", None),
        ],
    );
    assert_eq!(
        compare("p", &measured, Some(&kept)),
        [
            "p b: 103.1 instructions per event, +3.1 % of 100.0",
            "p c: not in the record"
        ]
    );
    assert_eq!(compare("p", &measured, None).len(), 1);
    let elsewhere = record("B", &[("a", Some(900.0))]);
    assert_eq!(compare("p", &elsewhere, Some(&kept)), [""; 0]);
}

#[test]
fn the_change_stands_beside_the_figures() {
    let kept = record("A", &[("a", Some(100.0))]);
    let table = record("A", &[("a", Some(97.0)), ("b", Some(5.0))]).table(Some(&kept));
    let rows: Vec<_> = table.lines().skip(2).collect();
    assert_eq!(
        rows,
        [
            "| a | event | 200 | 97.0 | 12.5 | 0.48 | 62 | -3.0 % |",
            "| b | event | 200 | 5.0 | 12.5 | 0.03 | 62 | - |"
        ]
    );
}

#[test]
fn shapes_are_read() {
    let row = Row::parse_shape("small event 4 1000").unwrap();
    assert_eq!(
        (row.units, row.bytes, row.bytes_of_run()),
        (4, 250.0, 1_000)
    );
    assert!(Row::parse_shape("small event 4").is_err());
    assert!(Row::parse_shape("small event x 4").is_err());
}

#[test]
fn times_are_read() {
    let printed = "\
Timer precision: 20 ns
frames                    fastest       │ slowest       │ median        │ mean          │ samples │ iters
╰─ shapes                               │               │               │               │         │
   ╰─ shape                             │               │               │               │         │
      ├─ one_each         17.15 µs      │ 21.51 µs      │ 18.87 µs      │ 18.85 µs      │ 100     │ 100
      │                   3.906 GB/s    │ 3.113 GB/s    │ 3.548 GB/s    │ 3.553 GB/s    │         │
      ╰─ write            59.16 ns      │ 80.16 ns      │ 67.01 ns      │ 67.64 ns      │ 100     │ 3200
                          5.526 GB/s    │ 4.078 GB/s    │ 4.879 GB/s    │ 4.833 GB/s    │         │
";
    let mut times: Vec<_> = times::read(printed).into_iter().collect();
    times.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        times,
        [
            ("one_each".to_owned(), 17_150.0),
            ("write".to_owned(), 59.16)
        ]
    );
}
