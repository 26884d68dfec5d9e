use clap::CommandFactory;
use clap::error::ErrorKind;

use super::args::{Demo, Serve};
use super::*;
use crate::logs::Format;

fn parse(line: &str) -> Result<Args, ErrorKind> {
    Args::try_parse_from(line.split_whitespace()).map_err(|error| error.kind())
}

fn serve(line: &str) -> Serve {
    parse(&format!("onwards -f c.json {line}"))
        .unwrap_or_else(|kind| panic!("{line}: {kind}"))
        .serve
}

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn the_defaults() {
    let serve = serve("");
    assert_eq!(serve.targets.as_deref(), Some("c.json".as_ref()));
    assert_eq!(
        (serve.port, serve.metrics_port, serve.metrics, serve.watch),
        (3000, 9090, true, true)
    );
    assert_eq!(
        (serve.metrics_prefix.as_str(), serve.sse_buffer_limit),
        ("onwards", 65_536)
    );
    assert_eq!(
        (serve.shutdown_delay_secs, serve.shutdown_timeout_secs),
        (5, 300)
    );
    assert_eq!(
        (serve.header_timeout_secs, serve.body_timeout_secs),
        (75, 60)
    );
    let library = crate::Settings {
        served_by: false, // there are no layers around the program
        ..crate::Settings::default()
    };
    let flags = run::settings(&serve);
    assert_eq!(format!("{flags:?}"), format!("{library:?}"));
    assert_eq!((serve.workers, serve.log_format), (None, Format::Text));
    assert_eq!(serve.max_connections, None);
    assert_eq!(serve.host, ["0.0.0.0".parse::<std::net::IpAddr>().unwrap()]);
}

#[test]
fn doors_besides_the_port() {
    let none = serve("");
    assert_eq!(
        (none.tls_cert, none.tls_key, none.unix_socket),
        (None, None, None)
    );
    let all = serve("--tls-cert c.pem --tls-key k.pem --unix-socket s --unix-socket-mode 600");
    assert_eq!(all.tls_cert.as_deref(), Some("c.pem".as_ref()));
    assert_eq!(all.tls_key.as_deref(), Some("k.pem".as_ref()));
    assert_eq!(all.unix_socket.as_deref(), Some("s".as_ref()));
    assert_eq!(all.unix_socket_mode, 0o600);
    assert_eq!(serve("--unix-socket s").unix_socket_mode, 0o660);
}

#[test]
fn flags_become_settings() {
    let settings = run::settings(&serve(
        "--body-limit 1 --response-limit 2 --sse-buffer-limit 3 --body-timeout-secs 4 --metrics-prefix five --log-error-bodies --generation-header",
    ));
    assert_eq!(
        (
            settings.body_limit,
            settings.response_limit,
            settings.sse_buffer_limit,
            settings.body_timeout.as_secs()
        ),
        (1, 2, 3, 4)
    );
    assert_eq!(
        (
            settings.metrics_prefix.as_str(),
            settings.log_error_bodies,
            settings.generation_header
        ),
        ("five", true, true)
    );
}

#[test]
fn switches_take_a_value_or_none() {
    for (line, on) in [
        ("--metrics", true),
        ("--metrics true", true),
        ("--metrics=true", true),
        ("--metrics false", false),
        ("--metrics=false", false),
        ("-m false", false),
        ("-m", true),
        ("--metrics --port 1", true),
        ("--metrics false --port 1", false),
    ] {
        assert_eq!(serve(line).metrics, on, "{line}");
        let line = line.replace("--metrics", "--watch").replace("-m", "-w");
        assert_eq!(serve(&line).watch, on, "{line}");
        let line = line.replace("--watch", "--log-error-bodies");
        if !line.contains("-w") {
            assert_eq!(serve(&line).log_error_bodies, on, "{line}");
        }
    }
}

#[test]
fn addresses_come_as_a_list_or_one_by_one() {
    for line in ["--host 127.0.0.1,::1", "--host 127.0.0.1 --host ::1"] {
        assert_eq!(
            serve(line)
                .host
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            ["127.0.0.1", "::1"]
        );
    }
}

