use super::*;

fn addresses(list: &[&str]) -> Vec<SocketAddr> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn families_take_turns() {
    let check = |found: &[&str], expect: &[&str]| {
        assert_eq!(alternating(addresses(found).into_iter()), addresses(expect));
    };
    check(&[], &[]);
    check(&["1.1.1.1:1", "1.1.1.2:1"], &["1.1.1.1:1", "1.1.1.2:1"]);
    check(
        &["[1::1]:1", "[1::2]:1", "[1::3]:1", "1.1.1.1:1"],
        &["[1::1]:1", "1.1.1.1:1", "[1::2]:1", "[1::3]:1"],
    );
    check(
        &["1.1.1.1:1", "[1::1]:1", "[1::2]:1"],
        &["1.1.1.1:1", "[1::1]:1", "[1::2]:1"],
    );
}

#[tokio::test]
async fn the_first_that_answers_is_taken() {
    let live = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = live.local_addr().unwrap();
    let dead = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = dead.local_addr().unwrap();
    drop(dead);
    let silent = crate::transport::tests::silent().await;
    for order in [
        vec![there],
        vec![there, silent.address],
        vec![nowhere, there],
        vec![silent.address, there],
        vec![silent.address, nowhere, there],
    ] {
        let made = race(order.clone()).await.unwrap();
        assert_eq!(made.peer_addr().unwrap(), there, "{order:?}");
    }
    for order in [vec![], vec![nowhere], vec![nowhere, nowhere]] {
        race(order).await.unwrap_err();
    }
}
