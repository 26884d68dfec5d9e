use super::*;

/// After a change on purpose: `cargo run -p onwards-balance --example simulation -- --svg docs/share.svg`.
#[test]
fn the_picture_in_the_documents_is_what_this_draws() {
    let drawn = picture().svg().unwrap();
    assert!(
        drawn == include_str!("../../../docs/share.svg"),
        "docs/share.svg is not what the simulation draws"
    );
}

#[test]
fn the_plot_shows_both_panels() {
    let plot = picture().text().unwrap();
    let titles: Vec<_> = plot.lines().filter(|line| line.contains('(')).collect();
    assert_eq!(
        titles,
        [
            "Share of requests that try the preferred provider first: share (#), what the provider carries (-)",
            "Seconds to the first token, as the clients see it: median without the controller (.), p99 (+), median (#)",
        ]
    );
    let axis = |line: &&str| line.trim_start().starts_with('+');
    assert_eq!(plot.lines().filter(axis).count(), 2);
}
