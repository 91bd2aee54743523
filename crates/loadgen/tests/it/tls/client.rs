//! The certificate of the client, and the address of the server.

use rcgen::IsCa;
use rustls::version::{TLS12, TLS13};
use wirebench_schema::load::{ClientCertificate, EngineChoice, Trust};

use super::{server::Identity, trusting};
use crate::{assert_golden, counted, each_engine, flawless, refusal, server::HELLO, try_load};

#[test]
fn a_client_shows_its_certificate_and_a_missing_one_is_named() {
    let (identity, client) = (Identity::local(), Identity::new(&["client"], IsCa::NoCa));
    let key = client.key_file();
    for version in [&TLS12, &TLS13] {
        each_engine(|engine| {
            let server = identity.serve_only(&client, version);
            let mut config = trusting(&identity, &server, engine, 12);
            assert_golden("tls-no-client-certificate", &refusal(&config));
            // The load meets the same where nothing is sent before it.
            config.method = "POST".to_owned();
            let told = try_load(&config).map(|report| format!("{:?}", report.error_examples));
            let told = told.unwrap_or_else(|error| error.to_string());
            assert!(told.contains("asks for a certificate of the client: give --cert"), "{told}");

            let key = key.path().to_str().unwrap().to_owned();
            config.client_certificate = Some(ClientCertificate { certificate: client.path(), key });
            flawless(&config);
        });
    }
}

#[test]
fn the_url_names_the_server_wherever_the_connection_leads() {
    let identity = Identity::new(&["shop.example"], IsCa::NoCa);
    let server = identity.serve(|_, tls| tls.answer(HELLO));
    let mut config = trusting(&identity, &server, EngineChoice::Auto, 12);
    config.target = "https://shop.example/".parse().unwrap();
    config.connect_to = Some(format!("tcp://127.0.0.1:{}", server.port()).parse().unwrap());
    flawless(&config);
}

#[test]
fn a_key_that_does_not_belong_to_the_certificate_is_refused() {
    let (client, other) = (Identity::local(), Identity::local());
    let key = other.key_file();
    let path = key.path().to_str().unwrap();
    let mut config = counted("https://127.0.0.1:1/", EngineChoice::Auto, 1);
    (config.trust, config.client_certificate) = (
        Trust::Anybody,
        Some(ClientCertificate { certificate: client.path(), key: path.to_owned() }),
    );
    assert_golden("tls-other-client-key", &refusal(&config).replace(path, "FILE"));
}
