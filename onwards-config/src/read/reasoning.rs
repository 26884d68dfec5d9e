//! `reasoning_translation`: shapes only. Which efforts, paths and values are allowed is known where they are
//! compiled.

use super::{list, map, read};
use crate::gateway::{ReasoningSurface, ReasoningTranslation, ReasoningWrite};
use crate::node::Node;

pub(super) fn translation(node: &Node<'_>) -> Option<ReasoningTranslation> {
    let mut m = node.object("reasoning_translation")?;
    let translation = ReasoningTranslation {
        path: node.path.to_string(),
        chat_completions: read(&mut m, "chat_completions", surface),
        responses: read(&mut m, "responses", surface),
    };
    m.done();
    Some(translation)
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
