//! The command that generates the load of a run by itself, for its record.

use wirebench_schema::{
    load::{
        Arrivals, Body, ClientCertificate, ClosedPolicy, EngineChoice, Expect, IdleMode,
        LatencyOrigin, LoadConfig, LoadModel, RateCurve, RequestSet, RequestSpec, Stop, Trust,
        Waiting,
    },
    units::write_duration,
};

/// The arguments of `wirebench load` that ask for `config`, for every field of it.
#[must_use]
pub fn load_arguments(config: &LoadConfig) -> Vec<String> {
    let mut words = Words::default();
    words.option("-t", &config.threads);
    words.option("-c", &config.connections);
    match config.stop {
        Stop::After(duration) => words.option("-d", &write_duration(duration)),
        Stop::Requests(requests) => words.option("-n", &requests),
        Stop::RequestsPerConnection(each) => words.option("-n", &format!("{each}/connection")),
    }
    words.option("--warmup", &write_duration(config.warmup));
    words.option("--timeout", &write_duration(config.timeout));
    words.option("--interval", &write_duration(config.interval));
    words.option("--seed", &config.seed);
    if config.engine != EngineChoice::Auto {
        words.option("--engine", &config.engine.name());
    }
    words.model(config);
    words.connections(config);
    let traits = config.target.protocol().traits();
    if traits.has_payload {
        words.option("--payload", &config.payload_bytes);
    }
    if traits.has_heads {
        words.http(config);
    }
    match &config.trust {
        Trust::System => {}
        Trust::File(path) => words.text("--ca", path),
        Trust::Anybody => words.flag("--insecure"),
    }
    if let Some(ClientCertificate { certificate, key }) = &config.client_certificate {
        words.text("--cert", certificate);
        words.text("--key", key);
    }
    words.0.push(config.target.to_string());
    words.0
}

#[derive(Debug, Default)]
struct Words(Vec<String>);

impl Words {
    fn flag(&mut self, name: &str) {
        self.0.push(name.to_owned());
    }

    fn option(&mut self, name: &str, value: &dyn ToString) {
        self.0.extend([name.to_owned(), value.to_string()]);
    }

    /// A value that may begin like an option, in one word with its name.
    fn text(&mut self, name: &str, value: &str) {
        self.0.push(format!("{name}={value}"));
    }

    fn model(&mut self, config: &LoadConfig) {
        match &config.model {
            LoadModel::Closed => {}
            LoadModel::Think { delay } => self.option("--delay", &write_duration(*delay)),
            LoadModel::Rate { curve, arrivals, latency_from } => {
                match curve {
                    RateCurve::Constant(rate) => self.option("-R", rate),
                    RateCurve::Ramp(from, to) => self.option("-R", &format!("{from}:{to}")),
                    RateCurve::Steps(rates) => self.option("-R", &list(rates).replace(',', "/")),
                }
                if *arrivals == Arrivals::Poisson {
                    self.flag("--poisson");
                }
                if *latency_from == LatencyOrigin::Sent {
                    self.flag("--skip-late");
                }
            }
        }
        if config.pipeline != 1 {
            self.option("-p", &config.pipeline);
        }
        if config.waiting == Waiting::Spin {
            self.flag("--spin");
        }
        if config.idle == IdleMode::Awake {
            self.option("--idle", &config.idle);
        }
    }

    fn connections(&mut self, config: &LoadConfig) {
        let requests = config.requests_per_connection.iter();
        requests.for_each(|it| self.option("--requests-per-connection", it));
        if config.idle_connections > 0 {
            self.option("--idle-connections", &config.idle_connections);
        }
        if !config.sources.is_empty() {
            let ranges = config.sources.iter();
            let ranges: Vec<String> =
                ranges.map(|range| format!("{}-{}", range.first, range.last)).collect();
            self.option("--source", &list(&ranges));
        }
        config.unix_socket.iter().for_each(|path| self.text("--unix-socket", path));
        config.connect_to.iter().for_each(|it| self.option("--connect-to", &it.authority()));
    }

