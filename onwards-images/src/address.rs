//! Which addresses are the public internet's.
//!
//! The tables follow the registries of special-purpose addresses that IANA keeps (RFC 6890 and what updates it). In doubt an
//! address is not public: no picture lies at a protocol's own address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that are not public: first address, length of the prefix.
const V4: &[([u8; 4], u32)] = &[
    // This network, and private use.
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([172, 16, 0, 0], 12),
    ([192, 168, 0, 0], 16),
    // Behind a carrier's translation; some clouds keep their metadata there.
    ([100, 64, 0, 0], 10),
    // Loopback, and the link: most clouds' metadata.
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    // Assigned by the IETF to protocols, among them another cloud's metadata; AMT and the anycast relay of 6to4.
    ([192, 0, 0, 0], 24),
    ([192, 52, 193, 0], 24),
    ([192, 88, 99, 0], 24),
    // Sinks for questions about private addresses.
    ([192, 31, 196, 0], 24),
    ([192, 175, 48, 0], 24),
    // Documentation and benchmarks.
    ([192, 0, 2, 0], 24),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    // A host's own agent, on a cloud that gave it a public address.
    ([168, 63, 129, 16], 32),
    // Multicast, reserved, broadcast.
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Blocks within the global unicast of IPv6 (2000::/3) that are not public.
const V6: &[([u16; 3], u32)] = &[
    // Assigned to protocols: Teredo, ORCHID, benchmarks, AMT and others.
    ([0x2001, 0, 0], 23),
    // Documentation.
    ([0x2001, 0xdb8, 0], 32),
    ([0x3fff, 0, 0], 20),
    // Sinks for questions about private addresses.
    ([0x2620, 0x4f, 0x8000], 48),
];

/// Whether an address belongs to the public internet. An IPv6 address that stands for an IPv4 address (mapped, by NAT64, 6to4 or
/// ISATAP) is as public as that.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = u128::from(address.to_bits());
    !V4.iter()
        .any(|(block, length)| same(bits, u128::from(u32::from_be_bytes(*block)), 32 - length))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let bits = address.to_bits();
    // ::ffff:0:0/96 and 64:ff9b::/96.
    if matches!(bits >> 32, 0xffff | 0x0064_ff9b_0000_0000_0000_0000) {
        return is_public_v4(lowest(bits));
    }
    let global = bits >> 125 == 1;
    let special = V6.iter().any(|([a, b, c], length)| {
        let block = (u128::from(*a) << 112) | (u128::from(*b) << 96) | (u128::from(*c) << 80);
        same(bits, block, 128 - length)
    });
    // 6to4 has the address after its prefix, ISATAP at the end after a mark.
    let tunnelled = if bits >> 112 == 0x2002 {
        Some(lowest(bits >> 80))
    } else {
        let mark = (bits >> 32) & 0xffff_ffff;
        matches!(mark, 0x0000_5efe | 0x0200_5efe).then(|| lowest(bits))
    };
    global && !special && tunnelled.is_none_or(is_public_v4)
}

/// The address of IPv4 in the lowest bits.
fn lowest(bits: u128) -> Ipv4Addr {
    let [.., a, b, c, d] = bits.to_be_bytes();
    Ipv4Addr::new(a, b, c, d)
}

/// Whether two addresses differ in the lowest `free` bits only.
fn same(one: u128, other: u128, free: u32) -> bool {
    one >> free == other >> free
}

#[cfg(test)]
mod tests;
