use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::span;

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const NOON: Duration = Duration::from_secs(1_768_478_400);
/// Of the vectors that the scheme's owner publishes.
const AUGUST: Duration = Duration::from_secs(1_440_938_160);
const JSON: (&str, &str) = ("content-type", "application/json");
const HI: &[u8] = br#"{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#;
const CONVERSE: Request<'_> = Request {
    method: "POST",
    host: "bedrock-runtime.us-east-1.amazonaws.com",
    path: "/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    query: "",
    headers: &[JSON],
    body: BodyHash([0; 32]),
};

fn converse() -> Request<'static> {
    let body = BodyHash::of([HI]);
    Request { body, ..CONVERSE }
}

fn signer(region: &str, service: &str, token: Option<&str>) -> Signer {
    let credentials = Credentials::new("AKIDEXAMPLE", SECRET, token).unwrap();
    Signer::new(region, service, credentials).unwrap()
}

/// All vectors were computed from the description of the scheme by a program that shares no code with this one.
#[track_caller]
fn check(signer: &Signer, request: &Request<'_>, now: Duration, expect: &[(&str, &str)]) {
    let signed = signer.sign(request, now).unwrap();
    assert_eq!(signed.headers().collect::<Vec<_>>(), expect);
}

#[test]
fn a_request_is_signed_as_the_specification_says() {
    let authorization = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260115/us-east-1/bedrock/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date, \
        Signature=adaf7f0327375fb587cbd89df78bc9108a5a79c32112e8dc50a4562cc784fffb";
    check(
        &signer("us-east-1", "bedrock", None),
        &converse(),
        NOON,
        &[
            ("x-amz-date", "20260115T120000Z"),
            ("authorization", authorization),
        ],
    );
}

#[test]
fn a_session_token_is_signed_and_sent() {
    let authorization = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260115/us-east-1/bedrock/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, \
        Signature=ee5ab5507ef53c402281d555284ee43ca5689627466a57d23f594262b4116911";
    check(
        &signer("us-east-1", "bedrock", Some("IQoJb3JpZ2luX2VjEA//==")),
        &converse(),
        NOON,
        &[
            ("x-amz-date", "20260115T120000Z"),
            ("authorization", authorization),
            ("x-amz-security-token", "IQoJb3JpZ2luX2VjEA//=="),
        ],
    );
}

#[test]
fn a_port_and_an_arn_are_signed_as_they_are_sent() {
    let authorization = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260115/eu-west-1/bedrock/aws4_request, \
        SignedHeaders=content-type;host;x-amz-date, \
        Signature=57adaddca15dd9a54582b2a7c919eec9afc85eb9f2cf48488fb9ce8bdd75e72b";
    let request = Request {
        host: "localhost:4566",
        path: "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream",
        body: BodyHash::of([b"{}".as_slice()]),
        ..CONVERSE
    };
    check(
        &signer("eu-west-1", "bedrock", None),
        &request,
        NOON,
        &[
            ("x-amz-date", "20260115T120000Z"),
            ("authorization", authorization),
        ],
    );
}

#[test]
fn the_published_vectors_hold() {
    let signatures = [
        (
            "",
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
        (
            "Param2=a%20b&Param1=value1",
            "cb42565637ea13174ee5764c71d28c727fca0c245c1ebb34c3b37d27b3d6a7df",
        ),
    ];
    for (query, signature) in signatures {
        let request = Request {
            method: "GET",
            host: "example.amazonaws.com",
            path: "/",
            query,
            headers: &[],
            body: BodyHash::of([]),
        };
        let scope = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request";
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders=host;x-amz-date, Signature={signature}"
        );
        check(
            &signer("us-east-1", "service", None),
            &request,
            AUGUST,
            &[
                ("x-amz-date", "20150830T123600Z"),
                ("authorization", &authorization),
            ],
        );
    }
}

