use proptest::prelude::*;

use super::*;

fn s(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn defaults() -> Controller {
    Controller::new(ControllerSettings::default(), s(0)).unwrap()
}

/// Decides on two samples, one second apart.
fn quick() -> ControllerSettings {
    ControllerSettings {
        window_samples: 4,
        min_samples: 2,
        dwell: s(1),
        idle_recovery: None,
        ..ControllerSettings::default()
    }
}

fn report(controller: &mut Controller, outcome: Outcome, now: Duration) -> Option<Change> {
    let ticket = controller.begin();
    controller.observe(ticket, outcome, now)
}

fn decrease(share: f64) -> Option<Change> {
    Some(Change {
        direction: Direction::Decrease,
        share,
    })
}

fn increase(share: f64) -> Option<Change> {
    Some(Change {
        direction: Direction::Increase,
        share,
    })
}

/// Reports one attempt per letter (h, b, u) at each second and gives the shares after each.
#[track_caller]
fn check(settings: ControllerSettings, story: &str, expect: &[f64]) {
    let mut controller = Controller::new(settings, s(0)).unwrap();
    let mut shares = Vec::new();
    for (second, letter) in (1..).zip(story.chars()) {
        let outcome = match letter {
            'h' => Outcome::Healthy,
            'b' => Outcome::Breach,
            _ => Outcome::Unknown,
        };
        report(&mut controller, outcome, s(second));
        shares.push((controller.share() * 1e6).round() / 1e6);
    }
    assert_eq!(shares, expect);
}

#[test]
fn the_worked_number_of_the_module_comment() {
    let mut controller = defaults();
    for n in 0..18 {
        assert_eq!(report(&mut controller, Outcome::Healthy, s(10 + n)), None);
    }
    assert_eq!(
        report(&mut controller, Outcome::Breach, s(28)),
        None,
        "too few samples"
    );
    assert_eq!(
        report(&mut controller, Outcome::Breach, s(29)),
        None,
        "2 of 20 is not above 10%"
    );
    assert_eq!(
        report(&mut controller, Outcome::Breach, s(30)),
        decrease(0.8),
        "3 of 21"
    );
    assert_eq!(controller.gauge().samples, 0);
    for n in 0..19 {
        assert_eq!(report(&mut controller, Outcome::Healthy, s(31 + n)), None);
    }
    // The twentieth sample is the first to tell that the rate is low.
    assert_eq!(report(&mut controller, Outcome::Healthy, s(60)), None);
    assert_eq!(report(&mut controller, Outcome::Healthy, s(89)), None);
    assert_eq!(
        report(&mut controller, Outcome::Healthy, s(90)),
        increase(0.8 + 0.05)
    );
    assert_eq!(report(&mut controller, Outcome::Healthy, s(119)), None);
    assert_eq!(
        report(&mut controller, Outcome::Healthy, s(120)),
        increase(0.8 + 0.05 + 0.05)
    );
    assert_eq!(
        controller.gauge().samples,
        24,
        "an increase keeps the samples"
    );
}

#[test]
fn the_first_dwell_counts_from_creation() {
    let mut controller = defaults();
    for _ in 0..20 {
        assert_eq!(report(&mut controller, Outcome::Breach, s(29)), None);
    }
    assert_eq!(
        report(&mut controller, Outcome::Breach, s(30)),
        decrease(0.8)
    );
}

#[test]
fn decides_by_the_newest_samples_only() {
    // Two samples decide, four are kept. One breach in four is 25%: above the target.
    check(
        quick(),
        "hhhbhhhh",
        &[1.0, 1.0, 1.0, 0.8, 0.8, 0.8, 0.85, 0.9],
    );
    check(quick(), "uuub", &[1.0; 4]);
    check(quick(), "buub", &[1.0, 1.0, 1.0, 0.8]);
    check(quick(), "bubu", &[1.0, 1.0, 0.8, 0.8]);
    let tolerant = ControllerSettings {
        breach_rate_target: 0.25,
        recovery_breach_rate: 0.1,
        ..quick()
    };
    // A breach leaves the window after four samples; a rate in between holds.
    check(
        tolerant,
        "hhhbhhhbb",
        &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8],
    );
}

