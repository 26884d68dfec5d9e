//! Two gateways with one limit of three in one store: who gets in, who is refused, and what a freed place does.
//!
//! `cargo run -p onwards-shared --example turnstiles -- redis://127.0.0.1/`; without a store there, each gateway
//! decides alone and lets three in.

use std::sync::Arc;
use std::time::Duration;

use onwards_limits::{Admission, Counter, Guard, Rate};
use onwards_shared::{Event, Limit, Settings, SharedState};

#[expect(clippy::print_stdout, reason = "an example shows its result")]
#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1);
    let url = url.unwrap_or_else(|| "redis://127.0.0.1:6379/".to_owned());
    let mut gateways = Vec::new();
    for name in ["north", "south"] {
        let mut settings = Settings::new(&url);
        settings.bound = Duration::from_millis(250);
        settings.prefix = format!("turnstiles-{}", std::process::id());
        let say = move |event: &Event| match event {
            Event::Away(reason) => println!("{name}: the store is away: {reason}"),
            Event::Back { after } => println!("{name}: the store is there after {after:.1?}"),
            _ => {}
        };
        let gateway = SharedState::connect(settings, Arc::new(say))?;
        // At most a second: a gateway opens without its store, too.
        let _late = tokio::time::timeout(Duration::from_secs(1), gateway.up()).await;
        gateways.push((name, gateway));
    }

    let mut inside: Vec<Guard> = Vec::new();
    for round in 1..=2 {
        for _ in 0..3 {
            for (name, gateway) in &gateways {
                match gateway.enter("acme", "gpt-4", 3).await {
                    Admission::Counted(guard) => inside.push(guard),
                    other => println!("{name}: {other:?}"),
                }
            }
        }
        println!("round {round}: {} inside", inside.len());
        inside.pop();
        for (_, gateway) in &gateways {
            gateway.settle(Duration::from_secs(1)).await;
        }
    }

    let (name, rate) = ("key:1", Rate::new(0.1, 4)?);
    for (gateway, shared) in gateways.iter().cycle().take(6) {
        match shared.take(&[Limit { name, rate }]).await {
            Ok(taken) => println!("{gateway}: taken, {:?}", taken.gauges()),
            Err(refused) => println!("{gateway}: {refused}"),
        }
    }
    Ok(())
}
