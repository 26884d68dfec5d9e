//! JSON text, written member by member.

use crate::text::Str;

/// An object being written; closed when dropped by [`object`].
pub(crate) struct Obj<'o> {
    out: &'o mut String,
    first: bool,
}

/// An array being written.
pub(crate) struct Arr<'o> {
    out: &'o mut String,
    first: bool,
}

/// Writes an object.
pub(crate) fn object<R>(out: &mut String, write: impl FnOnce(&mut Obj<'_>) -> R) -> R {
    out.push('{');
    let mut object = Obj { out, first: true };
    let result = write(&mut object);
    object.out.push('}');
    result
}

/// Writes an array.
pub(crate) fn array<R>(out: &mut String, write: impl FnOnce(&mut Arr<'_>) -> R) -> R {
    out.push('[');
    let mut array = Arr { out, first: true };
    let result = write(&mut array);
    array.out.push(']');
    result
}

/// Appends a decimal number.
pub(crate) fn push_u64(number: u64, out: &mut String) {
    let mut digits = [b'0'; 20];
    let mut rest = number;
    let mut first = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        first -= 1;
        if rest == 0 {
            break;
        }
    }
    let written = digits.get(first..).unwrap_or_default();
    out.push_str(std::str::from_utf8(written).unwrap_or_default());
}

impl Obj<'_> {
    /// Begins a member whose value the caller appends. `name` is written as it is: a plain identifier.
    pub(crate) fn key(&mut self, name: &str) -> &mut String {
        self.out.push_str(if self.first { "\"" } else { ",\"" });
        self.first = false;
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }

    /// Begins a member whose name is any string.
    pub(crate) fn name(&mut self, name: &Str<'_>) -> &mut String {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        name.quote_into(self.out);
        self.out.push(':');
        self.out
    }

    /// A member that is JSON text already.
    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.key(name).push_str(json);
    }

    /// Members that are JSON text already: the inside of an object.
    pub(crate) fn more(&mut self, inside: &str) {
        if inside.is_empty() {
            return;
        }
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        self.out.push_str(inside);
    }

    /// A string member.
    pub(crate) fn str(&mut self, name: &str, value: &Str<'_>) {
        value.quote_into(self.key(name));
    }

    /// A string member that is not JSON text yet.
    pub(crate) fn text(&mut self, name: &str, value: &str) {
        onwards_json::quote_into(value, self.key(name));
    }

    pub(crate) fn u64(&mut self, name: &str, value: u64) {
        push_u64(value, self.key(name));
    }

    pub(crate) fn bool(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self, name: &str) {
        self.raw(name, "null");
    }

    pub(crate) fn object<R>(&mut self, name: &str, write: impl FnOnce(&mut Obj<'_>) -> R) -> R {
        object(self.key(name), write)
    }

    pub(crate) fn array<R>(&mut self, name: &str, write: impl FnOnce(&mut Arr<'_>) -> R) -> R {
        array(self.key(name), write)
    }
}

impl Arr<'_> {
    /// Begins an element that the caller appends.
    pub(crate) fn item(&mut self) -> &mut String {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        self.out
    }

    pub(crate) fn raw(&mut self, json: &str) {
        self.item().push_str(json);
    }

    pub(crate) fn str(&mut self, value: &Str<'_>) {
        value.quote_into(self.item());
    }

    pub(crate) fn object<R>(&mut self, write: impl FnOnce(&mut Obj<'_>) -> R) -> R {
        object(self.item(), write)
    }
}

#[cfg(test)]
mod tests {
    use super::{object, push_u64};

    #[test]
    fn members_and_elements_are_separated() {
        let mut out = String::new();
        object(&mut out, |o| {
            o.text("a", "x\"y");
            o.u64("n", u64::MAX);
            o.array("l", |l| {
                l.raw("1");
                l.object(|o| o.null("z"));
            });
            o.object("e", |o| o.more(""));
            o.more(r#""i":1,"j":2"#);
        });
        assert_eq!(
            out,
            r#"{"a":"x\"y","n":18446744073709551615,"l":[1,{"z":null}],"e":{},"i":1,"j":2}"#
        );
        let mut zero = String::new();
        push_u64(0, &mut zero);
        assert_eq!(zero, "0");
    }
}
