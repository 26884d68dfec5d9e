//! Who calls: tokens, and the keys the configuration knows.
//!
//! A token is looked up by its SHA-256 digest and the digests are then compared in constant time, so neither the lookup
//! nor the comparison tells how much of a guess was right.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use onwards_limits::Slots;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::snapshot::Meter;

/// The digest of a token; says nothing about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Token([u8; 32]);

impl Token {
    pub(crate) fn of(token: &[u8]) -> Self {
        Self(Sha256::digest(token).into())
    }

    /// True for the token that this is the digest of. Takes the same time for any other.
    pub(crate) fn is(&self, token: &[u8]) -> bool {
        self.0.ct_eq(&Self::of(token).0).into()
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(***)")
    }
}

/// A key of the configuration with what is attached to it.
#[derive(Debug)]
pub(crate) struct Caller {
    /// Tells the keys of one snapshot apart.
    pub(crate) id: u32,
    /// The definition's labels; empty for a key without a definition.
    pub(crate) labels: BTreeMap<String, String>,
    /// Requests per second of this key over all aliases.
    pub(crate) rate: Option<Arc<Meter>>,
    /// Requests of this key at a time, counted over all aliases.
    pub(crate) slots: Arc<Slots>,
    /// The most of them; `None` is no limit.
    pub(crate) concurrency_limit: Option<u32>,
}

impl Caller {
    /// The account that in-flight limits count for.
    pub(crate) fn account(&self) -> Option<&str> {
        self.labels.get("account").map(String::as_str)
    }

    /// The name of the key in logs.
    pub(crate) fn api_key_id(&self) -> Option<&str> {
        self.labels.get("api_key_id").map(String::as_str)
    }
}

/// All keys of a snapshot by the digest of their token.
#[derive(Debug, Default)]
pub(crate) struct Keyring(HashMap<Token, Arc<Caller>>);

impl Keyring {
    pub(super) fn insert(&mut self, token: Token, caller: Arc<Caller>) {
        self.0.insert(token, caller);
    }

    pub(super) fn get(&self, token: &Token) -> Option<&Arc<Caller>> {
        self.0.get(token)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The caller a presented token stands for.
    pub(crate) fn find(&self, token: &[u8]) -> Option<&Arc<Caller>> {
        if self.0.is_empty() {
            return None;
        }
        let presented = Token::of(token);
        let (known, caller) = self.0.get_key_value(&presented)?;
        bool::from(known.0.ct_eq(&presented.0)).then_some(caller)
    }
}
