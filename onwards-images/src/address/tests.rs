use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(addresses: &str, public: bool) {
    for address in addresses.split_whitespace() {
        let parsed = address.parse().expect(address);
        assert_eq!(is_public(parsed), public, "{address}");
    }
}

/// The first and last address of every block, and its public neighbours.
#[test]
fn blocks_of_ipv4_begin_and_end_where_the_registry_says() {
    check(
        "0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1 \
         127.255.255.255 169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 \
         192.0.2.0 192.0.2.255 192.31.196.0 192.31.196.255 192.52.193.0 192.52.193.255 192.88.99.0 \
         192.88.99.255 192.168.0.0 192.168.255.255 192.175.48.0 192.175.48.255 198.18.0.0 198.19.255.255 \
         198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 \
         255.255.255.254 255.255.255.255",
        false,
    );
    check(
        "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 \
         169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 \
         192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 \
         192.175.47.255 192.175.49.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 \
         203.0.114.0 223.255.255.255 8.8.8.8 93.184.216.34",
        true,
    );
}

#[test]
fn metadata_of_clouds_is_not_public() {
    check(
        "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 \
         fd00:ec2::23 fd20:ce::254 fe80::a9fe:a9fe ::ffff:169.254.169.254 64:ff9b::169.254.169.254 \
         2002:a9fe:a9fe::1",
        false,
    );
    check("168.63.129.15 168.63.129.17", true);
}

/// Of the protocols' block nothing is, Teredo among it whatever it carries.
#[test]
fn only_global_unicast_of_ipv6_is_public() {
    check(
        ":: ::1 ::2 ::ffff:0:8.8.8.8 100:: 100::1 64:ff9a::808:808 64:ff9b:1::808:808 64:ff9b::1:808:808 \
         1fff:ffff::1 4000:: 5f00::1 fc00:: fd12:3456::1 fdff:ffff::1 fe00::1 fe80:: fe80::1 febf:ffff::1 \
         fec0::1 feff::1 ff00:: ff02::1 ff0e::1 ffff:ffff:: 2001:: 2001:0:808:808::f7f7:f7f7 2001:1::1 \
         2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff::1 \
         3fff:: 3fff:fff:ffff::1 2620:4f:8000::1",
        false,
    );
    check(
        "2000:: 2001:200:: 2001:db7:ffff:: 2001:db9:: 2606:4700:4700::1111 2620:4f:7fff:: 2620:4f:8001:: \
         2a00:1450:4001:81b::200e 3ffe:ffff::1 3fff:1000::",
        true,
    );
}

/// Compatible addresses are used for nothing any more.
#[test]
fn an_address_within_an_address_counts() {
    check(
        "::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:0.0.0.0 ::ffff:255.255.255.255 \
         64:ff9b::127.0.0.1 64:ff9b::192.168.1.1 2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101:1:2:3:4:5 \
         2a00::5efe:10.0.0.1 2a00::200:5efe:192.168.0.1",
        false,
    );
    check(
        "::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1 2a00::5efe:8.8.8.8 2a00::200:5efe:8.8.8.8 \
         2a00::5eff:10.0.0.1",
        true,
    );
}

/// What the standard library says of an address of IPv4, with the words that it has.
fn by_words(address: Ipv4Addr) -> bool {
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || address.is_unspecified())
}

proptest! {
    #[test]
    fn nothing_that_has_a_name_is_public(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        prop_assert!(by_words(address) || !is_public(address.into()));
    }

    #[test]
    fn every_way_to_write_ipv4_is_as_public(bits in any::<u32>()) {
        let address = Ipv4Addr::from_bits(bits);
        let [a, b, c, d] = address.octets().map(u16::from);
        let (high, low) = (a << 8 | b, c << 8 | d);
        for written in [
            address.to_ipv6_mapped(),
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2a00, 0, 0, 0, 0, 0x5efe, high, low),
        ] {
            prop_assert_eq!(is_public(written.into()), is_public(address.into()));
        }
        prop_assert!(!is_public(address.to_ipv6_compatible().into()));
    }

    #[test]
    fn nothing_outside_2000_3_is_public_but_by_ipv4(bits in any::<u128>()) {
        let address = Ipv6Addr::from_bits(bits);
        let first = address.segments()[0];
        prop_assert!((0x2000..0x4000).contains(&first) || !is_public(address.into()));
    }
}
