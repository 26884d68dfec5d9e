//! The list of models, as Anthropic's clients read it.

use crate::text::Str;
use crate::write::object;

/// The body of `GET /v1/models`: all names on one page, each as old as the list.
pub(crate) fn write_models(names: &[&str], created: u64, out: &mut String) {
    let created = rfc3339(created);
    object(out, |o| {
        o.array("data", |a| {
            for name in names {
                a.object(|o| {
                    o.raw("type", "\"model\"");
                    o.text("id", name);
                    o.text("display_name", name);
                    o.text("created_at", &created);
                });
            }
        });
        for (key, name) in [("first_id", names.first()), ("last_id", names.last())] {
            match name {
                Some(name) => o.str(key, &Str::plain(name)),
                None => o.null(key),
            }
        }
        o.bool("has_more", false);
    });
}

/// Seconds since 1970 as a date in UTC.
fn rfc3339(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The day so many days after 1970-01-01 in the Gregorian calendar, reckoned in years that begin in March: their leap day is the
/// last one, so that months have places that do not depend on the year.
fn civil(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 146_097;
    let since = days.saturating_add(719_468);
    let (cycle, day) = (since / CYCLE, since % CYCLE);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{rfc3339, write_models};

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
        ] {
            assert_eq!(rfc3339(seconds), date);
        }
    }

    #[test]
    fn the_list_is_one_page() {
        for (names, expected) in [
            (
                &["a\"b", "c"][..],
                r#"{"data":[{"type":"model","id":"a\"b","display_name":"a\"b","created_at":"1970-01-01T00:00:09Z"},{"type":"model","id":"c","display_name":"c","created_at":"1970-01-01T00:00:09Z"}],"first_id":"a\"b","last_id":"c","has_more":false}"#,
            ),
            (
                &[],
                r#"{"data":[],"first_id":null,"last_id":null,"has_more":false}"#,
            ),
        ] {
            let mut out = String::new();
            write_models(names, 9, &mut out);
            assert_eq!(out, expected);
        }
    }
}
