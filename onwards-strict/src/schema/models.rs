//! The listing of models (component `ListModelsResponse`).

use super::{Fill, Node, Note, Shape, fill, need, tidy};

/// A listing.
pub(crate) static ANSWER: Node = Node::Object(&Shape::closed(&[
    fill("object", &Node::Fixed("\"list\""), Fill::Json("\"list\"")),
    need("data", &Node::List(&MODEL)),
    tidy("error", &Node::Dropped).note(Note::Error),
]));

static MODEL: Node = Node::Object(&Shape::closed(&[
    need("id", &Node::Text),
    fill("object", &Node::Fixed("\"model\""), Fill::Json("\"model\"")),
    fill("created", &Node::Integer, Fill::Created),
    fill("owned_by", &Node::Text, Fill::Json("\"\"")),
    tidy("shutdown_date", &Node::Text),
]));
