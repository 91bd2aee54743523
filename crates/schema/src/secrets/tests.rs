//! Names, texts and documents, and that what stays can be read.

use super::*;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use expect_test::expect_file;
use serde_json::json;

#[test]
fn whole_words_of_a_name_say_that_it_is_secret() {
    let secret = "auth X-Auth x-auth-token Authorization Proxy-Authorization oauth2 key apiKey APIKey api_key \
                  --api-key X-Api-Key accesstoken authToken id_token token2 PGPASSWORD DB_PASSWORD passwd newPassword \
                  password_confirmation client_secret clientsecret Set-Cookie cookies session sessionid session-id \
                  JSESSIONID PHPSESSID credential credentials X-Amz-Signature signature passphrase -k3y-pwd sig otp";
    let public = "monkey keyboard --monkey keyspace cache-key-3 cache-key primaryKey max_tokens tokenizer author \
                  authored key-file TOKEN_PATH keys sessions sortKey obsession port GOGC Accept user publicKey \
                  pass-through --show-secrets";
    let wrong: Vec<&str> = secret.split_whitespace().filter(|it| !is_secret(it)).collect();
    assert_eq!(wrong, [""; 0], "are secret");
    let wrong: Vec<&str> = public.split_whitespace().filter(|it| is_secret(it)).collect();
    assert_eq!(wrong, [""; 0], "are not");
}

#[test]
fn secrets_of_a_text_are_hidden_in_whatever_form_it_has_them() {
    let lines = [
        "-H 'Authorization: Bearer abc' http://127.0.0.1/",
        "--header=Cookie: a=\"b c\"; c='d'",
        "\"Cookie: it's; b=c\" next",
        "x-csrf-token: a b; the cookie is stale, key: value, `token`: unknown",
        "<td>authorization: x</td> Authorization: ",
        "'env DB_URL=a b' srv --token=\"x y\" --api-key z --keys 1 --key ./k.pem --key s3 PASSWORD= {port}",
        "[\"env\",\"TOKEN=a\\\"b\",\"PORT={port}\",\"GOGC=off\",\"srv\",\"--password\",\"s\",\"--monkey\",\"m\"]",
        "[\n  \"--secret\",\n  \"it's\",\n  \"-credential\",\n  \"--port\"\n]",
        "<td>env &quot;TOKEN=a b&quot; srv --passwd=c</td> http://h/?token=t&amp;n=1 X=1 W=<b>",
        "a token=a, apikey=b and keyspace=c; --verbose --secret; HISTFAA+AAA=",
        "give --cert and --key, or give --key a PEM file",
        "http://ann:pw@host:80/a?n=1&session_id=2 redis://:p@h/0 user@host mailto:a@b http://h/a@b",
        "{\"user\":\"ann\",\"password\":\"a \\\"b\\\" c\",\"auth\":{\"pin\":[1]},\"token\": 5, \"A\":{\"n\":1}}",
        "user=ann&passwd=p q&n=5 /users?key={seq}&token=[redacted] /keyboard?monkey=1",
        "a[token]=b&user%5Bpass%5D=c&tok%65n=d&n=100% http://h/#token=e",
        "{\"query\":\"login(name: \\\"f\\\", password: \\\"g h\\\")\"}",
        "srv --user bob:pw -u 'ann:p w' -u 1000:1000 [\"--user\",\"bob:pw\"] <user><password>p w</password></user>",
        "error: '{\\\"token\\\": \\\"a b\\\", \\\"n\\\": 1}' is wrong",
    ];
    let shown = lines
        .map(|line| format!("{line}\n  {}\n  {}\n", hidden_text(line), hidden_variables(line)));
    expect_file!["../golden/secrets.txt"].assert_eq(&shown.concat());
}

#[test]
fn what_is_hidden_stays_different_and_is_not_hidden_again() {
    let mut secrets = Secrets::default();
    let texts = ["/a?token=1", "/b?token=2", "/a?token=2", "/a?token=1", "/a"];
    let hidden = texts.map(|it| secrets.text(it));
    let expected = ["/a?token=[redacted]", "/b?token=[redacted]", "/a?token=[redacted-2]"];
    assert_eq!(hidden[..3], expected);
    assert_eq!(hidden[3..], ["/a?token=[redacted]", "/a"]);
    assert_eq!(hidden.clone().map(|it| hidden_text(&it)), hidden);
    let form = "; name=\"token\"\r\nA: b\r\n\r\nc\r\nd\r\n--b; name=\"n\"\r\n\r\n1\r\n--b--";
    assert_eq!(hidden_text(form), form.replace("c\r\nd", REDACTED));
    let twice = r#"{"token":"[redacted-2]","n":1} --key [redacted-3] x-auth: [redacted-2]"#;
    assert_eq!(hidden_text(twice), twice);
}

