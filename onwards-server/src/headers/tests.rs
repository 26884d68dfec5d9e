use super::*;

fn client(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    headers
}

fn outbound(auth: Option<(&'static str, &str)>, trace: bool) -> Outbound {
    Outbound {
        headers: Vec::new(),
        guarded: false,
        host: HeaderValue::from_static("up.example"),
        auth: auth.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())),
        trace,
    }
}

/// What is sent, as a map.
fn sent(client: &HeaderMap, outbound: &Outbound, changes: Changes) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in upstream(client, outbound, changes) {
        headers.append(name.clone(), value.clone());
    }
    headers
}

fn names(headers: &HeaderMap) -> Vec<&str> {
    let mut names: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn what_must_stay_behind_stays_behind() {
    let all = client(&[
        ("connection", "x-internal, close"),
        ("x-internal", "secret"),
        ("keep-alive", "timeout=5"),
        ("proxy-authenticate", "a"),
        ("proxy-authorization", "a"),
        ("te", "trailers"),
        ("trailer", "x"),
        ("upgrade", "h2c"),
        ("transfer-encoding", "chunked"),
        ("content-length", "5"),
        ("host", "gateway"),
        ("expect", "100-continue"),
        ("authorization", "Bearer client"),
        ("x-api-key", "client"),
        ("api-key", "client"),
        ("cookie", "a=b"),
        ("origin", "a"),
        ("referer", "a"),
        ("sec-fetch-site", "a"),
        ("sec-fetch-mode", "a"),
        ("sec-fetch-dest", "a"),
        ("sec-fetch-user", "a"),
        ("sec-ch-ua", "a"),
        ("sec-ch-ua-platform", "a"),
        ("if-modified-since", "a"),
        ("if-none-match", "a"),
        ("if-match", "a"),
        ("if-unmodified-since", "a"),
        ("if-range", "a"),
        ("model-override", "a"),
        ("traceparent", "a"),
        ("tracestate", "a"),
        ("baggage", "a"),
        ("x-tag", "one"),
        ("x-tag", "two"),
    ]);
    let sent = sent(&all, &outbound(None, false), Changes::default());
    assert_eq!(names(&sent), ["host", "x-forwarded-proto", "x-tag"]);
    assert_eq!(sent["host"], "up.example");
    assert_eq!(sent["x-forwarded-proto"], "https");
    assert_eq!(
        sent.get_all("x-tag").iter().collect::<Vec<_>>(),
        ["one", "two"]
    );
}

#[test]
fn trace_context_goes_on_where_it_may() {
    let all = client(&[("traceparent", "a"), ("tracestate", "b"), ("baggage", "c")]);
    let sent = sent(&all, &outbound(None, true), Changes::default());
    assert_eq!(
        names(&sent),
        [
            "baggage",
            "host",
            "traceparent",
            "tracestate",
            "x-forwarded-proto"
        ]
    );
}

#[test]
fn the_providers_credentials_replace_a_clients_header_of_that_name() {
    let all = client(&[("x-custom-auth", "client"), ("content-encoding", "gzip")]);
    let unchanged = Changes::default();
    let outbound = outbound(Some(("x-custom-auth", "Token key")), false);
    let kept = sent(&all, &outbound, unchanged);
    assert_eq!(
        kept.get_all("x-custom-auth").iter().collect::<Vec<_>>(),
        ["Token key"]
    );
    assert_eq!(kept["content-encoding"], "gzip");
    let decoded = Changes {
        decoded: true,
        ..unchanged
    };
    assert!(!sent(&all, &outbound, decoded).contains_key("content-encoding"));
}

#[test]
fn what_is_read_here_comes_uncompressed_and_what_is_json_says_so() {
    let all = client(&[
        ("accept-encoding", "gzip"),
        ("content-type", "text/plain"),
        ("content-type", "text/html"),
    ]);
    let outbound = outbound(None, false);
    let read = Changes {
        read: true,
        ..Changes::default()
    };
    assert_eq!(
        names(&sent(&all, &outbound, read)),
        ["content-type", "host", "x-forwarded-proto"]
    );
    let json = Changes {
        json: true,
        ..Changes::default()
    };
    let json = sent(&all, &outbound, json);
    assert_eq!(
        json.get_all("content-type").iter().collect::<Vec<_>>(),
        ["application/json"]
    );
    assert_eq!(json["accept-encoding"], "gzip");
}

#[test]
fn the_order_is_the_clients() {
    let all = client(&[("x-b", "1"), ("a", "2"), ("x-b", "3"), ("accept", "4")]);
    let outbound = outbound(Some(("authorization", "Bearer key")), false);
    let sent: Vec<_> = upstream(&all, &outbound, Changes::default())
        .into_iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .collect();
    assert_eq!(
        sent,
        [
            ("host", "up.example"),
            ("x-b", "1"),
            ("x-b", "3"),
            ("a", "2"),
            ("accept", "4"),
            ("x-forwarded-proto", "https"),
            ("authorization", "Bearer key"),
        ]
    );
}

#[test]
fn a_span_of_ours_takes_the_place_of_the_clients() {
    let all = client(&[("traceparent", "a"), ("tracestate", "b"), ("accept", "c")]);
    for (continued, expected) in [
        (
            true,
            &[
                "accept",
                "host",
                "traceparent",
                "tracestate",
                "x-forwarded-proto",
            ][..],
        ),
        (
            false,
            &["accept", "host", "traceparent", "x-forwarded-proto"][..],
        ),
    ] {
        let parent = Parent {
            value: HeaderValue::from_static("00-ours"),
            continued,
        };
        let outbound = outbound(None, true);
        let mut headers = upstream(&all, &outbound, Changes::default());
        parent.tell(&mut headers);
        let mut told: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
        told.sort_unstable();
        assert_eq!(told, expected);
        let value = headers.iter().find(|(name, _)| *name == "traceparent");
        assert_eq!(value.unwrap().1, "00-ours");
    }
}

#[test]
fn an_answer_loses_its_hop_and_gains_what_is_configured() {
    let mut answer = client(&[
        ("connection", "x-mine"),
        ("x-mine", "1"),
        ("keep-alive", "timeout=5"),
        ("transfer-encoding", "chunked"),
        ("content-length", "3"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("x-provider", "theirs"),
        ("x-provider", "again"),
    ]);
    downstream(
        &mut answer,
        &[(
            HeaderName::from_static("x-provider"),
            HeaderValue::from_static("ours"),
        )],
    );
    assert_eq!(names(&answer), ["set-cookie", "x-provider"]);
    assert_eq!(
        answer.get_all("x-provider").iter().collect::<Vec<_>>(),
        ["ours"]
    );
    assert_eq!(answer.get_all("set-cookie").iter().count(), 2);
}

#[test]
fn which_account_and_which_trials_are_the_operators() {
    let client = client(&[
        ("anthropic-version", "2099-01-01"),
        ("anthropic-beta", "theirs"),
        ("openai-organization", "theirs"),
        ("openai-project", "theirs"),
        ("x-custom", "1"),
    ]);
    let own = [
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "ours"),
    ]
    .map(|(name, value)| {
        (
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )
    });
    let mut outbound = outbound(None, false);
    let project = (
        HeaderName::from_static("openai-project"),
        HeaderValue::from_static("ours"),
    );
    outbound.headers.push(project);
    let sent = native(&client, &own, &outbound, Changes::default());
    let mut sent: Vec<String> = sent
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    sent.sort_unstable();
    assert_eq!(
        sent,
        [
            "anthropic-beta: ours",
            "anthropic-version: 2099-01-01",
            "host: up.example",
            "openai-project: ours",
            "x-custom: 1",
            "x-forwarded-proto: https",
        ]
    );
}
