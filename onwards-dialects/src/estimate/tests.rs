use super::prompt_tokens;
use crate::messages::read_count_request;

#[test]
fn a_quarter_of_the_bytes_and_of_what_stands_around_them() {
    for (members, bytes) in [
        (r#""messages":[{"role":"user","content":"hi"}]"#, 22_u64),
        (
            r#""messages":[{"role":"user","content":"\u00e9"}],"system":"s""#,
            22 + 16 + 6 + 1,
        ),
        (
            r#""messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a.example"}}]}]"#,
            16 + 4 + 340,
        ),
        (
            r#""messages":[{"role":"assistant","content":[{"type":"tool_use","id":"id","name":"fun","input":{"a": 1}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"id","content":"four"}]}]"#,
            16 + 9 + 2 + 3 + 7 + 16 + 4 + 2 + 4,
        ),
        (
            r#""messages":[],"tools":[{"name":"fun","description":"de","input_schema":{ "type" : "object" }}]"#,
            64 + 3 + 2 + 17,
        ),
        (r#""messages":[]"#, 0),
    ] {
        let body = format!("{{{members}}}");
        let request = read_count_request(body.as_bytes()).unwrap();
        assert_eq!(prompt_tokens(&request), bytes.div_ceil(4), "{members}");
    }
}
