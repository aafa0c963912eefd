//! Verdicts as JUnit XML, which every continuous integration reads: one test case for each rule.

use skillbench_worker::check::{Checked, Verdict};
use std::fmt::Write;

/// `suite`: what was checked.
pub fn of(suite: &str, checked: &[Checked]) -> String {
    let cases: Vec<&Checked> = checked.iter().filter(|one| one.verdict != Verdict::NotApplicable).collect();
    let count = |of: fn(&Verdict) -> bool| cases.iter().filter(|one| of(&one.verdict)).count();
    let (failures, skipped) =
        (count(|v| matches!(v, Verdict::Broken(_))), count(|v| matches!(v, Verdict::Unchecked(_))));
    let seconds: f64 = cases.iter().map(|one| one.took.as_secs_f64()).sum();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        xml,
        "<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\">",
        escaped(suite),
        cases.len()
    );
    cases.iter().for_each(|one| case(&mut xml, suite, one));
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn case(xml: &mut String, suite: &str, one: &Checked) {
    let name = escaped(&format!("{} {}", one.rule.number, one.rule.id));
    let _ = write!(
        xml,
        "    <testcase classname=\"skillbench.{}\" name=\"{name}\" time=\"{:.3}\"",
        escaped(suite),
        one.took.as_secs_f64()
    );
    let _ = match &one.verdict {
        Verdict::Broken(how) => writeln!(
            xml,
            ">\n      <failure message=\"{}\">{}\n{}</failure>\n    </testcase>",
            escaped(how),
            escaped(one.rule.sentence),
            escaped(how)
        ),
        Verdict::Unchecked(why) => writeln!(xml, ">\n      <skipped message=\"{}\"/>\n    </testcase>", escaped(why)),
        Verdict::Kept | Verdict::NotApplicable => writeln!(xml, "/>"),
    };
}

/// For text and for attributes. What XML 1.0 cannot hold at all is written as JSON writes it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // A line end in an attribute would be read as a space.
            '\n' | '\t' | '\r' => {
                let _ = write!(out, "&#{};", u32::from(character));
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            plain => out.push(plain),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillbench_worker::check::rule;
    use std::time::Duration;

    #[test]
    fn hostile_texts_stay_texts() {
        assert_eq!(
            escaped("a<b> & \"c\" 'd'\n\u{1b}[2J"),
            "a&lt;b&gt; &amp; &quot;c&quot; &apos;d&apos;&#10;\\u001b[2J"
        );
    }

    #[test]
    fn each_rule_that_says_something_is_a_case() {
        let one = |id, verdict| Checked { rule: rule(id).unwrap(), verdict, took: Duration::from_millis(1500) };
        let all = [
            one("described", Verdict::Kept),
            one("right", Verdict::Broken("1 < 2".into())),
            one("memory", Verdict::Unchecked("no device".into())),
            one("energy", Verdict::NotApplicable),
        ];
        let xml = of("acme", &all);
        assert!(xml.contains("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\" time=\"4.500\""), "{xml}");
        assert!(xml.contains("<failure message=\"1 &lt; 2\">A model&apos;s outputs are right."), "{xml}");
        assert!(xml.contains("<skipped message=\"no device\"/>") && !xml.contains("energy"), "{xml}");
    }
}
