use rcgen::{CertificateParams, KeyPair, generate_simple_self_signed};

use super::*;
use crate::metrics::Metrics;

fn pem() -> (String, String) {
    let made = generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    (made.cert.pem(), made.signing_key.serialize_pem())
}

fn read(chain: &str, key: &str) -> Result<(), CertificateError> {
    Pair::read(chain.as_bytes(), key.as_bytes()).map(drop)
}

#[test]
fn a_pair_is_read_from_two_files_or_one() {
    let (chain, key) = pem();
    let both = format!("{key}{chain}");
    for (one, other) in [(&chain, &key), (&both, &both), (&chain, &both)] {
        assert_eq!(read(one, other), Ok(()));
    }
    let noted = format!("# ours\n{chain}\n-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n");
    assert_eq!(read(&noted, &key), Ok(()));
}

#[test]
fn what_does_not_fit_is_told_without_repeating_it() {
    let ((chain, key), (_, other)) = (pem(), pem());
    let half = |text: &str| text.split_at(text.len() / 2).0.to_owned();
    let words = format!("-----BEGIN CERTIFICATE-----\n{}", "AAAA\n".repeat(3));
    let nonsense = format!("{words}-----END CERTIFICATE-----\n");
    for (chain, key, error) in [
        ("", &*key, CertificateError::NoCertificate),
        (&key, &key, CertificateError::NoCertificate),
        (&chain, "", CertificateError::NoKey),
        (&chain, &chain, CertificateError::NoKey),
        (
            &half(&chain),
            &key,
            CertificateError::Damaged("certificate"),
        ),
        (&chain, &half(&key), CertificateError::Damaged("key")),
        (&chain, &other, CertificateError::Mismatch),
        (
            &chain,
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
            CertificateError::EncryptedKey,
        ),
        (
            &nonsense,
            &key,
            CertificateError::Unusable("the first certificate has no date of its end".to_owned()),
        ),
    ] {
        let refused = read(chain, key).unwrap_err();
        assert_eq!(refused, error);
        assert!(!refused.to_string().contains(key.get(40..50).unwrap_or("-")));
    }
}

#[test]
fn a_new_pair_shows_in_the_settings_and_the_metrics() {
    let metrics = Metrics::new("onwards").unwrap();
    let until = |year| {
        let mut params = CertificateParams::new(["a.test".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let chain = params.self_signed(&key).unwrap().pem();
        Pair::read(chain.as_bytes(), key.serialize_pem().as_bytes()).unwrap()
    };
    let expiry = || {
        let families = metrics.registry().gather();
        let wanted = "onwards_tls_certificate_expiry_timestamp_seconds";
        let family = families.iter().find(|family| family.name() == wanted)?;
        Some(family.get_metric()[0].get_gauge().get_value())
    };
    assert_eq!(expiry(), None, "without TLS there is no such series");
    let certificate = Certificate::new(until(2050), metrics.tls());
    assert_eq!(expiry(), Some(2_524_608_000.0));
    let before = certificate.in_force();
    certificate.replace(until(2060));
    assert_eq!(expiry(), Some(2_840_140_800.0));
    assert!(!Arc::ptr_eq(&before, &certificate.in_force()));
}
