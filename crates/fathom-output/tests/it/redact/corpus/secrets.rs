//! Keys, tokens and passwords that nobody uses.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::values::{ALNUM, HEX, LETTERS, TOKEN, value};
use super::{Rng, Value};

pub(crate) fn service_key(rng: &mut Rng) -> Value {
    let text = match rng.below(34) {
        0 => format!("AKIA{}", rng.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
        1 => format!(
            "{}{}",
            rng.pick(&["ghp_", "gho_", "ghs_"]),
            rng.chars(ALNUM, 36)
        ),
        2 => format!(
            "github_pat_{}_{}",
            rng.chars(ALNUM, 22),
            rng.chars(ALNUM, 59)
        ),
        3 => format!("glpat-{}", rng.chars(TOKEN, 20)),
        4 => format!(
            "xoxb-{}-{}-{}",
            rng.digits(12),
            rng.digits(12),
            rng.chars(ALNUM, 24)
        ),
        5 => format!(
            "{}{}",
            rng.pick(&["sk_live_", "rk_live_", "sk_test_"]),
            rng.chars(ALNUM, 24)
        ),
        6 => format!("AIza{}", rng.chars(TOKEN, 35)),
        7 => format!("sk-proj-{}", rng.chars(TOKEN, 74)),
        8 => format!(
            "sk-{}T3BlbkFJ{}",
            rng.chars(ALNUM, 20),
            rng.chars(ALNUM, 20)
        ),
        9 => format!(
            "sk-ant-api03-{}-{}AA",
            rng.chars(TOKEN, 80),
            rng.chars(ALNUM, 6)
        ),
        10 => format!("npm_{}", rng.chars(ALNUM, 36)),
        11 => format!("pypi-AgEIcHlwaS5vcmc{}", rng.chars(TOKEN, 80)),
        12 => format!("SK{}", rng.chars(HEX, 32)),
        13 => format!("SG.{}.{}", rng.chars(TOKEN, 22), rng.chars(TOKEN, 43)),
        14 => format!("glrt-{}", rng.chars(TOKEN, 20)),
        15 => format!("xoxp-{}-{}", rng.digits(12), rng.chars(HEX, 32)),
        16 => format!("sbp_{}", rng.chars(HEX, 40)),
        17 => format!("GOCSPX-{}", rng.chars(TOKEN, 28)),
        18 => format!("ya29.{}", rng.chars(TOKEN, 120)),
        19 => format!("whsec_{}", rng.chars(ALNUM, 32)),
        20 => format!("dop_v1_{}", rng.chars(HEX, 64)),
        21 => format!("shpat_{}", rng.chars(HEX, 32)),
        22 => format!("hvs.{}", rng.chars(TOKEN, 90)),
        23 => format!("gsk_{}", rng.chars(ALNUM, 52)),
        24 => format!("xai-{}", rng.chars(ALNUM, 80)),
        25 => format!("sk-or-v1-{}", rng.chars(HEX, 64)),
        26 => format!("glsa_{}_{}", rng.chars(ALNUM, 32), rng.chars(HEX, 8)),
        27 => format!("dckr_pat_{}", rng.chars(TOKEN, 27)),
        28 => format!("lin_api_{}", rng.chars(ALNUM, 40)),
        29 => format!("dapi{}", rng.chars(HEX, 32)),
        30 => format!("ntn_{}", rng.chars(ALNUM, 46)),
        31 => format!("PMAK-{}-{}", rng.chars(HEX, 24), rng.chars(HEX, 34)),
        32 => format!("figd_{}", rng.chars(TOKEN, 40)),
        _ => format!("hf_{}", rng.chars(ALNUM, 34)),
    };
    let mut value = value("secret", text, &["key", "token", "credential"]);
    value.row = "secret, key of a service";
    value
}

pub(crate) fn jwt(rng: &mut Rng) -> Value {
    let head = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
    let body = URL_SAFE_NO_PAD.encode(format!(
        r#"{{"sub":"{}","iat":{}}}"#,
        rng.chars(LETTERS, 8),
        rng.digits(10)
    ));
    value(
        "jwt",
        format!("{head}.{body}.{}", rng.chars(TOKEN, 43)),
        &[],
    )
}

pub(crate) fn private_key(rng: &mut Rng) -> Value {
    let kind = rng.pick(&["", "RSA ", "EC ", "OPENSSH "]);
    let bytes: Vec<u8> = (0..300).map(|_| rng.next().to_le_bytes()[0]).collect();
    let body = STANDARD.encode(bytes);
    let end = if rng.chance(70) { "\n" } else { "\\n" };
    let lines: Vec<String> = body
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let text = format!(
        "-----BEGIN {kind}PRIVATE KEY-----{end}{}{end}-----END {kind}PRIVATE KEY-----",
        lines.join(end)
    );
    let mut value = value("private_key", text, &[]);
    value.frame = Some(
        rng.pick(&["$", "key: \"$\"", "Here it is:\n$\nKeep it safe."])
            .to_owned(),
    );
    value
}

pub(crate) fn assigned_key(rng: &mut Rng) -> Value {
    let text = match rng.below(4) {
        0 => rng.chars(HEX, 32),
        1 => rng.chars(ALNUM, 40),
        2 => rng.fill("hhhhhhhh-hhhh-4hhh-ahhh-hhhhhhhhhhhh"),
        _ => STANDARD.encode(rng.chars(ALNUM, 24)),
    };
    let mut value = value("secret", text, &[]);
    value.row = "secret, after a word";
    let frame = rng.pick(&[
        "api_key=$",
        "API_KEY = \"$\"",
        "{\"apiKey\": \"$\"}",
        "client_secret: $",
        "Authorization: Bearer $",
        "X-Api-Key: $",
        "aws_secret_access_key = $",
        "\"access_token\":\"$\"",
        "export AUTH_TOKEN='$'",
        "curl -H 'Authorization: Bearer $' https://example.org",
        "secret=\"$\",",
        "token: $",
        "?access_token=$&page=2",
        "DefaultEndpointsProtocol=https;AccountKey=$;EndpointSuffix=core",
        "  clientSecret: '$'",
        "const apiKey = `$`;",
        "    auth_token => '$',",
        "<add key=\"ApiKey\" value=\"$\"/>",
        "level=info msg=\"ok\" api_key=$ took=3",
    ]);
    value.frame = Some(frame.to_owned());
    value
}

pub(crate) fn password(rng: &mut Rng) -> Value {
    let text = match rng.below(4) {
        0 => format!("{}{}!", rng.chars(LETTERS, 6), rng.digits(2)),
        1 => rng.chars(ALNUM, 12) + "7x",
        2 => format!(
            "{}-{}{}#",
            rng.chars(LETTERS, 5),
            rng.chars(LETTERS, 5),
            rng.digits(3)
        ),
        _ => format!(
            "Tr0ub{}{}",
            rng.chars(LETTERS, 4),
            rng.chars("!#%&*", 1).replace('&', "#")
        ),
    };
    let mut value = value("password", text, &[]);
    let frame = rng.pick(&[
        "password: $",
        "password=$",
        "{\"password\": \"$\"}",
        "DB_PASSWORD=$",
        "pwd='$'",
        "Passwort: $",
        "mot de passe : $",
        "The password is $ for now.",
        "login --user ann --password $ --host h",
        "passwd = \"$\"",
        "contraseña: $",
        "PGPASSWORD=$ psql -h db",
        "spring.datasource.password=$",
        "Kennwort: $",
        "senha: $",
        "hasło: $",
        "<password>$</password>",
        "user=ann;pwd=$;db=main",
    ]);
    value.frame = Some(frame.to_owned());
    value
}
