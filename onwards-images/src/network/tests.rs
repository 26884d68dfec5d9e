use super::*;

#[tokio::test]
async fn a_name_has_addresses_and_a_wrong_one_has_none() {
    let system = System::new();
    let found = system.resolve("localhost").await.unwrap();
    assert!(
        !found.is_empty() && found.iter().all(IpAddr::is_loopback),
        "{found:?}"
    );
    assert!(system.resolve("not a name").await.is_err());
    assert_eq!(system.lookups.available_permits(), LOOKUPS);
}

#[tokio::test]
async fn lookups_wait_for_their_turn() {
    let system = System::new();
    let all = system
        .lookups
        .clone()
        .acquire_many_owned(LOOKUPS as u32)
        .await
        .unwrap();
    let mut waiting = system.resolve("localhost");
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waiting.as_mut().poll(&mut task).is_pending());
    drop(all);
    assert!(waiting.await.is_ok());
}
