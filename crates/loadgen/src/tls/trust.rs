//! Decides which certificates are accepted. Handshake signatures are always checked elsewhere, so
//! the server has the key of its certificate.

use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
    server::ParsedCertificate,
};
use std::sync::Arc;
use wirebench_schema::load::Trust;

use crate::{error::LoadError, plan::file};

/// The largest file of authorities; a whole system's are far below 1 MiB.
const AUTHORITIES_LIMIT_BYTES: u64 = 16 << 20;

#[derive(Debug)]
enum Accepted {
    Anybody,
    /// Certificates issued by a trusted authority.
    Vouched(Arc<WebPkiServerVerifier>),
    /// The same, and these certificates themselves: `openssl req -x509` makes self-signed server
    /// certificates that claim to be an authority.
    Named(Arc<WebPkiServerVerifier>, Vec<CertificateDer<'static>>),
}

#[derive(Debug)]
struct Verifier {
    accepted: Accepted,
    provider: Arc<CryptoProvider>,
}

/// The verifier that also accepts given certificates themselves.
pub(super) fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, LoadError> {
    let accepted = match trust {
        Trust::Anybody => Accepted::Anybody,
        Trust::System => {
            let found = rustls_native_certs::load_native_certs();
            let nothing = || {
                let reason = found
                    .errors
                    .first()
                    .map_or("none is installed".to_owned(), ToString::to_string);
                LoadError::Configuration(format!(
                    "this system trusts no authority for certificates ({reason}): install \
                     ca-certificates, or give --ca FILE or --insecure"
                ))
            };
            Accepted::Vouched(authorities(&found.certs, provider).ok_or_else(nothing)?)
        }
        Trust::File(path) => {
            let option = "--ca a PEM file with the certificate of the authority";
            let certificates = certificates(path, option)?;
            let vouching = authorities(&certificates, provider)
                .ok_or_else(|| unreadable(path, option, "it contains none"))?;
            Accepted::Named(vouching, certificates)
        }
    };
    Ok(Arc::new(Verifier { accepted, provider: Arc::clone(provider) }))
}

/// The certificates in a PEM file, at least one. `option` says what to give instead.
pub(super) fn certificates(
    path: &str,
    option: &str,
) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let failed = |reason: &str| unreadable(path, option, reason);
    let text = file::read(path, AUTHORITIES_LIMIT_BYTES).map_err(|reason| failed(&reason))?;
    let certificates = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| failed(&error.to_string()))?;
    if certificates.is_empty() { Err(failed("it contains none")) } else { Ok(certificates) }
}

fn unreadable(path: &str, option: &str, reason: &str) -> LoadError {
    LoadError::Configuration(format!(
        "no certificate can be read from `{path}` ({reason}): give {option}"
    ))
}

/// These authorities; nothing when none of them is one.
fn authorities(
    certificates: &[CertificateDer<'static>],
    provider: &Arc<CryptoProvider>,
) -> Option<Arc<WebPkiServerVerifier>> {
    let mut roots = RootCertStore::empty();
    // System stores contain some obsolete certificates that cannot be parsed.
    roots.add_parsable_certificates(certificates.iter().cloned());
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build().ok()
}

/// Whether a certificate is refused for its issuer alone. The verifier checks the time before that.
fn is_about_issuer(reason: &CertificateError) -> bool {
    use CertificateError as Reason;
    is_of_authority(reason)
        || matches!(
            reason,
            Reason::UnknownIssuer
                | Reason::BadSignature
                | Reason::UnsupportedSignatureAlgorithmContext { .. }
                | Reason::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
        )
}

/// Whether the certificate of the server claims to be an authority.
pub(crate) fn is_of_authority(reason: &CertificateError) -> bool {
    let CertificateError::Other(OtherError(error)) = reason else { return false };
    error.downcast_ref() == Some(&webpki::Error::CaUsedAsEndEntity)
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let (vouching, given) = match &self.accepted {
            Accepted::Anybody => return Ok(ServerCertVerified::assertion()),
            Accepted::Vouched(vouching) => (vouching, &[][..]),
            Accepted::Named(vouching, certificates) => (vouching, &certificates[..]),
        };
        let verdict =
            vouching.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verdict {
            Err(Error::InvalidCertificate(reason))
                if given.contains(end_entity) && is_about_issuer(&reason) =>
            {
                let certificate = ParsedCertificate::try_from(end_entity)?;
                verify_server_name(&certificate, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
