//! `reasoning_translation`: shapes. Which efforts, paths and values are allowed, the surroundings know.

use super::{list, map, read};
use crate::gateway::{ReasoningSurface, ReasoningTranslation, ReasoningWrite};
use crate::members::Members;
use crate::node::Node;

pub(super) fn translation(node: &Node<'_>) -> Option<ReasoningTranslation> {
    let mut m = node.object("reasoning_translation")?;
    let before = node.reading.errors();
    let translation = ReasoningTranslation {
        path: node.path.to_string(),
        chat_completions: well_formed(&mut m, "chat_completions"),
        responses: well_formed(&mut m, "responses"),
    };
    let complete = node.reading.errors() == before;
    m.done();
    let empty = translation.chat_completions.is_none() && translation.responses.is_none();
    if complete || !empty {
        for broken in node.reading.surroundings.translation_problems(&translation) {
            let place = node.place(&broken.path);
            node.reading.error(&place, broken.found, broken.expected);
        }
    }
    Some(translation)
}

/// A surface, if nothing is wrong with its shape: rules of half a surface would only confuse.
fn well_formed(m: &mut Members<'_>, name: &'static str) -> Option<ReasoningSurface> {
    read(m, name, |node| {
        let before = node.reading.errors();
        let surface = surface(node)?;
        (node.reading.errors() == before).then_some(surface)
    })
}

fn surface(node: &Node<'_>) -> Option<ReasoningSurface> {
    let mut m = node.object("reasoning_surface")?;
    let unsupported = m
        .need("unsupported_efforts", "an array of efforts")
        .and_then(|node| list(&node, "an array of efforts", Node::string));
    let writes = m
        .need("writes", "an array of writes")
        .and_then(|node| list(&node, "an array of writes", write));
    m.done();
    Some(ReasoningSurface {
        path: node.path.to_string(),
        unsupported_efforts: unsupported?,
        writes: writes?,
    })
}

fn write(node: &Node<'_>) -> Option<ReasoningWrite> {
    let mut m = node.object("reasoning_write")?;
    let target_path = m
        .need("target_path", "a JSON pointer")
        .and_then(|node| node.string());
    let values = m.need("values", "an object of efforts").and_then(|node| {
        map(&node, "an object of efforts", |node| {
            Some(node.json.value())
        })
    });
    m.done();
    Some(ReasoningWrite {
        target_path: target_path?,
        values: values?,
    })
}
