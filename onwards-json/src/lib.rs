//! JSON text as spans: one validating pass, members by place, edits spliced into the original bytes.
