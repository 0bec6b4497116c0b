use super::*;
use serde_json::json;

#[test]
fn every_tool_is_read_only_and_describes_its_parameters_and_results() {
    let tools = tools::list();
    assert_eq!(tools.len(), 8);
    for tool in tools {
        let annotations = tool.annotations.expect("annotations");
        assert_eq!(
            (annotations.read_only_hint, annotations.open_world_hint),
            (Some(true), Some(false))
        );
        let input = Value::Object((*tool.input_schema).clone());
        assert_eq!(
            (&input["type"], &input["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{input}"
        );
        for (name, property) in input["properties"].as_object().expect("properties") {
            assert!(property["description"].is_string(), "{}: {name}", tool.name);
            if name == "limit" {
                let (least, most) = (&property["minimum"], property["maximum"].as_u64());
                assert_eq!(*least, json!(1), "{}", tool.name);
                let most = most.unwrap_or_else(|| panic!("{}: no maximum", tool.name));
                let described = property["description"].as_str().unwrap_or_default();
                assert!(
                    described.contains(&format!("at most {most}")),
                    "{described}"
                );
            }
        }
        assert!(tool.output_schema.expect("a schema")["required"].is_array());
    }
}
