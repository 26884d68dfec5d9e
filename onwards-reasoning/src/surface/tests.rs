use super::Surface;

#[test]
fn the_path_decides() {
    let cases = [
        ("/v1/chat/completions", Some(Surface::ChatCompletions)),
        ("/v1/chat/completions/", Some(Surface::ChatCompletions)),
        ("/chat/completions", Some(Surface::ChatCompletions)),
        (
            "/openai/deployments/x/chat/completions",
            Some(Surface::ChatCompletions),
        ),
        ("/v1/responses", Some(Surface::Responses)),
        ("/responses//", Some(Surface::Responses)),
        ("/v1/completions", Some(Surface::Completions)),
        ("/foo/completions/", Some(Surface::Completions)),
        ("/v1/xchat/completions", Some(Surface::Completions)),
        ("/v1/responses/resp_1", None),
        ("/v1/embeddings", None),
        ("/v1/xresponses", None),
        ("/v1/Chat/Completions", None),
        ("completions", None),
        ("/", None),
        ("", None),
    ];
    for (path, expected) in cases {
        assert_eq!(Surface::of_path(path), expected, "{path}");
    }
}

#[test]
fn every_member_that_is_looked_at_is_asked_for() {
    for surface in [
        Surface::ChatCompletions,
        Surface::Responses,
        Surface::Completions,
    ] {
        let native = surface
            .native_controls()
            .iter()
            .filter_map(|field| field.split('.').next());
        for name in native.chain(surface.limit_params().iter().copied()) {
            assert!(surface.members().contains(&name), "{surface:?} {name}");
        }
    }
}