#[test]
fn the_pieces_of_a_body_do_not_matter() {
    let (front, rear) = HI.split_at(11);
    assert_eq!(BodyHash::of([HI]), BodyHash::of([front, &[], rear]));
    assert_eq!(
        BodyHash::of([]).hex(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
    assert_eq!(BodyHash::known([0x0f; 32]).hex(), "0f".repeat(32));
}

#[test]
fn what_cannot_be_signed_is_said() {
    let signer = signer("us-east-1", "bedrock", None);
    let late = Duration::from_secs(LAST_SECOND + 1);
    let sign = |request: Request<'_>, now| signer.sign(&request, now).map(|signed| signed.0.len());
    assert_eq!(sign(CONVERSE, Duration::from_secs(LAST_SECOND)).unwrap(), 2);
    assert_eq!(sign(CONVERSE, Duration::ZERO).unwrap(), 2);
    assert!(matches!(sign(CONVERSE, late), Err(SignError::Time)));
    assert!(matches!(
        sign(CONVERSE, Duration::MAX),
        Err(SignError::Time)
    ));
    let bad = [
        Request {
            path: "/a b",
            ..CONVERSE
        },
        Request {
            query: "a=\u{1}",
            ..CONVERSE
        },
        Request {
            host: "",
            ..CONVERSE
        },
        Request {
            host: "a b",
            ..CONVERSE
        },
        Request {
            headers: &[("a b", "c")],
            ..CONVERSE
        },
        Request {
            headers: &[("a", "c\nd")],
            ..CONVERSE
        },
    ];
    for request in bad {
        assert!(
            matches!(sign(request, NOON), Err(SignError::Request(_))),
            "{request:?}"
        );
    }
    for request in [
        Request {
            path: "",
            ..CONVERSE
        },
        Request {
            path: "model",
            ..CONVERSE
        },
        Request {
            path: "/a?b",
            ..CONVERSE
        },
        Request {
            path: "/a#b",
            ..CONVERSE
        },
        Request {
            host: "a/b",
            ..CONVERSE
        },
        Request {
            host: "a@b",
            ..CONVERSE
        },
    ] {
        assert!(
            matches!(sign(request, NOON), Err(SignError::Address)),
            "{request:?}"
        );
    }
}

#[test]
fn settings_that_could_not_be_sent_are_refused_without_their_value() {
    let new = |id, secret, token| Credentials::new(id, secret, token).map(|_| ());
    let said = |result: Result<(), Unusable>| result.unwrap_err().to_string();
    let end = "is empty or holds a character that cannot stand in a signature";
    assert_eq!(said(new("", "s", None)), format!("the access key id {end}"));
    assert_eq!(
        said(new("A/B", "s", None)),
        format!("the access key id {end}")
    );
    assert_eq!(
        said(new("AB\n", "s", None)),
        format!("the access key id {end}")
    );
    assert_eq!(
        said(new("A", "", None)),
        format!("the secret access key {end}")
    );
    assert_eq!(
        said(new("A", "s", Some(""))),
        format!("the session token {end}")
    );
    assert_eq!(
        said(new("A", "s", Some("t\r\n"))),
        format!("the session token {end}")
    );
    let credentials = || Credentials::new("A", "s", None).unwrap();
    let scope = |region, service| Signer::new(region, service, credentials()).map(|_| ());
    assert_eq!(said(scope("", "bedrock")), format!("the region {end}"));
    assert_eq!(said(scope("eu/1", "bedrock")), format!("the region {end}"));
    assert_eq!(said(scope("eu-1", "a b")), format!("the service {end}"));
}

#[test]
fn nothing_secret_is_printed() {
    let signer = signer("us-east-1", "bedrock", Some("TOKEN"));
    assert_eq!(
        format!("{signer:?}"),
        r#"Signer { region: "us-east-1", service: "bedrock", credentials: Credentials(..) }"#
    );
    let signed = signer.sign(&converse(), NOON).unwrap();
    assert_eq!(
        format!("{signed:?}"),
        r#"{"x-amz-date", "authorization", "x-amz-security-token"}"#
    );
    let bad = Request {
        headers: &[("a", "SECRET\n")],
        ..CONVERSE
    };
    let error = signer.sign(&bad, NOON).unwrap_err();
    let mut told = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        told.push_str(&format!(" {cause} {cause:?}"));
        source = cause.source();
    }
    assert!(!told.contains("SECRET"), "{told}");
}

/// Counts whatever is logged, at any level.
struct Counting(Arc<AtomicUsize>);

impl tracing::Subscriber for Counting {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        self.0.fetch_add(1, Ordering::Relaxed);
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[test]
fn nothing_is_logged() {
    let heard = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::with_default(Counting(heard.clone()), || {
        tracing::trace!("heard");
        signer("us-east-1", "bedrock", Some("TOKEN"))
            .sign(&converse(), NOON)
            .unwrap();
    });
    assert_eq!(heard.load(Ordering::Relaxed), 1);
}
