use super::*;

fn limit(name: &str, per_second: f64, burst: u32) -> Limit<'_> {
    Limit {
        name,
        rate: Rate::new(per_second, burst).unwrap(),
    }
}

fn numbers(numbers: &[i64]) -> Value {
    Value::Array(numbers.iter().copied().map(Value::Int).collect())
}

#[test]
fn an_answer_is_read_by_position() {
    let limits = [limit("a", 1.0, 10), limit("b", 2.0, 1)];
    let gauge = |limit, remaining, next, reset| Gauge {
        limit,
        remaining,
        next: Duration::from_micros(next),
        reset: Duration::from_micros(reset),
    };
    let gauges = vec![gauge(10, 9, 0, 1_000_000), gauge(1, 0, 250_000, 250_000)];
    assert_eq!(
        decision(
            &numbers(&[2, 9, 0, 1_000_000, 0, 250_000, 250_000]),
            &limits
        ),
        Some(Decision {
            refused: Some(Refused {
                index: 1,
                wait: Duration::from_millis(250)
            }),
            gauges: gauges.clone()
        })
    );
    assert_eq!(
        decision(
            &numbers(&[0, 9, 0, 1_000_000, 0, 250_000, 250_000]),
            &limits
        ),
        Some(Decision {
            refused: None,
            gauges
        })
    );
}

#[test]
fn an_answer_of_another_shape_is_none() {
    let limits = [limit("a", 1.0, 10)];
    for answer in [
        Value::Nil,
        numbers(&[]),
        numbers(&[0, 1, 2]),
        numbers(&[2, 1, 2, 3]),
        numbers(&[0, -1, 2, 3]),
        Value::Array(vec![
            Value::Int(0),
            Value::Nil,
            Value::Int(0),
            Value::Int(0),
        ]),
    ] {
        assert_eq!(decision(&answer, &limits), None, "{answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_buckets_of_this_process_take_all_or_none() {
    let rates = LocalRates::new();
    let keys = ["a".to_owned(), "b".to_owned()];
    let limits = [limit("a", 1.0, 10), limit("b", 2.0, 1)];
    assert_eq!(rates.take(&keys, &limits).refused, None);
    let refused = rates.take(&keys, &limits);
    assert_eq!(
        (refused.refused, refused.gauges[0].remaining),
        (
            Some(Refused {
                index: 1,
                wait: Duration::from_millis(500)
            }),
            9
        )
    );
    rates.give_back(&keys);
    assert_eq!(rates.take(&keys, &limits).refused, None);
    tokio::time::advance(Duration::from_millis(500)).await;
    rates.sweep();
    assert_eq!(rates.lock().keys().collect::<Vec<_>>(), ["a"]);
    tokio::time::advance(Duration::from_millis(500)).await;
    rates.sweep();
    assert!(rates.lock().is_empty());
}
