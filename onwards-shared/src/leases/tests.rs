use super::*;

fn key(name: &str) -> Arc<str> {
    name.into()
}

#[test]
fn counts_by_key_and_forgets_what_ended() {
    let leases = Leases::default();
    assert!(leases.enter(&key("a"), 1, Known::Yes, Some(2)));
    assert!(leases.enter(&key("a"), 2, Known::No, Some(2)));
    assert!(!leases.enter(&key("a"), 3, Known::No, Some(2)));
    assert!(
        leases.enter(&key("a"), 3, Known::Yes, None),
        "the store has the last word"
    );
    assert!(leases.enter(&key("b"), 4, Known::Perhaps, Some(1)));
    assert_eq!((leases.count("a"), leases.total()), (3, 4));
    assert_eq!(leases.leave("a", 1), Some(Known::Yes));
    assert_eq!(leases.leave("a", 1), None);
    assert_eq!(leases.leave("b", 4), Some(Known::Perhaps));
    assert_eq!(leases.lock().len(), 1);
    assert_eq!((leases.count("b"), leases.total()), (0, 2));
}

#[test]
fn a_slot_counts_as_lost_only_after_the_store_had_it() {
    let leases = Leases::default();
    leases.enter(&key("a"), 1, Known::Yes, None);
    leases.enter(&key("a"), 2, Known::Perhaps, None);
    leases.enter(&key("a"), 3, Known::No, None);
    let mut first = leases.renewals();
    first[0].others.sort_unstable();
    assert_eq!(
        first,
        [Renewal {
            key: key("a"),
            known: vec![1],
            others: vec![2, 3]
        }]
    );
    assert_eq!(
        leases.leave("a", 3),
        Some(Known::Perhaps),
        "told meanwhile, so it must be released"
    );
    assert_eq!(
        (
            &leases.renewals()[0].known,
            leases.renewals()[0].others.len()
        ),
        (&vec![1], 1),
        "nobody answered, so nothing more is known"
    );
    leases.renewed(&first);
    let mut second = leases.renewals();
    second[0].known.sort_unstable();
    assert_eq!(
        (&second[0].known, &second[0].others),
        (&vec![1, 2], &vec![])
    );
}

#[test]
fn memory_follows_the_running_requests() {
    let leases = Leases::default();
    for number in 0..10_000 {
        leases.enter(&key(&number.to_string()), number, Known::Yes, None);
    }
    for number in 10..10_000 {
        leases.leave(&number.to_string(), number);
    }
    assert_eq!(leases.total(), 10);
    assert!(leases.lock().capacity() <= 160);
}
