use super::*;

use proptest::{collection::vec, prelude::*, sample::select};

/// Numbers one by one, as far as a list of them is proven: where the last proven comma leads to.
fn slowly(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = bytes.get(at..) {
        let end = rest.iter().position(|byte| *byte == b',');
        let Some((number, tail)) = end.and_then(|end| rest.split_at_checked(end)) else {
            break;
        };
        let digits = std::str::from_utf8(number).unwrap();
        let plain = !digits.contains(['e', 'E']) && !digits.contains(char::is_whitespace);
        if !plain || serde_json::from_str::<f64>(digits).is_err() {
            break;
        }
        let gap = 1 + usize::from(tail.get(1) == Some(&b' '));
        if !matches!(tail.get(gap), Some(b'-' | b'0'..=b'9')) {
            break;
        }
        at += number.len() + gap;
    }
    at
}

/// What is proven is true, and all but the end of it is proven.
#[track_caller]
fn check(list: &str) {
    let (fast, slow) = (proven_to(list.as_bytes(), 0), slowly(list.as_bytes()));
    assert!(fast <= slow, "{list}: {fast} but {slow}");
    assert!(
        fast == 0 || matches!(list.as_bytes()[..fast], [.., b',' | b' ']),
        "{list}: {fast}"
    );
    let rest = list.get(fast..).unwrap();
    assert!(
        rest.len() < 2 * STEP || fast == slow || longest(rest) >= STEP,
        "{list}: {fast} but {slow}"
    );
}

fn longest(list: &str) -> usize {
    list.split(',').map(str::len).max().unwrap_or_default()
}

#[test]
fn lists_of_numbers_are_passed_up_to_the_last_step() {
    let list = "-0.123456789,".repeat(100);
    assert_eq!(proven_to(list.as_bytes(), 0), 13 * (1280 / 13));
    let list = "0, 17, -3.5, ".repeat(100);
    assert_eq!(proven_to(list.as_bytes(), 3), 13 * 98 + 7);
    check(&"1.5,".repeat(64));
    check(&"1234567,".repeat(64));
}

#[test]
fn nothing_is_passed_without_a_whole_step() {
    assert_eq!(proven_to(b"1,2,3,4]", 0), 0);
    assert_eq!(proven_to(b"", 0), 0);
}

#[test]
fn a_mistake_stops_at_the_number_it_is_in_wherever_it_stands() {
    let mistakes = [
        "01", "-01", "00", "-", "--1", "1-", "1-2", ".5", "1.", "1..2", "1.2.3", "-.5", "1.-5", "",
        " ", "1 ", "  1", "1 2", "1e5", "1E-5", "+1", "1+", "a", "]", "1]", "[1", "\"1\"", "\n1",
        "1\t", "é", "null", "1.5.", "..", "-,", "1,,2", "0.0.0",
    ];
    for mistake in mistakes {
        for lead in 0..70 {
            let lead_list = format!("{}{}", "7".repeat(lead % 13 + 1), ",1".repeat(lead));
            let list = format!("{lead_list},{mistake},{}", "3.25,".repeat(40));
            let proven = proven_to(list.as_bytes(), 0);
            // In front of it or at its start, never behind.
            assert!(proven <= lead_list.len() + 2, "{list}: {proven}");
            assert!(proven <= slowly(list.as_bytes()), "{list}: {proven}");
        }
    }
}

#[test]
fn a_number_of_a_step_and_more_is_left_alone() {
    let list = format!("1,2,{},{}", "9".repeat(400), "1,".repeat(100));
    assert_eq!(proven_to(list.as_bytes(), 0), 4);
}

proptest! {
    #[test]
    fn what_is_proven_is_true(
        pieces in vec(select(vec![
            "0", "1", "-", ".", ",", ", ", "12", "-3.5", "0.25,", "-0.125, ", "1234567890.0987654321,", "0,", "7, ", "e", " ",
        ]), 0..120),
    ) {
        let list = pieces.concat();
        let (fast, slow) = (proven_to(list.as_bytes(), 0), slowly(list.as_bytes()));
        prop_assert!(fast <= slow, "{}: {} but {}", list, fast, slow);
    }

    #[test]
    fn good_lists_are_proven(numbers in vec("-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,12})?, ?", 0..60)) {
        check(&numbers.concat());
    }
}
