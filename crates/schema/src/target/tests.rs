//! Targets as they are written, shown and refused.

use super::*;

#[test]
fn http_and_echo_targets_read_back_as_they_are_shown() {
    for text in [
        "http://127.0.0.1:80/",
        "http://localhost:8080/a?b=c",
        "https://localhost:8443/",
        "tcp://[::1]:7000",
        "http://[fe80::1%25v0]:80/a",
        "unix:/run/a b.socket",
    ] {
        assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
    }
    let target: Target = "http://h:1".parse().unwrap();
    assert_eq!((target.path(), target.authority().as_str()), ("/", "h:1"));
}

#[test]
fn a_url_may_lack_its_port_and_its_scheme_may_be_in_upper_case() {
    for (text, meant) in [
        ("http://localhost", "http://localhost:80/"),
        ("http://localhost/a?b", "http://localhost:80/a?b"),
        ("http://[::1]/", "http://[::1]:80/"),
        ("https://localhost/", "https://localhost:443/"),
        ("HTTP://h:1/A", "http://h:1/A"),
        ("Https://h:1/", "https://h:1/"),
        ("TCP://h:1", "tcp://h:1"),
        ("UNIX:/Run/A", "unix:/Run/A"),
    ] {
        assert_eq!(text.parse::<Target>().unwrap(), meant.parse().unwrap());
        assert_eq!(text.parse::<Target>().unwrap().to_string(), meant);
    }
}

#[test]
fn the_host_field_has_no_usual_port_and_no_zone() {
    for (text, field) in [
        ("http://localhost/", "localhost"),
        ("https://localhost/", "localhost"),
        ("http://localhost:80/", "localhost"),
        ("https://localhost:80/", "localhost:80"),
        ("http://[::1]/", "[::1]"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://[fe80::1%25v0]:8080/", "[fe80::1]:8080"),
        ("http://[fe80::1%v0]/", "[fe80::1]"),
    ] {
        assert_eq!(text.parse::<Target>().unwrap().host_field(), field, "{text}");
    }
}

#[test]
fn a_zone_is_accepted_as_in_a_url_and_as_programs_print_it() {
    for (text, host) in [
        ("http://[fe80::1%25v0]/", "fe80::1%v0"),
        ("tcp://[fe80::1%v0]:7", "fe80::1%v0"),
        ("http://[fe80::1%25]/", "fe80::1%25"),
    ] {
        let target: Target = text.parse().unwrap();
        assert_eq!((target.host(), target.host_without_zone()), (host, "fe80::1"), "{text}");
    }
    let unix: Target = "unix:/run/a:b%c".parse().unwrap();
    assert_eq!(unix.host_without_zone(), "/run/a:b%c");
}

#[test]
fn each_mistake_names_the_next_step() {
    let texts = [
        "localhost:8080",
        "tcp://localhost",
        "unix:",
        "ftp://localhost:21/",
        "http://localhost:/",
        "http://[::1]:/",
        "tcp://[::1]",
        "tcp://localhost:",
        "http://localhost:0/",
        "http://localhost:99999/",
        "http://localhost:abc/",
        "tcp://localhost:1/x",
        "http://:80/",
        "http://a b:80/",
    ];
    let text = crate::mistakes::of_texts::<Target>(&texts);
    expect_test::expect_file!["../golden/target.txt"].assert_eq(&text);
}