#[test]
fn holding_starts_the_time_of_health_anew() {
    let mut settings = ControllerSettings {
        breach_rate_target: 0.5,
        recovery_breach_rate: 0.25,
        ..quick()
    };
    settings.dwell = s(3);
    // bbb: down at the third second. Four healthy ones; then one in four: still low enough.
    check(
        settings.clone(),
        "bbbhhhhhh",
        &[1.0, 1.0, 0.8, 0.8, 0.8, 0.8, 0.8, 0.85, 0.85],
    );
    // Two of four hold at 7 and 8; health begins again at 9 and has lasted three seconds at 12.
    check(
        settings,
        "bbbhhhbbhhhhh",
        &[
            1.0, 1.0, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8,
        ],
    );
}

#[test]
fn falls_to_the_floor_and_climbs_to_one() {
    let mut controller = Controller::new(quick(), s(0)).unwrap();
    let mut now = 0;
    let mut falls = Vec::new();
    for _ in 0..100 {
        now += 1;
        falls.extend(report(&mut controller, Outcome::Breach, s(now)));
    }
    // 0.8 to the 13th is 0.055, the next is the floor, and below it there is nothing.
    assert_eq!(falls.len(), 14);
    assert!(
        falls
            .iter()
            .all(|change| change.direction == Direction::Decrease)
    );
    assert_eq!(controller.share(), 0.05);
    assert_eq!(
        controller.gauge().samples,
        4,
        "no adjustment, no forgetting"
    );
    let mut climbs = Vec::new();
    for _ in 0..100 {
        now += 1;
        climbs.extend(report(&mut controller, Outcome::Healthy, s(now)));
    }
    assert_eq!(climbs.len(), 19, "nineteen steps from 0.05");
    assert_eq!(controller.share(), 1.0);
}

#[test]
fn old_generations_are_inert() {
    let mut controller = Controller::new(quick(), s(0)).unwrap();
    let old: Vec<_> = (0..10).map(|_| controller.begin()).collect();
    report(&mut controller, Outcome::Breach, s(5));
    assert_eq!(
        report(&mut controller, Outcome::Breach, s(5)),
        decrease(0.8)
    );
    assert_eq!(controller.gauge().in_flight, 10);
    for ticket in old {
        assert_eq!(controller.observe(ticket, Outcome::Breach, s(60)), None);
    }
    let gauge = controller.gauge();
    assert_eq!((gauge.in_flight, gauge.samples, gauge.share), (0, 0, 0.8));
}

#[test]
fn an_increase_does_not_disown_attempts_under_way() {
    let mut controller = Controller::new(quick(), s(0)).unwrap();
    report(&mut controller, Outcome::Breach, s(1));
    report(&mut controller, Outcome::Breach, s(1));
    let under_way = controller.begin();
    report(&mut controller, Outcome::Healthy, s(3));
    report(&mut controller, Outcome::Healthy, s(4));
    assert_eq!(
        report(&mut controller, Outcome::Healthy, s(5)),
        increase(0.8 + 0.05)
    );
    controller.observe(under_way, Outcome::Healthy, s(6));
    assert_eq!(controller.gauge().samples, 4);
}

/// A share of 0.8 since second 40.
fn lowered(settings: ControllerSettings) -> Controller {
    let mut controller = Controller::new(settings, s(0)).unwrap();
    while controller.share() == 1.0 {
        report(&mut controller, Outcome::Breach, s(40));
    }
    controller
}

#[test]
fn idle_time_is_credited_in_whole_intervals() {
    let mut controller = lowered(ControllerSettings::default());
    assert_eq!(controller.arrive(s(339)), None);
    assert_eq!(controller.arrive(s(340)), increase(0.8 + 0.05));
    assert_eq!(controller.arrive(s(340)), None, "credited once");
    assert_eq!(
        controller.arrive(s(639)),
        None,
        "the rest of an interval is not lost"
    );
    assert_eq!(
        controller.arrive(s(40 + 900 + 299)),
        increase(0.8 + 0.05 + 0.05 * 2.0)
    );
    assert_eq!(controller.arrive(s(1240)), increase(1.0));
    assert_eq!(controller.arrive(s(1_000_000)), None, "no higher than 1");

    let mut long_ago = lowered(ControllerSettings::default());
    assert_eq!(long_ago.arrive(Duration::MAX), increase(1.0));
    let mut off = lowered(ControllerSettings {
        idle_recovery: None,
        ..ControllerSettings::default()
    });
    assert_eq!(off.arrive(Duration::MAX), None);
    assert_eq!(off.share(), 0.8);
}

/// Reports one breach and then healthy attempts, `n` in all.
fn one_in(n: u32, controller: &mut Controller, now: Duration) {
    for nth in 0..n {
        let outcome = if nth == 0 {
            Outcome::Breach
        } else {
            Outcome::Healthy
        };
        assert_eq!(report(controller, outcome, now), None);
    }
}