#[test]
fn commands_header_lines_and_texts_of_a_document_are_hidden() {
    let document = json!({
        "command": ["srv", "--token", "a b", "--key=c d", "TOKEN=e f", "env TOKEN=g srv", "-H", "session: h",
                    "--port", "1", "--key", "abc", "-u", "ann:pw"],
        "headers": [["Cookie", "a=\"b\"; c=d"], ["x-auth", "1"], ["x-auth", "2"], ["Accept", "x"]],
        "versions": {"cookie": "1.2"}, "token": 3, "body": {"text": "{\"token\":\"i\"}"}
    });
    let expected = json!({
        "command": ["srv", "--token", "[redacted]", "--key=[redacted]", "TOKEN=[redacted]", "env TOKEN=[redacted] srv",
                    "-H", "session: [redacted]", "--port", "1", "--key", "[redacted-2]", "-u", "ann:[redacted]"],
        "headers": [["Cookie", "[redacted]"], ["x-auth", "[redacted]"], ["x-auth", "[redacted-2]"], ["Accept", "x"]],
        "versions": {"cookie": "1.2"}, "token": 3, "body": {"text": "{\"token\":\"[redacted]\"}"}
    });
    assert_eq!(hidden(document.clone()).unwrap(), expected);
    let text = format!("{{\"a\":1}}\n{document}\n{{\"cut");
    assert_eq!(hidden_json(&text), format!("{{\"a\":1}}\n{expected}\n{{\"cut"));
    assert_eq!(hidden(expected.clone()).unwrap(), expected);
}

#[test]
fn a_load_without_secrets_reads_back() {
    let target = "http://h:1/a[x]?token=1&b=2".parse().unwrap();
    let config = crate::load::LoadConfig::new(target);
    assert_eq!(hidden(config).unwrap().target.to_string(), "http://h:1/a[x]?token=[redacted]&b=2");
}

#[test]
fn values_that_were_given_are_hidden_without_their_names_and_short_ones_are_not() {
    learn(&json!([
        ["-H", "X-Auth: Bearer Given01", "-H", "Cookie: theme=dark; sid=\"Given02\"", "--user", "ann:Given03"],
        ["http://ann:Given%2004@h/?key=Given%2F05&n=1", "TOKEN=Given 06", "-H", "Authorization Given07"],
        "{\"pass\\u0077ord\": \"Given08\", \"token\": {\"a\": [\"Given09\", 1]}}\n{\"jwt\": \"Given10\"}",
        {"headers": [{"name": "x-secret", "value": "Given11"}], "SECRET": "Given12", "otp": "4711 0815"},
        ["Authorization: Basic Ym9iOkdpdmVuMTM=", "password: Given14", "--pwd", "short", "otp=48154711"],
        "<user><password>Given15</password></user>",
    ]));
    for number in 1..=15 {
        let text = format!("Given{number:02} is not known");
        let text = text.replace("04", " 04").replace("05", "/05").replace("06", " 06");
        assert_eq!(hidden_text(&text), "[redacted] is not known", "{text}");
    }
    let encoded = format!("got {}", BASE64_STANDARD.encode("ann:Given 04"));
    assert_eq!(hidden_text(&encoded), "got [redacted]");
    let harmless = "a short Bearer of 148154711 in the dark";
    assert_eq!(hidden_text(harmless), harmless);
    assert_eq!(hidden_text("x48154711x"), "x[redacted]x");
    assert_eq!(hidden_text("got Giv… and Given0…, Gi…"), "got [redacted]… and [redacted]…, Gi…");
    let record = json!({"stderr": "tokenGiven01x and Given02"});
    assert_eq!(hidden(record).unwrap(), json!({"stderr": "token[redacted]x and [redacted]"}));
}

#[test]
fn the_file_of_a_key_is_no_secret() {
    learn(&json!({"certificate": {"key": "./client.pem"}}));
    assert_eq!(hidden_text("cannot read ./client.pem"), "cannot read ./client.pem");
}

#[test]
fn a_stored_document_is_searched_for_its_own_values_and_an_id_that_is_one_stays() {
    let journal =
        "{\"command\": [\"env\", \"TOKEN=Stored01\"]}\n{\"stderr\": \"no Stored01 here\"}\n";
    assert_eq!(
        hidden_json(journal),
        "{\"command\":[\"env\",\"TOKEN=[redacted]\"]}\n{\"stderr\":\"no [redacted] here\"}\n"
    );
    learn(&["--password", "c/given-id"]);
    let id: crate::id::VariantId = "c/given-id".parse().unwrap();
    let [text, shown] = ["--token x", "--token [redacted]"].map(str::to_owned);
    assert_eq!(hidden((id.clone(), text)).unwrap(), (id, shown));
}
