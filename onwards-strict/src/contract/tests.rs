use super::*;

#[test]
fn the_table_lists_rows_of_every_endpoint() {
    let table = contract_table();
    for row in [
        "## chat, answer",
        "| `choices[].message.content` | a string | `null` | kept |",
        "| `choices[].message.tool_calls[](custom).custom.input` | a string | fails | fails |",
        "## completions, chunk",
        "| `data[].embedding` | an array of numbers or a string | fails | fails |",
        "| `instructions[](function_call).arguments` | a string | fails | fails |",
        "| `instructions[](other)` | kept whole | | |",
        "| `output[].*` | the members of `instructions[]` in \"responses, answer\" | | |",
        "| `(response.completed).response.model` | the caller's model name | the caller's model name | as missing |",
        "| `(other).*` | kept whole | | |",
        "## models, answer",
        "## chat without strict mode, chunk",
    ] {
        assert!(table.contains(row), "{row}");
    }
    assert!(
        !table.contains("message.reasoning` |"),
        "moved members are not kept under their old name"
    );
}
