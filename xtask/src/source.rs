//! Rust source seen by line: what is code, what is a string, what is a comment, what is test code.
//!
//! A small scanner, not a parser: it knows comments, string and character literals, and braces, which is all the checks
//! of sizes and names need.

use std::path::Path;

/// One line of a source file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The line without comments.
    pub(crate) code: String,
    /// The line without comments and without the contents of literals.
    pub(crate) bare: String,
    /// Part of an item under `#[cfg(test)]`.
    pub(crate) test: bool,
}

/// Whether a file holds tests, benches, examples or fuzz targets rather than what ships.
pub(crate) fn is_test_file(path: &Path) -> bool {
    let beside = ["tests", "benches", "examples", "fuzz"];
    path.components()
        .any(|part| beside.iter().any(|name| part.as_os_str() == *name))
        || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// Splits a file into lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut lines = strip(text);
    mark_tests(&mut lines);
    lines
}

enum Inside {
    Code,
    LineComment,
    BlockComment { depth: u32 },
    Text,
    RawText { hashes: usize },
}

fn strip(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line = Line::default();
    let mut inside = Inside::Code;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        if c == '\n' {
            if matches!(inside, Inside::LineComment) {
                inside = Inside::Code;
            }
            lines.push(std::mem::take(&mut line));
        } else {
            (taken, inside) = step(inside, rest, c, &mut line);
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    if line != Line::default() {
        lines.push(line);
    }
    lines
}

/// Consumes what starts at `rest` (never a line feed) and returns its length and the state after it.
fn step(inside: Inside, rest: &str, c: char, line: &mut Line) -> (usize, Inside) {
    let one = c.len_utf8();
    match inside {
        Inside::Code => code(rest, c, line),
        Inside::LineComment => (one, Inside::LineComment),
        Inside::BlockComment { depth } if rest.starts_with("*/") => (
            2,
            if depth == 1 {
                Inside::Code
            } else {
                Inside::BlockComment { depth: depth - 1 }
            },
        ),
        Inside::BlockComment { depth } if rest.starts_with("/*") => {
            (2, Inside::BlockComment { depth: depth + 1 })
        }
        Inside::BlockComment { depth } => (one, Inside::BlockComment { depth }),
        Inside::Text if c == '\\' => {
            let escaped = rest
                .chars()
                .nth(1)
                .filter(|next| *next != '\n')
                .map_or(0, char::len_utf8);
            line.code
                .push_str(rest.get(..1 + escaped).unwrap_or_default());
            (1 + escaped, Inside::Text)
        }
        Inside::Text => {
            line.code.push(c);
            (one, if c == '"' { Inside::Code } else { Inside::Text })
        }
        Inside::RawText { hashes } => {
            let ends = c == '"' && rest.chars().skip(1).take_while(|c| *c == '#').count() >= hashes;
            let taken = if ends { one + hashes } else { one };
            line.code.push_str(rest.get(..taken).unwrap_or_default());
            (taken, if ends { Inside::Code } else { inside })
        }
    }
}

fn code(rest: &str, c: char, line: &mut Line) -> (usize, Inside) {
    if rest.starts_with("//") {
        return (2, Inside::LineComment);
    }
    if rest.starts_with("/*") {
        return (2, Inside::BlockComment { depth: 1 });
    }
    let after_word = line
        .bare
        .ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if let Some(after) = rest.strip_prefix('r').filter(|_| !after_word) {
        let hashes = after.chars().take_while(|c| *c == '#').count();
        if after.chars().nth(hashes) == Some('"') {
            line.code
                .push_str(rest.get(..hashes + 2).unwrap_or_default());
            return (hashes + 2, Inside::RawText { hashes });
        }
    }
    if let Some(length) = (c == '\'').then(|| character(rest)).flatten() {
        line.code.push_str(rest.get(..length).unwrap_or_default());
        return (length, Inside::Code);
    }
    line.code.push(c);
    if c == '"' {
        return (1, Inside::Text);
    }
    line.bare.push(c);
    (c.len_utf8(), Inside::Code)
}

/// The length of the character literal at the start, or nothing where it is a lifetime.
fn character(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    let first = body.chars().next()?;
    let end = if first == '\\' {
        2 + body.get(2..)?.find('\'')?
    } else {
        first.len_utf8()
    };
    body.get(end..)?.starts_with('\'').then_some(end + 2)
}

/// Marks each item that follows `#[cfg(test)]`, from the attribute to its closing brace or semicolon.
fn mark_tests(lines: &mut [Line]) {
    let mut open = false;
    let mut depth = 0_usize;
    for line in lines {
        let starts = !open && line.bare.trim_start().starts_with("#[cfg(test)]");
        open |= starts;
        if !open {
            continue;
        }
        line.test = true;
        let body = line
            .bare
            .trim_start()
            .strip_prefix("#[cfg(test)]")
            .filter(|_| starts)
            .unwrap_or(&line.bare);
        for c in body.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(c, '}' | ';') {
                open = false;
            }
        }
    }
}

#[cfg(test)]
mod tests;
