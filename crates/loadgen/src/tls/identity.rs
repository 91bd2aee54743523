//! The certificate of the client, and whether a server has asked for one.

use rustls::{
    SignatureScheme,
    client::ResolvesClientCert,
    crypto::ring::sign::any_supported_type,
    pki_types::{PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use wirebench_schema::load::ClientCertificate;

use super::trust;
use crate::{error::LoadError, plan::file};

/// The largest file with a key.
const KEY_LIMIT_BYTES: u64 = 1 << 20;

/// The certificate that a server gets if it asks for one.
#[derive(Debug, Default)]
pub(super) struct Identity {
    certified: Option<Arc<CertifiedKey>>,
    asked: AtomicBool,
}

impl Identity {
    /// Reads the files, if there are any.
    pub(super) fn new(given: Option<&ClientCertificate>) -> Result<Self, LoadError> {
        let Some(ClientCertificate { certificate, key: key_path }) = given else {
            return Ok(Self::default());
        };
        let failed = |reason: String| {
            LoadError::Configuration(format!(
                "no key can be read from `{key_path}` ({reason}): give --key a PEM file with the key of the \
                 certificate, without a passphrase"
            ))
        };
        let chain = trust::certificates(certificate, "--cert a PEM file with that of the client")?;
        let text = file::read(key_path, KEY_LIMIT_BYTES).map_err(failed)?;
        let key =
            PrivateKeyDer::from_pem_slice(&text).map_err(|error| failed(error.to_string()))?;
        let key = any_supported_type(&key).map_err(|error| failed(error.to_string()))?;
        let certified = CertifiedKey::new(chain, key);
        certified.keys_match().map_err(|error| failed(error.to_string()))?;
        Ok(Self { certified: Some(Arc::new(certified)), asked: AtomicBool::new(false) })
    }

    /// Whether a server has asked for a certificate and there was none.
    pub(super) fn is_missing(&self) -> bool {
        self.certified.is_none() && self.asked.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.asked.store(true, Ordering::Relaxed);
        self.certified.clone()
    }

    fn has_certs(&self) -> bool {
        self.certified.is_some()
    }
}