#[test]
fn what_is_wrong_is_refused() {
    for (line, kind) in [
        ("onwards", ErrorKind::MissingRequiredArgument),
        ("onwards --port 1", ErrorKind::MissingRequiredArgument),
        ("onwards -f a --nope", ErrorKind::UnknownArgument),
        ("onwards -f a extra", ErrorKind::ArgumentConflict),
        ("onwards -f a --port 70000", ErrorKind::ValueValidation),
        ("onwards -f a --port x", ErrorKind::ValueValidation),
        ("onwards -f a --metrics maybe", ErrorKind::ValueValidation),
        (
            "onwards -f a --shutdown-timeout-secs 0",
            ErrorKind::ValueValidation,
        ),
        (
            "onwards -f a --shutdown-delay-secs -1",
            ErrorKind::UnknownArgument,
        ),
        (
            "onwards -f a --metrics-prefix a-b",
            ErrorKind::ValueValidation,
        ),
        (
            "onwards -f a --host example.org",
            ErrorKind::ValueValidation,
        ),
        ("onwards -f a --workers 0", ErrorKind::ValueValidation),
        (
            "onwards -f a --tls-cert b",
            ErrorKind::MissingRequiredArgument,
        ),
        (
            "onwards -f a --tls-key b",
            ErrorKind::MissingRequiredArgument,
        ),
        (
            "onwards -f a --unix-socket-mode 600",
            ErrorKind::MissingRequiredArgument,
        ),
        (
            "onwards -f a --unix-socket b --unix-socket-mode 8",
            ErrorKind::ValueValidation,
        ),
        (
            "onwards -f a --unix-socket b --unix-socket-mode 1000",
            ErrorKind::ValueValidation,
        ),
        ("onwards -f a --log-format xml", ErrorKind::InvalidValue),
        ("onwards check", ErrorKind::MissingRequiredArgument),
        ("onwards diff a", ErrorKind::MissingRequiredArgument),
        ("onwards diff a b c", ErrorKind::UnknownArgument),
        ("onwards check --print", ErrorKind::MissingRequiredArgument),
        ("onwards check a -f b", ErrorKind::ArgumentConflict),
        ("onwards check -f a b", ErrorKind::ArgumentConflict),
        ("onwards -f a check b", ErrorKind::ArgumentConflict),
        ("onwards --help", ErrorKind::DisplayHelp),
        ("onwards --version", ErrorKind::DisplayVersion),
    ] {
        assert_eq!(parse(line).err(), Some(kind), "{line}");
    }
    for line in [
        "onwards -f a --shutdown-delay-secs 0",
        "onwards -f a --sse-buffer-limit 0",
        "onwards schema",
        "onwards demo --once",
    ] {
        assert!(parse(line).is_ok(), "{line}");
    }
}

#[test]
fn a_file_to_check_is_named_by_position_or_by_the_flag() {
    for line in [
        "check c.json",
        "check -f c.json",
        "check --targets c.json",
        "check --print -f c.json",
    ] {
        let Ok(Some(Command::Check(check))) =
            parse(&format!("onwards {line}")).map(|args| args.command)
        else {
            panic!("{line}");
        };
        assert_eq!(check.named.file(), Some("c.json".as_ref()), "{line}");
    }
}

/// Exit code success, standard output and standard error of `check`.
fn checked(text: &str, print: bool) -> (bool, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("c.json");
    std::fs::write(&file, text).unwrap();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut line = vec!["onwards".as_ref(), "check".as_ref(), file.as_os_str()];
    if print {
        line.push("--print".as_ref());
    }
    let Some(Command::Check(args)) = Args::try_parse_from(line).unwrap().command else {
        unreachable!("a check");
    };
    let code = check::run(&args, &mut out, &mut err).unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        format!("{code:?}") == format!("{:?}", ExitCode::SUCCESS),
        text(out),
        text(err),
    )
}

#[test]
fn check_tells_every_problem_at_once() {
    let (good, out, err) = checked(
        r#"{"targets": {"a": {"url": "nope"}, "b": {"url": "http://b", "weight": -1}}}"#,
        false,
    );
    assert_eq!((good, out.as_str()), (false, ""));
    assert_eq!(
        err.lines()
            .filter(|line| line.starts_with("error: targets."))
            .count(),
        2,
        "{err}"
    );
}

