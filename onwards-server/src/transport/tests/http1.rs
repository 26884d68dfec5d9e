//! Connections that are kept, closed, closed too early, and given up.

use super::*;

/// Keeps `count` connections of the site; the provider's ends.
async fn warm(provider: &Provider, site: &Arc<Site>, count: usize) -> Vec<Peer<TcpStream>> {
    let mut calls = Vec::new();
    let mut peers = Vec::new();
    for i in 0..count {
        calls.push(send(site, format!("warm {i}")));
        let mut peer = provider.accept().await;
        peer.request().await;
        peers.push(peer);
    }
    for peer in &mut peers {
        peer.say(&ok("warm")).await;
    }
    for call in calls {
        assert_eq!(read(call).await, (200, "warm".to_owned()));
    }
    settled(site, count).await;
    peers
}

/// Returns once as many connections are idle: a connection may be busy with itself a moment longer than its body.
async fn settled(site: &Site, count: usize) {
    let settling = async {
        while site.idle() != count {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let settled = tokio::time::timeout(PATIENT, settling).await;
    assert!(settled.is_ok(), "{} idle, not {count}", site.idle());
}

#[tokio::test]
async fn a_kept_connection_carries_the_next_call() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let mut peer = warm(&provider, &site, 1).await.remove(0);
    for i in 0..5 {
        let call = send(&site, format!("{i}"));
        assert_eq!(peer.serve(&ok("again")).await, format!("{i}"));
        assert_eq!(read(call).await, (200, "again".to_owned()));
        settled(&site, 1).await;
    }
    provider.has_no_more().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_connections_closed_at_once_cost_nothing() {
    for _ in 0..20 {
        let provider = Provider::start().await;
        let site = provider.plain(KEEPING);
        drop(warm(&provider, &site, 16).await);
        let calls: Vec<_> = (0..8).map(|i| send(&site, format!("{i}"))).collect();
        let mut bodies = Vec::new();
        for _ in 0..8 {
            bodies.push(provider.accept().await.serve(&ok("fresh")).await);
        }
        for call in calls {
            assert_eq!(read(call).await, (200, "fresh".to_owned()));
        }
        bodies.sort();
        assert_eq!(bodies, ["0", "1", "2", "3", "4", "5", "6", "7"]);
        provider.has_no_more().await;
    }
}

#[tokio::test]
async fn a_call_is_replayed_on_a_new_connection_never_on_an_old_one() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let mut peers = warm(&provider, &site, 2).await;
    let call = send(&site, "once");
    let mut served = Peer::new(tokio::select! {
        _ = peers[1].stream.readable() => {
            drop(peers.remove(1)); // unread bytes: a reset
            provider.tcp().await
        }
        _ = peers[0].stream.readable() => panic!("the older connection was taken first"),
    });
    assert_eq!(served.serve(&ok("fresh")).await, "once");
    assert_eq!(read(call).await, (200, "fresh".to_owned()));
    let nothing = peers[0].stream.try_read(&mut [0; 1]);
    assert_eq!(nothing.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_replay_that_fails_is_the_end() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let mut peers = warm(&provider, &site, 3).await;
    let call = send(&site, "twice");
    peers[2].request().await;
    drop(peers.remove(2));
    let mut second = provider.accept().await;
    assert_eq!(second.request().await, "twice");
    drop(second);
    assert_eq!(failure(call).await, "broken");
    provider.has_no_more().await;
}

#[tokio::test]
async fn nothing_is_replayed_that_failed_on_a_new_connection() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let call = send(&site, "once");
    assert_eq!(provider.accept().await.request().await, "once");
    assert_eq!(failure(call).await, "broken");
    provider.has_no_more().await;
}

#[tokio::test]
async fn nothing_is_replayed_once_a_byte_has_come() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let mut peer = warm(&provider, &site, 1).await.remove(0);
    let call = send(&site, "once");
    peer.serve("H").await;
    drop(peer);
    assert_eq!(failure(call).await, "broken");
    provider.has_no_more().await;
}

#[tokio::test]
async fn words_out_of_turn_end_an_idle_connection() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let mut peer = warm(&provider, &site, 1).await.remove(0);
    peer.say("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n")
        .await;
    peer.gone().await;
    let call = send(&site, "next");
    assert_eq!(provider.accept().await.serve(&ok("fresh")).await, "next");
    assert_eq!(read(call).await, (200, "fresh".to_owned()));
}

