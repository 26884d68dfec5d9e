use super::*;

fn settings() -> Settings {
    Settings::default()
}

fn name(name: &str) -> Result<Party, Reason> {
    Ok(Party::Name(name.to_owned()))
}

fn address(address: &str) -> Result<Party, Reason> {
    Ok(Party::Address(address.parse().unwrap()))
}

#[track_caller]
fn check(url: &str, settings: &Settings, expect: Result<Party, Reason>) {
    let party = Target::parse(url, settings).map(|target| target.party().unwrap());
    assert_eq!(party, expect, "{url}");
}

#[test]
fn an_address_names_a_party() {
    check(
        "https://example.com/a.png",
        &settings(),
        name("example.com"),
    );
    check("HTTPS://EXAMPLE.com:8443", &settings(), name("example.com"));
    check("https://example.com./", &settings(), name("example.com"));
    check(
        "https://b\u{fc}cher.example/",
        &settings(),
        name("xn--bcher-kva.example"),
    );
    check(" https://exa\tmple.com/", &settings(), name("example.com"));
    check("https:example.com", &settings(), name("example.com"));
    check(
        "https:\\\\example.com\\@127.0.0.1/",
        &settings(),
        name("example.com"),
    );
    check("https://localhost/", &settings(), name("localhost"));
}

#[test]
fn numbers_are_an_address_however_they_are_spelt() {
    for spelt in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.01",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "\u{ff11}\u{ff12}\u{ff17}.0.0.1",
        "127\u{3002}0\u{3002}0\u{3002}1",
    ] {
        check(
            &format!("https://{spelt}/"),
            &settings(),
            address("127.0.0.1"),
        );
    }
    check(
        "https://[::ffff:7f00:1]/",
        &settings(),
        address("::ffff:127.0.0.1"),
    );
    check("https://[::1]:8080/", &settings(), address("::1"));
}

#[test]
fn what_is_no_address_is_refused() {
    for url in [
        "",
        "cat.png",
        "/cat.png",
        "//example.com/cat.png",
        "https://",
        "https:///",
        "https://.",
        "https://..",
        "https://a..",
        "https://[fe80::1%25eth0]/",
        "https://256.0.0.1/",
        "https://1.2.3.4.5/",
        "https://a b/",
        "https://a<b/",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:x/",
        "http://example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
        "gs://bucket/a.png",
        "s3://bucket/a.png",
        "unix:/var/run/docker.sock",
        "blob:https://example.com/1",
        "https://user@example.com/",
        "https://user:pass@example.com/",
        "https://:pass@example.com/",
        "https://example.com@127.0.0.1/",
        "https://example.com%40127.0.0.1/",
    ] {
        check(url, &settings(), Err(Reason::BadUrl));
    }
    let long = |len: usize| format!("https://example.com/{}", "a".repeat(len - 20));
    check(&long(LONGEST), &settings(), name("example.com"));
    check(&long(LONGEST + 1), &settings(), Err(Reason::BadUrl));
}

#[test]
fn plain_text_is_allowed_where_the_settings_say_so() {
    let settings = Settings {
        allow_http: true,
        ..settings()
    };
    check("http://example.com/", &settings, name("example.com"));
    check("ftp://example.com/", &settings, Err(Reason::BadUrl));
    check("http://user@example.com/", &settings, Err(Reason::BadUrl));
}

#[test]
fn a_list_of_hosts_is_kept_to() {
    let hosts = [
        "Pics.example",
        "b\u{fc}cher.example",
        "93.184.216.34",
        "2a00::1",
        "[2a00::2]",
        "dot.example.",
    ];
    let settings = Settings {
        allow_hosts: hosts.map(str::to_owned).to_vec(),
        ..settings()
    };
    check("https://pics.example/", &settings, name("pics.example"));
    check(
        "https://PICS.example.:8443/",
        &settings,
        name("pics.example"),
    );
    check(
        "https://xn--bcher-kva.example/",
        &settings,
        name("xn--bcher-kva.example"),
    );
    check("https://0x5db8d822/", &settings, address("93.184.216.34"));
    check("https://[2a00:0::1]/", &settings, address("2a00::1"));
    check("https://[2a00::2]/", &settings, address("2a00::2"));
    check("https://dot.example/", &settings, name("dot.example"));
    for other in [
        "a.pics.example",
        "pics.example.org",
        "ics.example",
        "93.184.216.35",
        "[2a00::3]",
    ] {
        check(
            &format!("https://{other}/"),
            &settings,
            Err(Reason::BlockedAddress),
        );
    }
}

