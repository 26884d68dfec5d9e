//! Names of keys. The part in braces is what a cluster places a key by: all counts of one alias lie together, and all
//! buckets, since one script takes from several.

/// Makes keys out of names.
#[derive(Debug)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    /// The prefix is checked by the settings: no braces.
    pub(crate) fn new(prefix: &str) -> Self {
        Self {
            prefix: prefix.to_owned(),
        }
    }

    /// The count of a scope's requests on an alias, `{prefix:alias}:running:scope`.
    ///
    /// A closing brace in the alias would end the part in braces early and let two pairs share a key, so it is escaped; and so is
    /// a colon, since the prefix may have some: `a` and `b:c` are not `a:b` and `c`.
    pub(crate) fn running(&self, scope: &str, alias: &str) -> String {
        let prefix = &self.prefix;
        if alias.contains(['}', '%', ':']) {
            let alias = alias
                .replace('%', "%25")
                .replace('}', "%7D")
                .replace(':', "%3A");
            format!("{{{prefix}:{alias}}}:running:{scope}")
        } else {
            format!("{{{prefix}:{alias}}}:running:{scope}")
        }
    }

    /// The bucket of a name, `{prefix}:rate:name`.
    pub(crate) fn rate(&self, name: &str) -> String {
        format!("{{{}}}:rate:{name}", self.prefix)
    }

    /// What a probe counts itself under.
    pub(crate) fn probe(&self) -> String {
        format!("{{{}}}:probe", self.prefix)
    }
}

#[cfg(test)]
mod tests;
