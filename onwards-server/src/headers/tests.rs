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
        host: HeaderValue::from_static("up.example"),
        auth: auth.map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())),
        trace,
    }
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
    let sent = upstream(&all, &outbound(None, false), 7, false);
    assert_eq!(
        names(&sent),
        ["content-length", "host", "x-forwarded-proto", "x-tag"]
    );
    assert_eq!(sent["host"], "up.example");
    assert_eq!(sent["content-length"], "7");
    assert_eq!(sent["x-forwarded-proto"], "https");
    assert_eq!(
        sent.get_all("x-tag").iter().collect::<Vec<_>>(),
        ["one", "two"]
    );
}

#[test]
fn trace_context_goes_on_where_it_may() {
    let all = client(&[("traceparent", "a"), ("tracestate", "b"), ("baggage", "c")]);
    let sent = upstream(&all, &outbound(None, true), 0, false);
    assert_eq!(
        names(&sent),
        [
            "baggage",
            "content-length",
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
    let sent = upstream(
        &all,
        &outbound(Some(("x-custom-auth", "Token key")), false),
        0,
        false,
    );
    assert_eq!(
        sent.get_all("x-custom-auth").iter().collect::<Vec<_>>(),
        ["Token key"]
    );
    assert_eq!(sent["content-encoding"], "gzip");
    let decoded = upstream(&all, &outbound(None, false), 0, true);
    assert!(!decoded.contains_key("content-encoding"));
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