#[tokio::test]
async fn a_call_given_up_is_gone_at_once() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    // Before a head, inside a body, while a request nobody reads is sent.
    let waiting = send(&site, "waiting");
    let mut peer = provider.accept().await;
    peer.request().await;
    waiting.abort();
    peer.gone().await;

    let reading = send(&site, "reading");
    let mut peer = provider.accept().await;
    peer.serve("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart")
        .await;
    drop(reading.await.unwrap().unwrap());
    peer.gone().await;

    let sending = send(&site, vec![b'x'; 64 << 20]);
    let mut peer = provider.accept().await;
    peer.head().await;
    sending.abort();
    peer.gone().await;
    assert!(peer.unread.len() < 64 << 20);
    provider.has_no_more().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_request_has_been_sent_arrives() {
    let early = "HTTP/1.1 413 Too Large\r\ncontent-length: 8\r\nconnection: close\r\n\r\ntoo much";
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    for used in [false, true] {
        for _ in 0..50 {
            let kept = if used {
                warm(&provider, &site, 1).await.pop()
            } else {
                None
            };
            let call = send(&site, vec![b'x'; 8 << 20]);
            let mut peer = match kept {
                Some(kept) => kept,
                None => provider.accept().await,
            };
            peer.head().await;
            peer.say(early).await;
            drop(peer); // what was not read becomes a reset
            assert_eq!(read(call).await, (413, "too much".to_owned()));
        }
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_connection_still_busy_with_its_request_is_not_kept() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let call = send(&site, vec![b'x'; 64 << 20]);
    let mut peer = provider.accept().await;
    peer.head().await;
    peer.say(&ok("early")).await;
    assert_eq!(read(call).await, (200, "early".to_owned()));
    let next = send(&site, "next");
    let mut other = provider.accept().await;
    assert_eq!(other.serve(&ok("fresh")).await, "next");
    assert_eq!(read(next).await, (200, "fresh".to_owned()));
    settled(&site, 1).await;
    // Nobody waits long for a peer that does not read: the site is held by the test alone again.
    let held = async {
        while Arc::strong_count(&site) > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    soon(held).await;
    peer.gone().await;
    settled(&site, 1).await;
}

#[tokio::test]
async fn answers_that_end_their_connection_do() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok",
    ] {
        let call = send(&site, "x");
        let mut peer = provider.accept().await;
        peer.serve(answer).await;
        assert_eq!(read(call).await, (200, "ok".to_owned()), "{answer}");
        peer.gone().await;
    }
    // An end that only the end of the connection tells.
    for answer in ["HTTP/1.0 200 OK\r\n\r\nok", "HTTP/1.1 200 OK\r\n\r\nok"] {
        let call = send(&site, "x");
        provider.accept().await.serve(answer).await;
        assert_eq!(read(call).await, (200, "ok".to_owned()), "{answer}");
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_body_cut_off_is_an_error() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
    ] {
        let call = send(&site, "x");
        provider.accept().await.serve(answer).await;
        let answer = call.await.unwrap().unwrap();
        assert!(answer.into_body().collect().await.is_err());
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn a_long_body_cut_off_is_an_error_behind_what_came() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    for (framing, reset) in [
        ("", true),
        ("content-length: 999999\r\n", true),
        ("content-length: 999999\r\n", false),
    ] {
        let call = send(&site, "x");
        let mut peer = provider.accept().await;
        peer.serve(&format!("HTTP/1.1 200 OK\r\n{framing}\r\n"))
            .await;
        let answer = soon(call).await.unwrap().unwrap();
        peer.say(&"y".repeat(200_000)).await;
        if reset {
            peer.stream.set_zero_linger().unwrap();
        }
        drop(peer); // its end lies behind it in our socket
        let mut body = answer.into_body();
        let mut length = 0;
        let end = loop {
            match soon(body.frame()).await {
                Some(Ok(frame)) => length += frame.into_data().unwrap().len(),
                Some(Err(_)) => break "broken",
                None => break "clean",
            }
        };
        assert_eq!(end, "broken", "{framing}{reset}");
        // A reset takes what had not left the provider along.
        let arrived = if reset {
            1..=200_000
        } else {
            200_000..=200_000
        };
        assert!(arrived.contains(&length), "{framing}{reset}: {length}");
    }
    provider.has_no_more().await;
}

#[tokio::test]
async fn interim_answers_are_passed_over_and_a_switch_of_protocols_is_none() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let call = send(&site, "x");
    let mut peer = provider.accept().await;
    peer.serve("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")
        .await;
    peer.say(&ok("final")).await;
    assert_eq!(read(call).await, (200, "final".to_owned()));
    settled(&site, 1).await;
    let call = send(&site, "x");
    peer.serve("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n")
        .await;
    assert_eq!(failure(call).await, "broken");
    peer.gone().await;
    provider.has_no_more().await;
}

