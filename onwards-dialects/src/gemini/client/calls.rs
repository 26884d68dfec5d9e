//! Which call a result answers, where clients say so by an id, by a name, or by order alone.

use std::collections::{BTreeMap, VecDeque};

use crate::text::Str;

/// Calls that have no result yet.
#[derive(Default)]
pub(super) struct Calls<'a> {
    /// All calls in order; `None` for one that has its result.
    all: Vec<Option<Str<'a>>>,
    by_id: BTreeMap<String, usize>,
    /// Calls of a function, oldest first; those with results are taken out when they are come by.
    by_name: BTreeMap<String, VecDeque<usize>>,
    /// Those of them whose ids were made here.
    nameless: BTreeMap<String, VecDeque<usize>>,
}

impl<'a> Calls<'a> {
    /// A call; `given`: the id is the client's own.
    pub(super) fn open(&mut self, name: &Str<'a>, id: Str<'a>, given: bool) {
        let name = name.decoded().into_owned();
        let place = self.all.len();
        self.by_id.insert(id.decoded().into_owned(), place);
        if !given {
            let queue = self.nameless.entry(name.clone()).or_default();
            queue.push_back(place);
        }
        self.by_name.entry(name).or_default().push_back(place);
        self.all.push(Some(id));
    }

    /// The id of the call that a result answers: the one it gives, or that of the oldest call of the same function that has no
    /// result. A result that answers nothing goes by its name.
    pub(super) fn answer(&mut self, name: &Str<'a>, given: Option<Str<'a>>) -> Str<'a> {
        let known = given
            .as_ref()
            .and_then(|id| self.by_id.remove(&*id.decoded()))
            .and_then(|place| self.all.get_mut(place)?.take());
        if let Some(id) = known {
            return id;
        }
        let queues = match given {
            Some(_) => &mut self.nameless,
            None => &mut self.by_name,
        };
        let queue = queues.get_mut(&*name.decoded());
        let oldest = queue.and_then(|queue| {
            std::iter::from_fn(|| queue.pop_front())
                .find_map(|place| self.all.get_mut(place)?.take())
        });
        oldest.unwrap_or_else(|| given.unwrap_or_else(|| name.clone()))
    }
}
