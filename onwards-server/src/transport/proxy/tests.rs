use std::borrow::Cow;

use super::*;

/// What stands in front of `url` by this configuration, in short.
fn check(proxy: &str, url: &str, expect: &str) {
    let text = format!(r#"{{"proxy": {proxy}, "targets": {{"m": {{"url": "{url}"}}}}}}"#);
    let gateway = onwards_config::read(text.as_bytes(), &()).unwrap().gateway;
    let onwards_config::Endpoint::Http(endpoint) =
        &gateway.targets["m"].default.providers[0].endpoint
    else {
        panic!("{url}")
    };
    let hop = Hop::towards(endpoint, &gateway.proxy.unwrap());
    let found = hop.map_or(Cow::from("direct"), |hop| format!("{hop:?}").into());
    assert_eq!(found, expect, "{proxy} {url}");
}

#[test]
fn the_file_says_which_proxy() {
    let http = r#"{"http": "http://proxy.example:3128"}"#;
    let both = r#"{"http": "http://a", "https": "https://user:pass@b", "no_proxy": "localhost, .inside.example,exact.example, 10.0.0.0/8,::1"}"#;
    for (proxy, url, expect) in [
        (http, "http://x.example", "Plain proxy.example:3128 open"),
        (http, "https://x.example", "direct"),
        (both, "http://x.example", "Plain a:80 open"),
        (both, "https://x.example", "Tls b:443 with credentials"),
        (both, "http://localhost:80", "direct"),
        (both, "http://a.inside.example", "direct"),
        (both, "http://notinside.example", "Plain a:80 open"),
        (both, "http://exact.example", "direct"),
        (both, "http://10.1.2.3:8000", "direct"),
        (both, "http://11.1.2.3:8000", "Plain a:80 open"),
        (both, "http://[::1]:8000", "direct"),
        (both, "http://[::2]:8000", "Plain a:80 open"),
        (
            r#"{"http": "http://[::1]:3128/"}"#,
            "http://x.example",
            "Plain ::1:3128 open",
        ),
        (
            r#"{"http": "http://a", "no_proxy": "*"}"#,
            "http://x.example",
            "direct",
        ),
    ] {
        check(proxy, url, expect);
    }
}

#[test]
fn a_proxy_that_cannot_be_understood_is_not_gone_around() {
    let odd = r#"{"http": "http://us^er@a", "no_proxy": "inside.example"}"#;
    check(odd, "http://x.example", "Unusable :0 open");
    check(odd, "http://inside.example", "direct");
    let by = |url: &str| {
        let matcher = Matcher::builder().all(url).build();
        Hop::by(&matcher, &Uri::from_static("http://x.example/")).map(|hop| hop.via)
    };
    assert_eq!(by("socks5://a:1080"), Some(Via::Unusable));
    assert_eq!(by("http://a:1080"), Some(Via::Plain));
}
