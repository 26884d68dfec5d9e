//! The label values that are not configured: fixed sets, so that no client can make series.

use std::borrow::Cow;

/// Declares a fieldless enum whose variants have a label each.
macro_rules! labelled {
    ($(#[$meta:meta])* $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $label:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The value as it stands in the exposition.
            pub const fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }
        }
    };
}
pub(super) use labelled;

labelled! {
    /// An HTTP method.
    Verb {
        /// GET
        Get = "GET",
        /// POST
        Post = "POST",
        /// HEAD
        Head = "HEAD",
        /// PUT
        Put = "PUT",
        /// PATCH
        Patch = "PATCH",
        /// DELETE
        Delete = "DELETE",
        /// OPTIONS
        Options = "OPTIONS",
        /// Any other, made up or not.
        Other = "other",
    }
}

impl Verb {
    /// The label of a request's method.
    pub fn of(method: &http::Method) -> Self {
        Self::ALL
            .iter()
            .copied()
            .find(|verb| verb.label() == method.as_str())
            .unwrap_or(Self::Other)
    }
}

labelled! {
    /// What a request path is about.
    Route {
        /// Chat completions.
        ChatCompletions = "/v1/chat/completions",
        /// Text completions.
        Completions = "/v1/completions",
        /// Embeddings.
        Embeddings = "/v1/embeddings",
        /// Responses, with everything below.
        Responses = "/v1/responses",
        /// Messages, with everything below.
        Messages = "/v1/messages",
        /// The list of models, with everything below.
        Models = "/v1/models",
        /// Models of Gemini's API, with what is asked of them.
        GenerateContent = "/v1beta/models",
        /// Images, with everything below.
        Images = "/v1/images",
        /// Audio, with everything below.
        Audio = "/v1/audio",
        /// Any other path.
        Other = "other",
    }
}

impl Route {
    /// The label of a request path; the leading `/v1` may be missing, and what follows a route does not matter.
    pub fn of(path: &str) -> Self {
        if path.starts_with(Self::GenerateContent.label()) {
            return Self::GenerateContent;
        }
        let path = path
            .strip_prefix("/v1")
            .filter(|rest| rest.starts_with('/'))
            .unwrap_or(path);
        let under = |label: &str| {
            let rest = label
                .strip_prefix("/v1")
                .and_then(|route| path.strip_prefix(route));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Self::ALL
            .iter()
            .copied()
            .find(|route| under(route.label()))
            .unwrap_or(Self::Other)
    }
}

labelled! {
    /// Why a request ended without an answer from a provider.
    Failure {
        /// Every attempt that was allowed failed.
        RetriesExhausted = "retries_exhausted",
        /// The pool has no providers.
        NoProviders = "no_providers",
        /// Every provider was at its limit.
        AllAtCapacity = "all_at_capacity",
    }
}

labelled! {
    /// How a request came.
    Traffic {
        /// A client waits for it.
        Realtime = "realtime",
        /// It carries the header that marks batch work.
        Dispatched = "dispatched",
    }
}

labelled! {
    /// What happened between the gateway and the store of shared counts.
    SharedEvent {
        /// The store counts as away from here on.
        Away = "away",
        /// It answers, also the first time.
        Back = "back",
        /// A call had no answer in time.
        TimedOut = "timed_out",
        /// A call was answered by an error.
        Faulted = "faulted",
        /// A request was let through without the store.
        AdmittedAlone = "admitted_alone",
        /// A request was refused without the store.
        RefusedAlone = "refused_alone",
        /// A running request was no longer counted there, and is again.
        LeaseLost = "lease_lost",
        /// The end of a request was not sent: its place ends with its lease.
        Unsent = "unsent",
    }
}

/// Places for the statuses 100 to 599, and one for all others.
pub(super) const STATUS_SLOTS: usize = 501;

/// The place of a status; always below [`STATUS_SLOTS`].
pub(super) fn status_slot(status: u16) -> usize {
    match status {
        100..=599 => usize::from(status - 100),
        _ => STATUS_SLOTS - 1,
    }
}

/// The label of a status.
pub(super) fn status(status: u16) -> Cow<'static, str> {
    match status {
        200 => Cow::Borrowed("200"),
        100..=599 => Cow::Owned(status.to_string()),
        _ => Cow::Borrowed("other"),
    }
}