/// What the rules of other crates find, beside everything else and with its place.
#[test]
fn check_tells_broken_rules_with_their_places() {
    let (good, out, err) = checked(
        r#"{"rejected_params": ["n", "temperature", "m"], "targets": {
            "a": {"url": "nope", "reasoning_translation": {}},
            "b": {"pools": {"default": {"providers": [{"url": "http://b"}, {"url": "http://c", "reasoning_translation": {
                "responses": {"unsupported_efforts": ["none"], "writes": [
                    {"target_path": "/elsewhere", "values": {"low": 1}},
                    {"target_path": "/reasoning/effort", "values": {"low": 1, "hgih": 2}}]}}}]}}}}}"#,
        false,
    );
    assert_eq!((good, out.as_str()), (false, ""));
    expect_test::expect![[r#"
        error: rejected_params[1] (line 1, column 27): found "temperature"; expected a parameter of the catalog of those that not every provider can honour
        error: rejected_params[2] (line 1, column 42): found "m"; expected a parameter of the catalog of those that not every provider can honour
        error: targets.a.url (line 2, column 26): found "nope"; expected an absolute http:// or https:// URL
        error: targets.a.reasoning_translation (line 2, column 59): found neither; expected chat_completions or responses or both
        error: targets.b.pools.default.providers[1].reasoning_translation.responses (line 4, column 30): found no decision on minimal, medium, high, xhigh, max; expected every effort mapped or unsupported
        error: targets.b.pools.default.providers[1].reasoning_translation.responses.writes[0].target_path (line 5, column 37): found '/elsewhere'; expected /reasoning_effort, /thinking_token_budget, /chat_template_kwargs/thinking, /chat_template_kwargs/enable_thinking, or a path at or below /reasoning or /thinking
        error: targets.b.pools.default.providers[1].reasoning_translation.responses.writes[1].values.hgih (line 6, column 87): found 'hgih'; expected one of the efforts none, minimal, low, medium, high, xhigh, max
    "#]].assert_eq(&err);
}

#[test]
fn check_counts_targets() {
    for (targets, counted) in [
        ("", "0 targets"),
        (r#""a": {"url": "http://a"}"#, "1 target"),
        (
            r#""a": {"url": "http://a"}, "b": {"url": "http://b"}"#,
            "2 targets",
        ),
    ] {
        let (good, out, _) = checked(&format!(r#"{{"targets": {{{targets}}}}}"#), false);
        assert!(
            good && out.ends_with(&format!("c.json: good, {counted}\n")),
            "{out}"
        );
    }
}

#[test]
fn check_tells_warnings_of_a_good_file() {
    let (good, out, err) = checked(
        r#"{"targets": {"a": {"url": "http://a", "urll": 1}}}"#,
        false,
    );
    assert!(good && out.ends_with("c.json: good, 1 target\n"), "{out}");
    assert!(err.starts_with("warning: targets.a.urll"), "{err}");
}

#[test]
fn check_prints_the_meaning_without_secrets() {
    let text = r#"{"auth": {"global_keys": ["sk-one"]}, "targets": {"a": {"kind": "anthropic", "url": "http://a:80/v1/", "onwards_key": "sk-two", "onwards_model": "b"}}}"#;
    let (good, out, err) = checked(text, true);
    assert!(good && !out.contains("sk-"), "{out}{err}");
    let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
    let target = &printed["targets"]["a"];
    let provider = &target["providers"][0];
    assert_eq!(
        (
            &provider["kind"],
            &provider["onwards_model"],
            &provider["onwards_key"]
        ),
        (&"anthropic".into(), &"b".into(), &"***".into())
    );
    assert_eq!(provider["image_urls"], "fetch");
    assert_eq!(provider["default_max_tokens"], 4096);
    assert_eq!(printed["auth"]["global_keys"], serde_json::json!(["***"]));
    assert_eq!(printed["ingress"]["same_dialect"], "native");
}

#[test]
fn a_missing_file_is_named() {
    let error = run::read("/nowhere/c.json".as_ref()).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "the configuration file /nowhere/c.json does not exist"
    );
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    for (kind, gone) in [
        (io::ErrorKind::BrokenPipe, true),
        (io::ErrorKind::NotFound, false),
    ] {
        assert_eq!(is_gone_reader(&io::Error::from(kind).into()), gone);
    }
}

#[test]
fn the_schema_is_json() {
    let mut out = Vec::new();
    schema::run(&mut out).unwrap();
    let schema: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert!(schema["properties"]["targets"].is_object(), "{schema}");
}

#[tokio::test]
async fn the_demo_answers_both_ways_through_the_whole_gateway() {
    let mut out = Vec::new();
    demo::demonstrate(
        &Demo {
            once: true,
            port: 0,
        },
        &mut out,
    )
    .await
    .unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains(r#""content":"Hello from the demo!""#), "{out}");
    let deltas: Vec<_> = out
        .lines()
        .filter(|line| line.starts_with("data: "))
        .collect();
    assert!(
        deltas.len() > 4 && deltas.last() == Some(&"data: [DONE]"),
        "{out}"
    );
}
