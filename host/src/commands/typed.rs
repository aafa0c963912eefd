//! The command line as results keep it.

/// The flag whose value is a secret: who has the address may post to it.
pub const SECRET: &str = "--alert-webhook";

/// What was typed, without secrets.
pub fn typed() -> Vec<String> {
    without_secrets(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()))
}

fn without_secrets(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_secret = false;
    let told = arguments.map(|argument| match argument.split_once('=') {
        _ if std::mem::take(&mut is_secret) => "...".into(),
        Some((SECRET, _)) => format!("{SECRET}=..."),
        _ => {
            is_secret = argument == SECRET;
            argument
        }
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn an_address_that_is_a_secret_is_not_kept() {
        let typed = ["host", "run", "--alert-webhook", "https://x/secret", "--quiet", "--alert-webhook=https://x/y"];
        let kept = without_secrets(typed.map(String::from).into_iter());
        assert_eq!(kept, ["host", "run", "--alert-webhook", "...", "--quiet", "--alert-webhook=..."]);
    }
}
