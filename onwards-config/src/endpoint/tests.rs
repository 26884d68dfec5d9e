use super::{Endpoint, check_proxy, masked, parse};

#[test]
fn urls_are_taken_apart() {
    let check = |url: &str, expect: (&str, &str, u16, &str, &str)| {
        let Endpoint::Http(http) = parse(url).unwrap().endpoint else {
            panic!("{url}")
        };
        let found = (
            http.scheme.as_str(),
            http.host.as_str(),
            http.port,
            http.authority.as_str(),
            http.base_path.as_str(),
        );
        assert_eq!(found, expect, "{url}");
        let again = Endpoint::Http(http.clone()).url();
        assert_eq!(
            parse(&again).unwrap().endpoint,
            Endpoint::Http(http),
            "{again}"
        );
    };
    check(
        "https://api.example.com",
        ("https", "api.example.com", 443, "api.example.com", ""),
    );
    check(
        "HTTPS://API.Example.com:443/V1/",
        ("https", "api.example.com", 443, "api.example.com", "/V1"),
    );
    check(
        "http://localhost:8080/",
        ("http", "localhost", 8080, "localhost:8080", ""),
    );
    check("http://h:/a/b//", ("http", "h", 80, "h", "/a/b"));
    check(
        "http://my_service.ns.svc/x%20y;z=1",
        (
            "http",
            "my_service.ns.svc",
            80,
            "my_service.ns.svc",
            "/x%20y;z=1",
        ),
    );
    check(
        "http://10.0.0.1/..a/b..",
        ("http", "10.0.0.1", 80, "10.0.0.1", "/..a/b.."),
    );
    check(
        "http://[::1]:11434/v1",
        ("http", "::1", 11434, "[::1]:11434", "/v1"),
    );
    check(
        "https://[2001:DB8:0::1]",
        ("https", "2001:db8::1", 443, "[2001:db8::1]", ""),
    );
    check("http://h/a@b", ("http", "h", 80, "h", "/a@b"));
}

#[test]
fn the_embedded_provider_and_queries() {
    let echo = parse("builtin:echo").unwrap();
    assert_eq!(
        (echo.endpoint.url().as_str(), echo.had_query),
        ("builtin:echo", false)
    );
    let query = parse("http://h/v1?api-version=2").unwrap();
    assert_eq!(
        (query.endpoint.url().as_str(), query.had_query),
        ("http://h/v1", true)
    );
}

#[test]
fn what_may_be_secret_is_masked() {
    let check = |url: &str, expect: &str| assert_eq!(masked(url), expect, "{url}");
    check("http://h/v1", "http://h/v1");
    check("http://user:pass@h/v1?key=1", "http://***@h/v1?***");
    check("user:pass@h", "***@h");
    check("http://a@b@c", "http://***@c");
    check("http://h#a?b", "http://h#a?***");
}

#[test]
fn proxy_urls() {
    let check = |url: &str, good: bool| assert_eq!(check_proxy(url).is_ok(), good, "{url}");
    check("http://proxy:3128", true);
    check("https://user:p%40ss@proxy.example/", true);
    check("http://user:pass@[::1]:3128", true);
    check("proxy:3128", false);
    check("socks5://proxy", false);
    check("http://proxy/path", false);
    check("http://proxy?x", false);
    check("http://user:pä@proxy", false);
    check("http://user:pass@", false);
}
