//! The gateway's metrics page, read.

/// One scrape of `/metrics`.
#[derive(Clone, Debug)]
pub struct Metrics(Vec<Sample>);

#[derive(Clone, Debug)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Metrics {
    /// Reads the text exposition format.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(
            lines
                .map(|line| sample(line).unwrap_or_else(|| panic!("not a sample: {line}")))
                .collect(),
        )
    }

    /// The sum of all series of `name` that carry at least `labels`; `None` if there is no such series.
    #[must_use]
    pub fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let wanted = |sample: &&Sample| {
            sample.name == name
                && labels.iter().all(|(k, v)| {
                    sample
                        .labels
                        .iter()
                        .any(|(name, value)| name == k && value == v)
                })
        };
        let mut found = self
            .0
            .iter()
            .filter(wanted)
            .map(|sample| sample.value)
            .peekable();
        found.peek()?;
        Some(found.sum())
    }

    /// The same, with no such series counting as zero.
    #[must_use]
    pub fn count(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.get(name, labels).unwrap_or(0.0)
    }

    /// Every value the label `label` has in any series.
    #[must_use]
    pub fn label_values(&self, label: &str) -> Vec<&str> {
        let labels = self.0.iter().flat_map(|sample| &sample.labels);
        labels
            .filter(|(name, _)| name == label)
            .map(|(_, value)| value.as_str())
            .collect()
    }

    /// How many series there are.
    #[must_use]
    pub fn series(&self) -> usize {
        self.0.len()
    }
}

fn sample(line: &str) -> Option<Sample> {
    let (series, value) = line.rsplit_once(' ')?;
    let (name, labels) = match series.split_once('{') {
        None => (series, vec![]),
        Some((name, labels)) => (name, pairs(labels.strip_suffix('}')?)?),
    };
    Some(Sample {
        name: name.to_owned(),
        labels,
        value: value.parse().ok()?,
    })
}

fn pairs(mut text: &str) -> Option<Vec<(String, String)>> {
    let mut labels = Vec::new();
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = rest.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match chars.next()?.1 {
                    'n' => '\n',
                    other => other,
                }),
                (_, other) => value.push(other),
            }
        };
        labels.push((name.to_owned(), value));
        text = rest.get(end + 1..)?.trim_start_matches(',');
    }
    Some(labels)
}

#[cfg(test)]
mod tests {
    use super::Metrics;

    #[test]
    fn a_page_is_read() {
        let page = "# HELP x y\n# TYPE x counter\nx{a=\"1\",b=\"q\\\"\\\\\"} 2\nx{a=\"1\",b=\"z\"} 3\nbare 4.5\n";
        let metrics = Metrics::parse(page);
        assert_eq!(metrics.get("x", &[("a", "1")]), Some(5.0));
        assert_eq!(metrics.get("x", &[("b", "q\"\\")]), Some(2.0));
        assert_eq!(metrics.get("x", &[("a", "2")]), None);
        assert_eq!(metrics.get("bare", &[]), Some(4.5));
    }
}
