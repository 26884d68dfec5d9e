//! A provider's translation, compiled from its [`Spec`]: one ready list of edits per surface and effort.

use serde_json::{Map, Value};

use crate::rules::{self, BUDGET_PATH};
use crate::{Ask, Edit, Effort, Limit, Refusal, Spec, Surface, SurfaceSpec, Violation, refusal};

/// How one provider wants reasoning efforts to be said. Immutable; made once per load of the configuration.
#[derive(Clone, Debug)]
pub struct Translation {
    chat_completions: Option<Plans>,
    responses: Option<Plans>,
}

/// What one surface does with each effort; an effort without a plan is unsupported.
#[derive(Clone, Debug)]
struct Plans {
    plans: Vec<(Effort, Plan)>,
    /// The supported efforts as the refusal lists them.
    supported: String,
}

#[derive(Clone, Debug)]
struct Plan {
    /// Tokens of reasoning written into the request, where a budget is.
    budget: Option<u64>,
    edits: Vec<Edit>,
}

impl Translation {
    /// Compiles a translation.
    ///
    /// # Errors
    /// Every rule the spec breaks, in the order of its members.
    pub fn new(spec: &Spec) -> Result<Self, Vec<Violation>> {
        let violations = rules::violations(spec);
        if !violations.is_empty() {
            return Err(violations);
        }
        let plans = |surface, spec: &Option<SurfaceSpec>| {
            spec.as_ref().map(|spec| Plans::compile(surface, spec))
        };
        Ok(Self {
            chat_completions: plans(Surface::ChatCompletions, &spec.chat_completions),
            responses: plans(Surface::Responses, &spec.responses),
        })
    }

    /// Whether the provider can serve the ask. One without a translation for its surface accepts everything.
    /// For a pool, ask every provider before any attempt; the first refusal is the answer.
    ///
    /// # Errors
    /// `unsupported_value` for an effort the provider does not support. Where the effort maps to a budget:
    /// 422 without a limit, 400 for a limit that is not a non-negative integer or not above the budget.
    pub fn check(&self, ask: &Ask) -> Result<(), Refusal> {
        let &Ask {
            surface,
            effort,
            limit,
        } = ask;
        let Some(plans) = self.plans(surface) else {
            return Ok(());
        };
        let Some(plan) = plans.of(effort) else {
            return Err(refusal::unsupported_effort(
                surface,
                effort,
                &plans.supported,
            ));
        };
        let Some(budget) = plan.budget else {
            return Ok(());
        };
        match limit {
            Limit::Missing => Err(refusal::limit_missing(surface, effort, budget)),
            Limit::Invalid { param } => Err(refusal::limit_not_a_count(param)),
            Limit::Tokens { param, tokens } if budget >= tokens => Err(refusal::limit_too_low(
                surface,
                effort,
                budget,
                (param, tokens),
            )),
            Limit::Tokens { .. } => Ok(()),
        }
    }

    /// The changes that say the ask in the provider's words, to be applied to the client's original body. Empty
    /// where the surface is not translated or the effort unsupported (which [`Translation::check`] refuses).
    #[must_use]
    pub fn edits(&self, ask: &Ask) -> &[Edit] {
        let plan = self
            .plans(ask.surface)
            .and_then(|plans| plans.of(ask.effort));
        plan.map_or(&[], |plan| plan.edits.as_slice())
    }

    fn plans(&self, surface: Surface) -> Option<&Plans> {
        match surface {
            Surface::ChatCompletions => self.chat_completions.as_ref(),
            Surface::Responses => self.responses.as_ref(),
            Surface::Completions => None,
        }
    }
}

impl Plans {
    /// Compiles a surface that keeps all rules: every write maps the same efforts.
    fn compile(surface: Surface, spec: &SurfaceSpec) -> Self {
        let plans: Vec<(Effort, Plan)> = Effort::ALL
            .into_iter()
            .filter_map(|effort| {
                let writes = spec.writes.iter().map(|write| {
                    let path = rules::segments(&write.target_path)?;
                    Some(Write {
                        path,
                        value: write.values.get(effort.name())?,
                    })
                });
                Some((
                    effort,
                    Plan::compile(surface, &writes.collect::<Option<Vec<_>>>()?),
                ))
            })
            .collect();
        let supported = Effort::list(plans.iter().map(|(effort, _)| *effort));
        Self { plans, supported }
    }

    fn of(&self, effort: Effort) -> Option<&Plan> {
        self.plans
            .iter()
            .find(|(known, _)| *known == effort)
            .map(|(_, plan)| plan)
    }
}

/// One write for one effort.
struct Write<'a> {
    path: Vec<&'a str>,
    value: &'a Value,
}

impl Plan {
    /// The canonical effort goes, unless a write puts something in its place, and each write is set.
    ///
    /// Writes below the canonical member would meet the client's string there. Since that member goes first,
    /// they are one write of a new object in its place. If other writes stay beside it in the same object,
    /// removing it can never leave that object empty.
    fn compile(surface: Surface, writes: &[Write<'_>]) -> Self {
        let canonical = surface.canonical_path();
        let (inside, outside): (Vec<&Write<'_>>, Vec<&Write<'_>>) = writes
            .iter()
            .partition(|w| w.path.len() > canonical.len() && w.path.starts_with(canonical));
        let mut edits = Vec::new();
        let replaced = outside.iter().any(|w| canonical.starts_with(&w.path));
        if !inside.is_empty() {
            let below = inside
                .iter()
                .filter_map(|w| Some((w.path.get(canonical.len()..)?, w.value)));
            edits.push(set(canonical, &object(below)));
        } else if !replaced {
            let beside = canonical
                .split_last()
                .map_or(canonical, |(_, parent)| parent);
            let lonely = !beside.is_empty() && !outside.iter().any(|w| w.path.starts_with(beside));
            edits.push(Edit::Remove {
                path: owned(canonical),
                drop_empty_parent: lonely,
            });
        }
        edits.extend(outside.iter().map(|w| set(&w.path, w.value)));
        let budget = writes
            .iter()
            .find(|w| w.path == [BUDGET_PATH.trim_start_matches('/')]);
        Self {
            budget: budget.and_then(|w| w.value.as_u64()),
            edits,
        }
    }
}

/// The object that holds each value at its path.
fn object<'a>(values: impl Iterator<Item = (&'a [&'a str], &'a Value)>) -> Value {
    let mut root = Value::Object(Map::new());
    for (path, value) in values {
        let slot = path.iter().try_fold(&mut root, |at, &segment| {
            if at.is_null() {
                *at = Value::Object(Map::new());
            }
            Some(at.as_object_mut()?.entry(segment).or_insert(Value::Null))
        });
        if let Some(slot) = slot {
            *slot = value.clone();
        }
    }
    root
}

fn set(path: &[&str], value: &Value) -> Edit {
    Edit::Set {
        path: owned(path),
        value: value.to_string(),
    }
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|&segment| segment.to_owned()).collect()
}

#[cfg(test)]
mod tests;