    fn http(&mut self, config: &LoadConfig) {
        match &config.requests {
            None => {
                let expect = config.expect();
                self.request(&config.method, config.body.as_ref(), &expect);
            }
            Some(RequestSet { file: Some(file), order, seq, .. }) => {
                self.text("--requests", file);
                self.option("--order", order);
                seq.iter().for_each(|seq| self.option("--seq-from", &seq.from));
                self.expect(&config.expect());
            }
            // Only a file has several.
            Some(set) => {
                for RequestSpec { method, path, headers, body, expect, .. } in &set.requests {
                    self.request(method, body.as_ref(), expect);
                    self.text("--path", path);
                    self.headers(headers);
                }
            }
        }
        if config.on_closed == ClosedPolicy::Retry {
            self.flag("--retry-closed");
        }
        self.headers(&config.headers);
        config.heavy.iter().for_each(|heavy| self.option("--heavy", heavy));
        if config.head_limit_bytes != LoadConfig::USUAL_HEAD_LIMIT_BYTES {
            self.option("--head-limit", &config.head_limit_bytes);
        }
    }

    fn headers(&mut self, headers: &[(String, String)]) {
        for (name, value) in headers {
            self.text("--header", &format!("{name}: {value}"));
        }
    }

    fn request(&mut self, method: &str, body: Option<&Body>, expect: &Expect) {
        self.text("--method", method);
        match body {
            Some(Body::Text(text)) => self.text("--body", text),
            Some(Body::File(path)) => self.text("--body-file", path),
            None => {}
        }
        self.expect(expect);
    }

    fn expect(&mut self, expect: &Expect) {
        let texts = [
            ("--expect-body", &expect.body),
            ("--expect-body-file", &expect.body_file),
            ("--expect-contains", &expect.contains),
        ];
        for (name, text) in texts {
            text.iter().for_each(|text| self.text(name, text));
        }
        if expect.any {
            self.flag("--any-body");
        }
        if !expect.status.is_empty() {
            self.option("--expect-status", &list(&expect.status));
        }
    }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wirebench_schema::load::{RequestFile, RequestOrder};

    #[test]
    fn the_arguments_say_all_that_matters_to_the_protocol() {
        let mut config = LoadConfig::new("http://127.0.0.1:80/x".parse().unwrap());
        config.expect_body = Some("Hello world!".to_owned());
        let text = load_arguments(&config).join(" ");
        assert_eq!(
            text,
            "-t 2 -c 10 -d 10s --warmup 0s --timeout 2s --interval 1s --seed 1 --method=GET \
             --expect-body=Hello world! http://127.0.0.1:80/x"
        );
        config.idle = IdleMode::Awake;
        assert!(load_arguments(&config).join(" ").contains(" --seed 1 --idle awake --method=GET "));
        config.idle = IdleMode::Natural;
        config.expect_body = None;
        let file = RequestFile::parse("POST /order\nX-A: b", RequestOrder::InTurn).unwrap();
        let one = file.set;
        config.requests = Some(one.clone());
        let text = load_arguments(&config).join(" ");
        assert!(
            text.ends_with("--method=POST --path=/order --header=X-A: b http://127.0.0.1:80/x")
        );
        config.requests = Some(RequestSet { file: Some("a/b.txt".to_owned()), ..one });
        let text = load_arguments(&config).join(" ");
        assert!(
            text.ends_with("--requests=a/b.txt --order in-turn http://127.0.0.1:80/x"),
            "{text}"
        );
        config.requests = None;
        config.target = "tcp://127.0.0.1:80".parse().unwrap();
        let text = load_arguments(&config).join(" ");
        assert_eq!(
            text,
            "-t 2 -c 10 -d 10s --warmup 0s --timeout 2s --interval 1s --seed 1 --payload 64 \
             tcp://127.0.0.1:80"
        );
    }
}