#[test]
fn enough_samples_to_judge_are_not_idle() {
    let mut few = lowered(ControllerSettings::default());
    one_in(19, &mut few, s(339));
    assert_eq!(
        few.arrive(s(340)),
        increase(0.8 + 0.05),
        "19 samples are too few"
    );
    assert_eq!(few.gauge().samples, 19, "but stay");
    let mut enough = lowered(ControllerSettings::default());
    one_in(20, &mut enough, s(339));
    assert_eq!(enough.arrive(s(340)), None, "20 samples hold at 5%");
    // As long as samples come, however slowly, time passes without credit.
    for n in 1..10 {
        assert_eq!(enough.arrive(s(339 + 299 * n)), None);
        report(&mut enough, Outcome::Healthy, s(339 + 299 * n));
    }
}

#[test]
fn silence_makes_samples_stale() {
    let mut controller = lowered(ControllerSettings::default());
    // Within the dwell nothing falls further, but the window fills.
    for _ in 0..100 {
        assert_eq!(report(&mut controller, Outcome::Breach, s(60)), None);
    }
    assert_eq!(controller.arrive(s(359)), None);
    assert_eq!(controller.gauge().samples, 100);
    assert_eq!(
        controller.arrive(s(360)),
        increase(0.8 + 0.05),
        "an interval after the last sample"
    );
    assert_eq!(controller.gauge().samples, 0);
    assert_eq!(controller.arrive(s(659)), None);
    assert_eq!(controller.arrive(s(660)), increase(0.8 + 0.05 + 0.05));

    let mut off = lowered(ControllerSettings {
        idle_recovery: None,
        ..ControllerSettings::default()
    });
    one_in(20, &mut off, s(60));
    assert_eq!(off.arrive(s(1_000_000)), None);
    assert_eq!(off.gauge().samples, 20);
}

#[test]
fn after_silence_health_has_to_be_shown_anew() {
    let mut controller = lowered(ControllerSettings::default());
    let healthy = |controller: &mut Controller, now| {
        (0..20).find_map(|_| report(controller, Outcome::Healthy, now))
    };
    assert_eq!(healthy(&mut controller, s(60)), None);
    // A report that reaches the lock late does not make the silence longer.
    assert_eq!(healthy(&mut controller, s(50)), None);
    assert_eq!(controller.arrive(s(359)), None);
    assert_eq!(controller.arrive(s(360)), increase(0.8 + 0.05));
    assert_eq!(healthy(&mut controller, s(400)), None);
    assert_eq!(healthy(&mut controller, s(429)), None);
    assert_eq!(
        healthy(&mut controller, s(430)),
        increase(0.8 + 0.05 + 0.05)
    );
}

#[test]
fn a_whole_pool_is_not_idle() {
    let mut controller = defaults();
    one_in(20, &mut controller, s(1));
    assert_eq!(controller.arrive(s(1_000_000)), None);
    assert_eq!(controller.gauge().samples, 20);
}

#[test]
fn steps_end_at_one_whatever_floats_sum_up_to() {
    let settings = ControllerSettings {
        share_floor: 0.7,
        share_decay: 0.1,
        share_step: 0.1,
        ..quick()
    };
    let mut controller = lowered(settings);
    let climbs = (41..90).filter_map(|n| report(&mut controller, Outcome::Healthy, s(n)));
    assert_eq!(climbs.count(), 3);
    assert_eq!(controller.share(), 1.0);
}

#[test]
fn parked_time_is_idle_time_and_old_attempts_are_disowned() {
    let mut controller = lowered(ControllerSettings::default());
    let under_way = controller.begin();
    controller.park();
    controller.park();
    assert!(!controller.gauge().active);
    assert_eq!(controller.arrive(s(500)), None);
    let while_parked = controller.begin();
    assert_eq!(controller.observe(under_way, Outcome::Breach, s(500)), None);
    assert_eq!(controller.gauge().samples, 0);
    assert_eq!(controller.resume(s(40 + 600)), increase(0.8 + 0.05 * 2.0));
    assert_eq!(controller.resume(s(9000)), None, "resumed once");
    assert_eq!(
        controller.observe(while_parked, Outcome::Breach, s(700)),
        None
    );
    let gauge = controller.gauge();
    assert_eq!((gauge.samples, gauge.in_flight, gauge.active), (0, 0, true));
}

