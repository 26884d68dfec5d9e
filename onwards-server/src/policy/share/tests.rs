use super::*;
use crate::metrics::Metrics;

fn share(metrics: &Metrics, budget: Duration) -> Arc<Share> {
    let settings = ControllerSettings {
        latency_budget: budget,
        ..ControllerSettings::default()
    };
    let identity = Identity {
        preferred: "a".to_owned(),
        deadline: None,
    };
    Share::new(&settings, identity, metrics.pool("m", "default")).unwrap()
}

#[test]
fn a_retired_controller_does_not_show_itself_again() {
    let metrics = Metrics::new("onwards").unwrap();
    let old = share(&metrics, Duration::from_secs(10));
    let series = metrics.pool("m", "default");
    old.arrive();
    let observation = old.observe(Instant::now());
    assert_eq!(
        (series.aimd_active().get(), series.aimd_in_flight().get()),
        (1, 1)
    );
    old.retire();
    assert_eq!(
        (series.aimd_active().get(), series.aimd_in_flight().get()),
        (0, 0)
    );
    // A request that was read before the reload, and one that was under way.
    old.arrive();
    drop(old.observe(Instant::now()));
    drop(observation);
    assert_eq!(
        (series.aimd_active().get(), series.aimd_in_flight().get()),
        (0, 0)
    );
    assert_eq!(
        (
            series.aimd_window_samples().get(),
            series.aimd_unknown().get()
        ),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn time_counts_from_the_start_of_the_attempt() {
    let metrics = Metrics::new("onwards").unwrap();
    let budget = Duration::from_millis(100);
    let share = share(&metrics, budget);
    let begun = Instant::now();
    // Observed a little later than it began, as a busy process would.
    tokio::time::advance(Duration::from_millis(1)).await;
    let mut observation = share.observe(begun);
    tokio::time::advance(budget - Duration::from_millis(1)).await;
    observation.deadline();
    let gauge = share.controller.lock().gauge();
    assert_eq!((gauge.samples, gauge.breach_rate), (1, 1.0));
}
