//! The image and the compose file: small, without root, closed.

use serde_json::Value;

use super::{flags_exist, folder, loads, read, waits_for_the_drain, yaml};

/// The instructions of the Dockerfile with their arguments, continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = read("Dockerfile").replace("\\\n", " ");
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        line.split_once(' ')
            .map(|(word, rest)| (word.to_owned(), rest.trim().to_owned()))
    };
    lines
        .map(|line| split(line).unwrap_or_else(|| panic!("no argument: {line}")))
        .collect()
}

/// An image is named without the host of a registry.
#[track_caller]
fn plain(image: &str) {
    let host = image
        .split_once('/')
        .is_some_and(|(first, _)| first.contains(['.', ':']) || first == "localhost");
    assert!(!host, "{image} names a registry");
    assert!(!image.ends_with(":latest"), "{image} is not one version");
}

#[test]
fn the_image_holds_the_binary_and_nothing_to_climb_on() {
    let all = instructions();
    let known = [
        "ARG",
        "CMD",
        "COPY",
        "ENTRYPOINT",
        "EXPOSE",
        "FROM",
        "RUN",
        "USER",
        "WORKDIR",
    ];
    for (word, _) in &all {
        assert!(
            known.contains(&word.as_str()),
            "{word} is not expected here"
        );
    }
    let stages: Vec<usize> = (0..all.len()).filter(|at| all[*at].0 == "FROM").collect();
    assert_eq!(stages.len(), 2, "one stage that builds, one that ships");
    for at in &stages {
        plain(all[*at].1.split(' ').next().unwrap());
    }
    let (build, ship) = all.split_at(stages[1]);
    let built = |what: &str| {
        build
            .iter()
            .any(|(word, text)| word == "RUN" && text.contains(what))
    };
    assert!(built("cargo build --release --locked"));
    assert_eq!(ship[0].1, "scratch");
    let argument = |name: &str| {
        &ship
            .iter()
            .find(|(word, _)| word == name)
            .unwrap_or_else(|| panic!("no {name}"))
            .1
    };
    let user: Vec<u32> = argument("USER")
        .split(':')
        .map(|id| id.parse().unwrap())
        .collect();
    assert!(user.len() == 2 && !user.contains(&0), "{user:?}");
    assert_eq!(argument("EXPOSE"), "3000 9090");
    assert!(
        !ship.iter().any(|(word, _)| word == "RUN"),
        "there is nothing to run it with"
    );
    for name in ["ENTRYPOINT", "CMD"] {
        let words: Vec<String> =
            serde_json::from_str(argument(name)).expect("a list: there is no shell");
        assert!(!words.is_empty());
        if name == "CMD" {
            flags_exist(
                words
                    .iter()
                    .map(String::as_str)
                    .filter(|word| word.starts_with("--")),
            );
        }
    }
}

#[test]
fn the_compose_file_closes_what_it_opens() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_object().unwrap();
    assert_eq!(
        services.keys().collect::<Vec<_>>(),
        ["gateway", "grafana", "prometheus"]
    );
    for (name, service) in services {
        plain(service["image"].as_str().unwrap());
        assert_eq!(service["cap_drop"][0], "ALL", "{name}");
        assert_eq!(
            service["security_opt"][0], "no-new-privileges:true",
            "{name}"
        );
        for port in texts(&service["ports"]) {
            assert!(
                port.starts_with("127.0.0.1:"),
                "{name} listens on every address: {port}"
            );
        }
        for volume in texts(&service["volumes"]) {
            let source = volume.split(':').next().unwrap();
            let known = match source.strip_prefix("./") {
                Some(path) => volume.ends_with(":ro") && folder().join(path).exists(),
                None => compose["volumes"].get(source).is_some(),
            };
            assert!(
                known,
                "{name} mounts what is not there, or not read-only: {volume}"
            );
        }
    }
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .map(|text| text.as_str().unwrap())
}

#[test]
fn the_gateway_of_the_compose_file_drains_and_cannot_write() {
    let gateway = &yaml("compose.yaml")["services"]["gateway"];
    assert_eq!(gateway["read_only"], true);
    assert_eq!(gateway["user"], "65532:65532");
    assert!(
        folder()
            .join(gateway["build"]["context"].as_str().unwrap())
            .join(gateway["build"]["dockerfile"].as_str().unwrap())
            .is_file()
    );
    let environment = gateway["environment"].as_object().unwrap();
    flags_exist(environment.keys().map(String::as_str));
    let seconds = |value: &Value| {
        value
            .as_str()
            .unwrap()
            .trim_end_matches('s')
            .parse::<u64>()
            .unwrap()
    };
    waits_for_the_drain(
        seconds(&environment["ONWARDS_SHUTDOWN_DELAY_SECS"]),
        seconds(&environment["ONWARDS_SHUTDOWN_TIMEOUT_SECS"]),
        seconds(&gateway["stop_grace_period"]),
    );
    loads(&read("compose/onwards/config.json"));
}
