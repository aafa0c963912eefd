//! What starts agents where a scheduler, a service manager or ssh does: texts to look at, and to hand on. The templates lie beside this file.
//!
//! Whatever is put into a template is quoted here as its kind of file wants it, and refused where it could end a line.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};
use serde::Serialize;
use skillbench_engine::quoted::{self, Unquotable};
use std::collections::BTreeMap;

const SLURM: &str = include_str!("slurm.sh");
const KUBERNETES: &str = include_str!("kubernetes.yaml");
const SYSTEMD: &str = include_str!("systemd.service");
const SSH: &str = include_str!("ssh.sh");
/// What ssh runs there.
const THERE: &str = include_str!("there.sh");

/// The longest name of a Job: a pod's is that with `-` and its index, in 63 characters.
const LONGEST_JOB: usize = 52;
/// The folder of a node of Kubernetes for what is not stored yet.
const NODE_SPOOL: &str = "/var/lib/skillbench/spool";

#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error(transparent)]
    Quote(#[from] Unquotable),
    #[error("'{0}' is no option of sbatch: expected a name such as partition, or NAME=VALUE")]
    Option(String),
    #[error("'{0}': an option of sbatch cannot hold a backslash here")]
    Backslash(String),
    #[error("expected {expected}, found '{found}'")]
    Pair { expected: &'static str, found: String },
    #[error("'{0}' is no machine that ssh could reach")]
    Machine(String),
    #[error("{0}")]
    Template(#[from] minijinja::Error),
}

/// What is started.
pub struct Start {
    /// Of whom the pass lets the agents in.
    pub fleet: String,
    pub program: String,
    /// The file of the pass. Kubernetes and ssh bring it to a place of their own.
    pub pass: String,
    /// Where results lie until the server has them, where that was asked for.
    pub spool: Option<String>,
    /// The other flags of the agent.
    pub arguments: Vec<String>,
}

impl Start {
    fn command(&self, pass: &str) -> Vec<String> {
        let begin = [self.program.as_str(), "fleet", "agent", pass].map(String::from);
        begin.into_iter().chain(self.flags()).collect()
    }

    fn flags(&self) -> Vec<String> {
        let spool = self.spool.iter().flat_map(|spool| ["--spool".into(), spool.clone()]);
        spool.chain(self.arguments.iter().cloned()).collect()
    }

    /// A batch script: an array of agents, with the user's own options of sbatch.
    ///
    /// # Errors
    /// An option that is none, or a text that no line can hold.
    pub fn slurm(&self, nodes: u32, options: &[String]) -> Result<String, LaunchError> {
        let options: Result<Vec<String>, LaunchError> = options.iter().map(|option| sbatch(option)).collect();
        render(
            SLURM,
            context! {
                fleet => &self.fleet, last => nodes.saturating_sub(1), options => options?, program => shell(&self.program)?,
                pass => shell(&self.pass)?, arguments => shell_words(&self.flags())?
            },
        )
    }

    /// A manifest: a Job with an agent on each of so many nodes.
    ///
    /// # Errors
    /// A selector or a resource that is no `KEY=VALUE`.
    pub fn kubernetes(
        &self,
        image: &str,
        nodes: u32,
        selectors: &[String],
        resources: &[String],
    ) -> Result<String, LaunchError> {
        // Kubernetes puts variables in for `$(NAME)`, also where a user's text has that.
        let own = |words: &[String]| words.iter().map(|word| word.replace('$', "$$")).collect::<Vec<_>>();
        let fixed = ["fleet", "agent", "/pass/site.fleet", "--name", "$(NODE)", "--spool", "/spool", "--stopped-fails"];
        let program = own(std::slice::from_ref(&self.program));
        let command = [program, fixed.map(String::from).into(), own(&self.arguments)].concat();
        render(
            KUBERNETES,
            context! {
                fleet => &self.fleet, name => label(&self.fleet), nodes, image => yaml(image)?, command => yaml(&command)?,
                spool => yaml(self.spool.as_deref().unwrap_or(NODE_SPOOL))?,
                selectors => yaml(&pairs("KEY=VALUE, such as kubernetes.io/arch=arm64", selectors)?)?,
                resources => yaml(&pairs("NAME=COUNT, such as nvidia.com/gpu=8", resources)?)?,
            },
        )
    }

    /// A unit for this machine, of the user with this number.
    ///
    /// # Errors
    /// A path that a unit cannot hold.
    pub fn systemd(&self, user: u32) -> Result<String, LaunchError> {
        let command = quoted::unit_command(&self.command(&self.pass))?;
        render(SYSTEMD, context! { fleet => &self.fleet, command, user })
    }

    /// A script that starts an agent on each of these machines.
    ///
    /// # Errors
    /// A machine that cannot be one, or a text that no line can hold.
    pub fn ssh(&self, machines: &[String]) -> Result<String, LaunchError> {
        let is_none =
            |machine: &&String| machine.is_empty() || machine.starts_with('-') || machine.contains(char::is_whitespace);
        if let Some(machine) = machines.iter().find(is_none) {
            return Err(LaunchError::Machine(machine.clone()));
        }
        let arguments = shell_words(&self.flags())?;
        let there = render(THERE, context! { fleet => &self.fleet, program => shell(&self.program)?, arguments })?;
        // Whatever shell the user has there, a POSIX one reads the script.
        let there = format!("sh -c {}", quoted_lines(&there));
        let machines = shell_words(machines)?;
        render(
            SSH,
            context! { fleet => &self.fleet, pass => shell(&self.pass)?, machines, there => quoted_lines(&there) },
        )
    }
}

fn render(template: &str, values: Value) -> Result<String, LaunchError> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    Ok(environment.render_str(template, values)? + "\n")
}

fn shell(text: &str) -> Result<String, Unquotable> {
    quoted::shell("the text", text)
}

fn shell_words(words: &[String]) -> Result<String, Unquotable> {
    Ok(words.iter().map(|word| shell(word)).collect::<Result<Vec<_>, _>>()?.join(" "))
}

/// A text of several lines as one word of a shell.
fn quoted_lines(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// JSON is YAML.
fn yaml<T: Serialize + ?Sized>(value: &T) -> Result<String, LaunchError> {
    let text = serde_json::to_string(value)
        .map_err(|error| minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string()))?;
    Ok(text)
}

/// "partition=gpu" as "--partition=gpu".
fn sbatch(option: &str) -> Result<String, LaunchError> {
    let option = option.strip_prefix("--").unwrap_or(option);
    let (name, value) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !name.starts_with('-');
    if !is_name {
        return Err(LaunchError::Option(option.into()));
    }
    Ok(match value {
        // Within quotes sbatch takes it away, unlike a shell.
        Some(value) if value.contains('\\') => return Err(LaunchError::Backslash(option.into())),
        Some(value) => format!("--{name}={}", shell(value)?),
        None => format!("--{name}"),
    })
}

fn pairs(expected: &'static str, texts: &[String]) -> Result<BTreeMap<String, String>, LaunchError> {
    let pair = |text: &String| match text.split_once('=') {
        Some((key, value)) if !key.is_empty() && !value.is_empty() => Ok((key.to_string(), value.to_string())),
        _ => Err(LaunchError::Pair { expected, found: text.clone() }),
    };
    texts.iter().map(pair).collect()
}

/// What a fleet's things are called in Kubernetes.
fn label(fleet: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = "skillbench-".chars().chain(fleet.chars().map(plain)).take(LONGEST_JOB).collect();
    name.trim_end_matches('-').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            fleet: "lab".into(),
            program: "/opt/skill bench/host".into(),
            pass: "/home/ann's/site.fleet".into(),
            spool: Some("/var/spool place".into()),
            arguments: ["--idle-exit", "600", "--label", "note=a $(b) \"c\" %d"].map(String::from).into(),
        }
    }

    /// The words that a POSIX shell makes of a line.
    fn words(line: &str) -> Vec<String> {
        let script = format!("set -f; for word in {line}; do printf '%s\\n' \"$word\"; done");
        let told = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        String::from_utf8(told.stdout).unwrap().lines().map(String::from).collect()
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_gets_every_word_as_it_was() {
        let start = start();
        let script = start.slurm(8, &["partition=gpu".into(), "--constraint=a&b".into(), "spread-job".into()]).unwrap();
        assert!(script.contains("#SBATCH --array=0-7\n") && script.contains("#SBATCH --partition=gpu\n"), "{script}");
        assert!(
            script.contains("#SBATCH --constraint='a&b'\n") && script.contains("#SBATCH --spread-job\n"),
            "{script}"
        );
        let line =
            script.lines().find_map(|line| line.strip_prefix("'/opt").filter(|line| line.ends_with(" &"))).unwrap();
        let line = format!("'/opt{}", line.trim_end_matches(" &"));
        let node = "$SLURMD_NODENAME";
        let command = [&start.command(&start.pass)[..4], &["--name".into(), node.into()], &start.flags()[..]].concat();
        assert_eq!(words(&line.replace(&format!("\"{node}\""), &format!("'{node}'"))), command);

        let script = start.ssh(&["h1".into(), "ann@h2".into()]).unwrap();
        let there = script.split_once("-- \"$machine\" ").unwrap().1.split_once(" < \"$pass\"").unwrap().0;
        let told = std::process::Command::new("sh").args(["-c", &format!("printf %s {there}")]).output().unwrap();
        let there = String::from_utf8(told.stdout).unwrap();
        let inner = std::process::Command::new("sh").args(["-c", &there.replacen("sh -c", "printf %s", 1)]).output();
        let inner = String::from_utf8(inner.unwrap().stdout).unwrap();
        let line = inner.lines().find_map(|line| line.strip_prefix("nohup ")).unwrap();
        let line = line.split(" >> ").next().unwrap().replace("\"$folder/pass.fleet\"", "PASS");
        assert_eq!(words(&line), start.command("PASS"));
    }

    #[test]
    fn a_manifest_quotes_and_names_what_kubernetes_lets_in() {
        let start = Start { fleet: "The_Lab".into(), ..start() };
        let text = start
            .kubernetes("registry.example.org/skillbench:1", 3, &["a/b=c: d".into()], &["nvidia.com/gpu=8".into()])
            .unwrap();
        assert!(text.contains("  name: skillbench-the-lab\n") && text.contains("  completions: 3\n"), "{text}");
        assert!(text.contains(r#"nodeSelector: {"a/b":"c: d"}"#), "{text}");
        assert!(text.contains(r#"limits: {"nvidia.com/gpu":"8"}"#), "{text}");
        assert!(text.contains(r#""--label","note=a $$(b) \"c\" %d"]"#), "{text}");
        assert!(text.contains(r#"path: "/var/spool place""#) && text.matches("--spool").count() == 1, "{text}");
        assert_eq!(label(&"x".repeat(64)).len() + "-4294967295".len(), 63);
    }

    #[test]
    fn a_unit_has_the_command_as_systemd_reads_it() {
        let text = start().systemd(1000).unwrap();
        assert!(text.contains("User=1000\n"), "{text}");
        assert!(
            text.contains(r#"ExecStart="/opt/skill bench/host" "fleet" "agent" "/home/ann's/site.fleet""#),
            "{text}"
        );
        assert!(text.contains(r#""note=a $$(b) \"c\" %%d""#), "{text}");
    }

    #[test]
    fn what_could_end_a_line_or_is_no_option_is_refused() {
        let lines = |text: &str| Start { pass: text.into(), ..start() };
        assert!(lines("a\nb").slurm(1, &[]).is_err() && lines("a\nb").ssh(&["h1".into()]).is_err());
        assert!(lines("a\nb").systemd(0).is_err());
        for option in ["", "=gpu", "-p", "a b", "partition=a\nb", "wrap\n", "comment=a\\b"] {
            assert!(start().slurm(1, &[option.into()]).is_err(), "{option:?}");
        }
        assert!(start().kubernetes("i", 1, &["nothing".into()], &[]).is_err());
        for machine in ["", "-oProxyCommand=x", "a b"] {
            assert!(start().ssh(&[machine.into()]).is_err(), "{machine:?}");
        }
    }
}
