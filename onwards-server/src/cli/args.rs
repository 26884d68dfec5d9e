//! What the user typed: flags, their environment variables and defaults. Validates, and does nothing else.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Parser, Subcommand};

use crate::logs::Format;
use crate::metrics::{BadPrefix, Metrics};

/// An AI gateway: one address for clients of OpenAI, Anthropic and Gemini in front of many providers.
#[derive(Debug, Parser)]
#[command(
    name = "onwards",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) serve: Serve,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// What else the program can do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check a configuration file: every problem at once on standard error
    Check(Check),
    /// Tell what a new configuration file changes: exit code 0 for nothing, 1 for something, 2 for a file with problems
    Diff(Diff),
    /// Print the JSON Schema of the configuration file
    Schema,
    /// Serve an alias that echoes, on this machine only, without a configuration file
    Demo(Demo),
}

/// Serving, without a subcommand.
#[derive(Debug, clap::Args)]
pub(super) struct Serve {
    /// The configuration file
    #[arg(short = 'f', long, value_name = "FILE", required = true)]
    pub(super) targets: Option<PathBuf>,

    /// Addresses to listen on, for clients and operators; may be given several times or as a list
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "0.0.0.0",
        value_delimiter = ','
    )]
    pub(super) host: Vec<IpAddr>,

    /// Port for clients
    #[arg(short, long, default_value_t = 3000)]
    pub(super) port: u16,

    /// Certificate chain in PEM: clients are served over TLS on the port for clients; taken up again when it changes
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_key",
        env = "ONWARDS_TLS_CERT"
    )]
    pub(super) tls_cert: Option<PathBuf>,

    /// Private key of the certificate in PEM: PKCS#8, PKCS#1 or SEC1, without a passphrase
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        env = "ONWARDS_TLS_KEY"
    )]
    pub(super) tls_key: Option<PathBuf>,

    /// A socket in the file system for clients, besides the port; without TLS
    #[arg(long, value_name = "PATH")]
    pub(super) unix_socket: Option<PathBuf>,

    /// Permissions of the socket's file, octal
    #[arg(long, value_name = "MODE", default_value = "660", requires = "unix_socket", value_parser = mode)]
    pub(super) unix_socket_mode: u32,

    /// Port for /metrics, /healthz and /readyz
    #[arg(long, value_name = "PORT", default_value_t = 9090)]
    pub(super) metrics_port: u16,

    /// Whether /metrics is served; the probes always are
    #[arg(short, long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1, action = ArgAction::Set, value_parser = BoolishValueParser::new())]
    pub(super) metrics: bool,

    /// Prefix of the HTTP layer's metrics
    #[arg(long, value_name = "PREFIX", default_value = "onwards", value_parser = prefix)]
    pub(super) metrics_prefix: String,

    /// Whether changes of the configuration, certificate and key files are taken up; SIGHUP always reads them again
    #[arg(short, long, value_name = "BOOL", default_value = "true", default_missing_value = "true", num_args = 0..=1, action = ArgAction::Set, value_parser = BoolishValueParser::new())]
    pub(super) watch: bool,

    /// Whether every answer tells the number of the configuration that served it, as x-onwards-generation
    #[arg(long, value_name = "BOOL", default_value = "false", default_missing_value = "true", num_args = 0..=1, action = ArgAction::Set, value_parser = BoolishValueParser::new())]
    pub(super) generation_header: bool,

    /// Seconds after SIGTERM or SIGINT in which requests are still accepted while /readyz fails
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 5,
        env = "ONWARDS_SHUTDOWN_DELAY_SECS"
    )]
    pub(super) shutdown_delay_secs: u64,

    /// Seconds running requests then have to finish, at least 1
    #[arg(long, value_name = "SECONDS", default_value_t = 300, env = "ONWARDS_SHUTDOWN_TIMEOUT_SECS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) shutdown_timeout_secs: u64,

    /// Most bytes of an unfinished server-sent event that are kept; 0 keeps none
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 65_536,
        env = "ONWARDS_SSE_BUFFER_LIMIT"
    )]
    pub(super) sse_buffer_limit: usize,

    /// Largest request body in bytes, as sent and after decompression
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 32 * 1024 * 1024,
        env = "ONWARDS_BODY_LIMIT"
    )]
    pub(super) body_limit: usize,

    /// Largest answer in bytes that is read whole before it is passed on: unary answers in strict mode and of sanitised providers
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 64 * 1024 * 1024,
        env = "ONWARDS_RESPONSE_LIMIT"
    )]
    pub(super) response_limit: usize,

    /// Whether the text of providers' errors that are replaced is logged, up to 64 KiB each; it can repeat prompts
    #[arg(long, value_name = "BOOL", default_value = "false", default_missing_value = "true", num_args = 0..=1, action = ArgAction::Set, value_parser = BoolishValueParser::new())]
    pub(super) log_error_bodies: bool,

    /// Whether one line per request is logged when it is over
    #[arg(long, value_name = "BOOL", default_value = "false", default_missing_value = "true", num_args = 0..=1, action = ArgAction::Set, value_parser = BoolishValueParser::new(), env = "ONWARDS_ACCESS_LOG")]
    pub(super) access_log: bool,

    /// Most client connections at once, on each address and the unix socket; further ones wait. Default: no bound
    #[arg(long, value_name = "NUMBER", env = "ONWARDS_MAX_CONNECTIONS")]
    pub(super) max_connections: Option<NonZeroUsize>,

    /// Seconds a client has to send a request's head, and an idle connection is kept
    #[arg(long, value_name = "SECONDS", default_value_t = 75, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) header_timeout_secs: u64,

    /// Seconds a client has to send the next bytes of a request's body
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) body_timeout_secs: u64,

    /// Threads that serve requests; default: one per processor
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) workers: Option<u16>,

    /// Shape of the log lines on standard error; RUST_LOG filters them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    pub(super) log_format: Format,
}

/// Checking a file.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) named: Named,
    /// Print what the file means with all defaults and inheritance applied, as JSON without secrets
    #[arg(long)]
    pub(super) print: bool,
}

/// Comparing two files.
#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// The configuration file as it is
    pub(super) old: PathBuf,
    /// The configuration file as it is to be
    pub(super) new: PathBuf,
}

/// A file named by position, or as it is named to serve it.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(super) struct Named {
    /// The configuration file
    file: Option<PathBuf>,
    /// The configuration file, named as for serving
    #[arg(short = 'f', long, value_name = "FILE")]
    targets: Option<PathBuf>,
}

impl Named {
    /// The one that was given; the parser accepts exactly one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.file.as_deref().or(self.targets.as_deref())
    }
}

/// Trying it out.
#[derive(Debug, clap::Args)]
pub(super) struct Demo {
    /// Send one plain and one streamed request through the gateway, print both answers, and end
    #[arg(long)]
    pub(super) once: bool,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(short, long, default_value_t = 3000)]
    pub(super) port: u16,
}

/// Permissions as `chmod` takes them.
fn mode(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| "expected an octal number from 0 to 777".to_owned())
}

fn prefix(text: &str) -> Result<String, BadPrefix> {
    Metrics::new(text).map(|_| text.to_owned())
}