#[test]
fn a_pool_that_was_judged_until_it_parked_is_credited_the_parked_time_only() {
    let busy = || {
        let mut controller = lowered(ControllerSettings::default());
        // One in twenty: hold, for an hour.
        for n in 0..100 {
            let outcome = if n % 20 == 0 {
                Outcome::Breach
            } else {
                Outcome::Healthy
            };
            assert_eq!(report(&mut controller, outcome, s(3600)), None);
        }
        controller.park();
        controller
    };
    assert_eq!(busy().resume(s(3600 + 299)), None);
    assert_eq!(busy().resume(s(3600 + 300)), increase(0.8 + 0.05));
    let mut resumed = busy();
    resumed.resume(s(3601));
    assert_eq!(resumed.gauge().samples, 0);
}

#[test]
fn times_out_of_order_do_no_harm() {
    let mut controller = lowered(quick());
    for now in [s(50), s(0), s(39), s(51)] {
        assert_eq!(controller.arrive(now), None);
        report(&mut controller, Outcome::Healthy, now);
    }
    assert_eq!(controller.share(), 0.8 + 0.05);
    controller.park();
    assert_eq!(controller.resume(s(0)), None);
}

#[test]
fn attempts_are_classified() {
    let settings = ControllerSettings::default();
    let (early, budget, late) = (s(1), s(10), Duration::from_nanos(10_000_000_001));
    let cases = [
        (Seen::FirstFrame(early), Outcome::Healthy),
        (Seen::FirstFrame(budget), Outcome::Healthy),
        (Seen::FirstFrame(late), Outcome::Breach),
        (Seen::Deadline(early), Outcome::Unknown),
        (Seen::Deadline(budget), Outcome::Breach),
        (Seen::Deadline(late), Outcome::Breach),
        (Seen::Status(429), Outcome::Breach),
        (Seen::Status(503), Outcome::Breach),
        (Seen::Status(529), Outcome::Breach),
        (Seen::Status(500), Outcome::Unknown),
        (Seen::Status(200), Outcome::Unknown),
        (Seen::Other, Outcome::Unknown),
    ];
    for (seen, expect) in cases {
        assert_eq!(settings.classify(seen), expect, "{seen:?}");
    }
}

#[test]
fn settings_out_of_range_are_named() {
    type Spoil = fn(&mut ControllerSettings);
    let cases: [(Spoil, &str); 16] = [
        (
            |s| s.latency_budget = Duration::ZERO,
            "latency budget must be above zero",
        ),
        (
            |s| s.breach_rate_target = 1.0,
            "breach rate target must be in [0, 1)",
        ),
        (
            |s| s.breach_rate_target = f64::NAN,
            "breach rate target must be in [0, 1)",
        ),
        (
            |s| s.recovery_breach_rate = 0.11,
            "recovery breach rate must be in [0, target]",
        ),
        (
            |s| s.recovery_breach_rate = -0.1,
            "recovery breach rate must be in [0, target]",
        ),
        (|s| s.min_samples = 1, "min samples must be at least 2"),
        (
            |s| s.window_samples = 19,
            "window samples must be from min samples to 100000",
        ),
        (
            |s| s.window_samples = 100_001,
            "window samples must be from min samples to 100000",
        ),
        (|s| s.share_step = 0.0, "share step must be in (0, 1]"),
        (|s| s.share_step = f64::NAN, "share step must be in (0, 1]"),
        (|s| s.share_decay = 1.0, "share decay must be in (0, 1)"),
        (|s| s.share_decay = 0.0, "share decay must be in (0, 1)"),
        (|s| s.share_floor = 0.0, "share floor must be in (0, 1]"),
        (|s| s.share_floor = 1.1, "share floor must be in (0, 1]"),
        (|s| s.dwell = Duration::ZERO, "dwell must be above zero"),
        (
            |s| s.idle_recovery = Some(Duration::ZERO),
            "idle recovery must be above zero, or off",
        ),
    ];
    for (spoil, expect) in cases {
        let mut settings = ControllerSettings::default();
        spoil(&mut settings);
        assert_eq!(
            Controller::new(settings, s(0)).unwrap_err().to_string(),
            expect
        );
    }
    let extremes = ControllerSettings {
        breach_rate_target: 0.0,
        recovery_breach_rate: 0.0,
        min_samples: 2,
        window_samples: 2,
        share_step: 1.0,
        share_floor: 1.0,
        ..ControllerSettings::default()
    };
    assert_eq!(
        Controller::new(extremes.clone(), s(0)).unwrap().settings(),
        &extremes
    );
}

