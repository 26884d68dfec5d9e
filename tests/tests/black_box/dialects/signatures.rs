//! Amazon's signatures, made a second time here.

use onwards_tests::{Gateway, Recorded, Reply, Request, Upstream};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::addresses::sends;
use super::ask::{self, Feature};
use super::wire::{self, Say};
use super::{Client, KEY, Kind, Wire, serve};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// HMAC-SHA256 (RFC 2104), for keys of at most one block.
fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    block[..key.len()].copy_from_slice(key);
    let inner = Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x36))
        .chain_update(data)
        .finalize();
    let outer = Sha256::new()
        .chain_update(block.map(|byte| byte ^ 0x5c))
        .chain_update(inner);
    outer.finalize().to_vec()
}

/// Every byte but for unreserved ones and slashes, percent-encoded.
fn encoded(path: &str) -> String {
    let keeps = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| {
            if keeps(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

/// The signature that a request should have (AWS Signature Version 4).
fn signature(request: &Recorded, region: &str, service: &str, secret: &str) -> String {
    let header = |name: &str| {
        request
            .header(name)
            .unwrap_or_else(|| panic!("no {name}"))
            .to_owned()
    };
    let sent = header("authorization");
    let signed = sent
        .split("SignedHeaders=")
        .nth(1)
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .to_owned();
    for name in ["content-type", "host", "x-amz-date"] {
        assert!(
            signed.split(';').any(|known| known == name),
            "{name} in {signed}"
        );
    }
    let (path, query) = {
        let target = request.line.split(' ').nth(1).unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        (encoded(path), query.to_owned())
    };
    let lines: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", header(name)))
        .collect();
    let body = hex(&Sha256::digest(&request.body));
    let canonical = format!("POST\n{path}\n{query}\n{lines}\n{signed}\n{body}");
    let time = header("x-amz-date");
    let day = &time[..8];
    let scope = format!("{day}/{region}/{service}/aws4_request");
    let text = format!(
        "AWS4-HMAC-SHA256\n{time}\n{scope}\n{}",
        hex(&Sha256::digest(canonical))
    );
    let mut key = hmac(format!("AWS4{secret}").as_bytes(), day.as_bytes());
    for part in [region, service, "aws4_request"] {
        key = hmac(&key, part.as_bytes());
    }
    let signature = hex(&hmac(&key, text.as_bytes()));
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{scope}, SignedHeaders={signed}, Signature={signature}"
    )
}

#[tokio::test]
async fn requests_to_bedrock_are_signed() {
    let up = Upstream::start().await;
    let aws = json!({
        "region": "eu-central-1", "access_key_id": "AKIDEXAMPLE", "secret_access_key": KEY, "session_token": "token/1",
    });
    let arn = "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.x-v1:0";
    let profile = Kind::Bedrock.provider_with(&up, &json!({"aws": aws, "onwards_model": arn}));
    let gateway = Gateway::serve(json!({"m": profile})).await;
    for client in Client::ALL {
        for stream in [false, true] {
            let sent = sends(&gateway, &up, Kind::Bedrock, client, stream).await;
            let operation = if stream {
                "converse-stream"
            } else {
                "converse"
            };
            let path = "arn%3Aaws%3Abedrock%3Aeu-central-1%3A1%3Ainference-profile%2Feu.anthropic.x-v1%3A0";
            assert_eq!(
                sent.line,
                format!("POST /model/{path}/{operation} HTTP/1.1")
            );
            assert_eq!(sent.header("x-amz-security-token"), Some("token/1"));
            let expected = signature(&sent, "eu-central-1", "bedrock", KEY);
            assert_eq!(sent.header("authorization"), Some(expected.as_str()));
        }
    }
    let gateway = serve(Kind::Bedrock, &up).await;
    let sent = sends(&gateway, &up, Kind::Bedrock, Client::Chat, false).await;
    let expected = signature(&sent, "us-east-1", "bedrock", KEY);
    assert_eq!(sent.header("authorization"), Some(expected.as_str()));
    let through = Kind::Bedrock.provider_with(&up, &json!({"passthrough": true}));
    let gateway = Gateway::serve(json!({"m": through})).await;
    let request = Request::post("/model/x%3A0/converse?a=1").header("model-override", "m");
    let request = request
        .header("x-amz-security-token", "theirs")
        .header("x-amz-date", "theirs");
    gateway.send(request.json(&json!({"messages": []}))).await;
    let sent = up.request(up.count() - 1).await;
    assert_eq!(sent.header("x-amz-security-token"), None);
    let expected = signature(&sent, "us-east-1", "bedrock", KEY);
    assert_eq!(sent.header("authorization"), Some(expected.as_str()));
}

#[tokio::test]
async fn a_signature_is_made_again_with_the_services_clock() {
    let up = Upstream::start().await;
    let gateway = serve(Kind::Bedrock, &up).await;
    let theirs = "Thu, 15 Jan 2037 12:00:00 GMT";
    let skewed = |date: &str| {
        let headers = [
            ("x-amzn-errortype", "InvalidSignatureException"),
            ("date", date),
        ];
        Reply::new(403, &headers, "{\"message\":\"Signature expired\"}")
    };
    up.reply(skewed(theirs));
    let whole = wire::whole(Wire::Converse, &Say::to(Feature::Text, None));
    up.reply(whole.clone());
    let answer = gateway
        .send(ask::request(Client::Chat, Feature::Text, false))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let again = up.request(1).await;
    assert!(
        again
            .header("x-amz-date")
            .unwrap()
            .starts_with("20370115T1200")
    );
    let expected = signature(&again, "us-east-1", "bedrock", KEY);
    assert_eq!(again.header("authorization"), Some(expected.as_str()));
    // It is refused for its time once, not for ever.
    up.always(skewed(theirs));
    let answer = gateway
        .send(ask::request(Client::Chat, Feature::Text, false))
        .await;
    assert_eq!(answer.status, 403);
    assert!(up.count() <= 4, "{} requests", up.count());
}