#[tokio::test]
async fn idle_connections_are_closed_in_time_and_number() {
    let keeping = |max_idle_per_host, millis| HttpPool {
        max_idle_per_host,
        idle_timeout: Duration::from_millis(millis),
    };
    let provider = Provider::start().await;

    let site = provider.plain(keeping(2, 50));
    for mut peer in warm(&provider, &site, 2).await {
        peer.gone().await;
    }
    settled(&site, 0).await;
    // Again, after all that was idle has gone.
    let mut peer = warm(&provider, &site, 1).await.remove(0);
    peer.gone().await;

    let site = provider.plain(keeping(0, 90_000));
    let call = send(&site, "x");
    let mut peer = provider.accept().await;
    peer.serve(&ok("not kept")).await;
    assert_eq!(read(call).await, (200, "not kept".to_owned()));
    peer.gone().await;

    let site = provider.plain(keeping(1, 90_000));
    let calls = [send(&site, "x"), send(&site, "x")];
    let mut peers = [provider.accept().await, provider.accept().await];
    for peer in &mut peers {
        peer.serve(&ok("one of two")).await;
    }
    for call in calls {
        assert_eq!(read(call).await, (200, "one of two".to_owned()));
    }
    let [one, other] = &mut peers;
    tokio::select! { () = one.gone() => {}, () = other.gone() => {} }
    settled(&site, 1).await;
    provider.has_no_more().await;
}

#[tokio::test]
async fn connections_that_cannot_be_made_are_said_so_in_time() {
    let gone = Provider::start().await.plain(KEEPING);
    assert_eq!(failure(send(&gone, "x")).await, "connect");
    let silent = silent().await;
    let conditions = Conditions {
        keeping: KEEPING,
        proxy: None,
    };
    for scheme in [Scheme::Http, Scheme::Https] {
        let site = Pool::new().site(&endpoint(scheme, silent.address), conditions);
        let call = site.send(post("x"), Duration::from_millis(50));
        assert_eq!(failure(tokio::spawn(call)).await, "connect");
    }
}

#[tokio::test]
async fn ipv6_is_an_address_like_another() {
    let provider = Provider::at("[::1]:0").await;
    let site = provider.plain(KEEPING);
    let call = send(&site, "six");
    assert_eq!(provider.accept().await.serve(&ok("6")).await, "six");
    assert_eq!(read(call).await, (200, "6".to_owned()));
}

#[tokio::test]
async fn a_request_leaves_as_it_is() {
    let provider = Provider::start().await;
    let site = provider.plain(KEEPING);
    let call = send(&site, "x");
    let mut peer = provider.accept().await;
    assert_eq!(
        peer.head().await,
        "POST /a%20b?c HTTP/1.1\r\nhost: provider.example\r\ncontent-length: 1\r\n\r\n"
    );
    drop(call);
}

#[tokio::test]
async fn equal_addresses_share_connections() {
    let pool = Pool::new();
    let conditions = |keeping| Conditions {
        keeping,
        proxy: None,
    };
    let address = "127.0.0.1:1".parse().unwrap();
    let here = endpoint(Scheme::Http, address);
    let elsewhere = HttpEndpoint {
        base_path: "/v2".to_owned(),
        ..here.clone()
    };
    let one = pool.site(&here, conditions(KEEPING));
    assert!(Arc::ptr_eq(
        &one,
        &pool.site(&elsewhere, conditions(KEEPING))
    ));
    let other = HttpPool {
        max_idle_per_host: 1,
        ..KEEPING
    };
    assert!(!Arc::ptr_eq(&one, &pool.site(&here, conditions(other))));
}