/// What may happen to a controller; times are gaps in milliseconds.
#[derive(Debug, Clone)]
enum Event {
    Arrive,
    Begin,
    /// Reports the oldest attempt under way.
    Report(Outcome),
    Park,
    Resume,
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let outcome = prop_oneof![
        Just(Outcome::Healthy),
        Just(Outcome::Breach),
        Just(Outcome::Unknown)
    ];
    let event = prop_oneof![
        4 => Just(Event::Arrive),
        8 => Just(Event::Begin),
        8 => outcome.prop_map(Event::Report),
        1 => Just(Event::Park),
        1 => Just(Event::Resume),
    ];
    prop::collection::vec((prop_oneof![0_u64..500, 0_u64..8000], event), 1..300)
}

fn any_settings() -> impl Strategy<Value = ControllerSettings> {
    (
        2_usize..6,
        0_usize..6,
        0.01..1.0,
        0.1..0.95,
        0.01..1.0,
        100_u64..3000,
        0_u64..9000,
    )
        .prop_map(
            |(min_samples, more, share_step, share_decay, share_floor, dwell, idle)| {
                ControllerSettings {
                    min_samples,
                    window_samples: min_samples + more,
                    breach_rate_target: 0.4,
                    recovery_breach_rate: 0.2,
                    share_step,
                    share_decay,
                    share_floor,
                    dwell: Duration::from_millis(dwell),
                    idle_recovery: (idle > 1000).then(|| Duration::from_millis(idle)),
                    ..ControllerSettings::default()
                }
            },
        )
}

proptest! {
    #[test]
    fn the_share_stays_in_bounds_and_moves_once_per_dwell(settings in any_settings(), events in events()) {
        let mut controller = Controller::new(settings.clone(), s(0)).unwrap();
        let mut tickets = std::collections::VecDeque::new();
        let (mut now, mut moved) = (s(0), s(0));
        for (gap, event) in events {
            now += Duration::from_millis(gap);
            let before = controller.share();
            let (change, steered) = match event {
                Event::Begin => { tickets.push_back(controller.begin()); (None, false) }
                Event::Report(outcome) => match tickets.pop_front() {
                    Some(ticket) => (controller.observe(ticket, outcome, now), true),
                    None => (None, false),
                },
                Event::Arrive => (controller.arrive(now), false),
                Event::Park => { controller.park(); (None, false) }
                Event::Resume => (controller.resume(now), false),
            };
            let share = controller.share();
            prop_assert!((settings.share_floor..=1.0).contains(&share));
            prop_assert_eq!(change.map_or(before, |change| change.share), share);
            prop_assert_eq!(change.is_some(), share != before);
            prop_assert_eq!(controller.gauge().in_flight, tickets.len() as u64);
            prop_assert!(controller.gauge().samples <= settings.window_samples);
            if change.is_some() && steered {
                prop_assert!(now - moved >= settings.dwell);
                moved = now;
            }
        }
    }

    /// The rules read out slowly: the whole window counted anew at each report.
    #[test]
    fn agrees_with_the_rules_read_out(settings in any_settings(), reports in prop::collection::vec((0_u64..1500, any::<bool>()), 1..200)) {
        let settings = ControllerSettings { idle_recovery: None, ..settings };
        let mut controller = Controller::new(settings.clone(), s(0)).unwrap();
        let (mut share, mut now, mut last) = (1.0_f64, s(0), s(0));
        let mut healthy: Option<Duration> = None;
        let mut window: Vec<bool> = Vec::new();
        for (gap, breach) in reports {
            now += Duration::from_millis(gap);
            report(&mut controller, if breach { Outcome::Breach } else { Outcome::Healthy }, now);
            window.push(breach);
            let from = window.len().saturating_sub(settings.window_samples);
            let kept = &window[from..];
            if kept.len() >= settings.min_samples {
                let rate = kept.iter().filter(|breach| **breach).count() as f64 / kept.len() as f64;
                let dwelt = now - last >= settings.dwell;
                if rate > 0.4 {
                    healthy = None;
                    let lower = (share * settings.share_decay).max(settings.share_floor);
                    if dwelt && lower < share {
                        (share, last) = (lower, now);
                        window.clear();
                    }
                } else if rate > 0.2 {
                    healthy = None;
                } else {
                    let since = *healthy.get_or_insert(now);
                    if share < 1.0 && dwelt && now - since >= settings.dwell {
                        share = (share + settings.share_step).min(1.0);
                        (last, healthy) = (now, Some(now));
                    }
                }
            }
            prop_assert!((controller.share() - share).abs() < 1e-6);
        }
    }
}