#[test]
fn a_star_stands_for_every_name_below() {
    let settings = Settings {
        allow_hosts: vec!["*.pics.example".to_owned()],
        ..settings()
    };
    check("https://a.pics.example/", &settings, name("a.pics.example"));
    check(
        "https://a.b.pics.example/",
        &settings,
        name("a.b.pics.example"),
    );
    for other in [
        "pics.example",
        "apics.example",
        ".pics.example",
        "a.pics.example.org",
    ] {
        assert!(
            Target::parse(&format!("https://{other}/"), &settings).is_err(),
            "{other}"
        );
    }
}

/// A list of which nothing can be read is not an empty one.
#[test]
fn a_list_without_a_host_allows_none() {
    let settings = Settings {
        allow_hosts: vec!["not a host".to_owned()],
        ..settings()
    };
    check(
        "https://example.com/",
        &settings,
        Err(Reason::BlockedAddress),
    );
}

#[test]
fn a_target_is_asked_for_what_it_names() {
    let parts = |url: &str| {
        let settings = Settings {
            allow_http: true,
            ..settings()
        };
        let target = Target::parse(url, &settings).unwrap();
        (
            target.is_encrypted(),
            target.port(),
            target.authority(),
            target.resource(),
        )
    };
    let expect =
        |tls, port, host: &str, resource: &str| (tls, port, host.to_owned(), resource.to_owned());
    assert_eq!(
        parts("https://a.example"),
        expect(true, 443, "a.example", "/")
    );
    assert_eq!(
        parts("https://a.example:443/b?c=d#e"),
        expect(true, 443, "a.example", "/b?c=d")
    );
    assert_eq!(
        parts("http://a.example/?"),
        expect(false, 80, "a.example", "/?")
    );
    assert_eq!(
        parts("http://[2a00::1]:81/ \u{e4}"),
        expect(false, 81, "[2a00::1]:81", "/%20%C3%A4")
    );
    assert_eq!(
        parts("https://a.example/../b/./%2e%2e/c"),
        expect(true, 443, "a.example", "/c")
    );
}

#[test]
fn a_redirect_leads_on_under_the_same_rules() {
    let lead = |settings: &Settings, location: &str| {
        let from = Target::parse("https://a.example:8443/b/c?d", settings).unwrap();
        let target = from.follow(location, settings)?;
        Ok::<_, Reason>(target.url.to_string())
    };
    let to = |url: &str| Ok(url.to_owned());
    let open = settings();
    assert_eq!(lead(&open, "e"), to("https://a.example:8443/b/e"));
    assert_eq!(lead(&open, "/e?f"), to("https://a.example:8443/e?f"));
    assert_eq!(lead(&open, "?f"), to("https://a.example:8443/b/c?f"));
    assert_eq!(lead(&open, "//b.example/"), to("https://b.example/"));
    assert_eq!(
        lead(&open, "https://b.example/e"),
        to("https://b.example/e")
    );
    assert_eq!(lead(&open, ""), to("https://a.example:8443/b/c?d"));
    assert_eq!(lead(&open, "http://b.example/"), Err(Reason::BadUrl));
    assert_eq!(lead(&open, "file:///etc/passwd"), Err(Reason::BadUrl));
    assert_eq!(lead(&open, "//u:p@b.example/"), Err(Reason::BadUrl));
    let listed = Settings {
        allow_hosts: vec!["a.example".to_owned()],
        ..settings()
    };
    assert_eq!(lead(&listed, "/e"), to("https://a.example:8443/e"));
    assert_eq!(lead(&listed, "//b.example/"), Err(Reason::BlockedAddress));
}
