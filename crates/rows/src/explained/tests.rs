//! One tree in each format.

use super::{Actual, Estimate, ExplainedPlan, PlanNode, Planning, Property};
use std::time::Duration;

fn plan() -> ExplainedPlan {
    let scan = PlanNode {
        estimate: Estimate { cost: Some(4.5), rows: Some(10) },
        actual: Some(Actual { rows: 7, busy: None }),
        ..PlanNode::of("Range scan").titled("Range scan on t").naming("Relation name", "t")
    };
    let scan =
        scan.with([Property::new("Checked on rows", "c < '\"a\\b&\u{1}\"'"), Property::flag("Narrowed while running")]);
    let sort = PlanNode {
        actual: Some(Actual { rows: 3, busy: Some(Duration::from_micros(1500)) }),
        inputs: vec![scan, PlanNode { subplan: Some("Once 1".to_owned()), ..PlanNode::values(2) }],
        ..PlanNode::doing("Sort", "Sort key", "k DESC")
    };
    let phases = vec![("Bind", Duration::from_millis(1)), ("lower", Duration::from_millis(1))];
    let planning = Some(Planning { total: Duration::from_millis(2), phases });
    ExplainedPlan { roots: vec![sort], executor: Some("plan"), planning, execution: Some(Duration::from_millis(3)) }
}

#[test]
fn text_is_an_indented_tree() {
    let lines = [
        "Sort: k DESC (actual rows=3, busy=1.500 ms)",
        "  ->  Range scan on t (cost=4.50 rows=10) (actual rows=7)",
        "        Checked on rows: c < '\"a\\b&\u{1}\"'",
        "        Narrowed while running",
        "  Once 1",
        "  ->  Values: rows=2",
        "Executor: plan",
        "Planning Time: 2.000 ms",
        "  Bind: 1.000 ms, lower: 1.000 ms",
        "Execution Time: 3.000 ms",
    ];
    assert_eq!(plan().lines(), lines);
}

#[test]
fn json_has_the_names_of_postgresql() {
    let json = r#"[
  {
    "Plan": {
      "Node Type": "Sort",
      "Sort Key": "k DESC",
      "Total Cost": 4.50,
      "Actual Total Time": 1.500,
      "Actual Rows": 3,
      "Actual Loops": 1,
      "Plans": [
        {
          "Node Type": "Range Scan",
          "Relation Name": "t",
          "Checked On Rows": "c < '\"a\\b&\u0001\"'",
          "Narrowed While Running": true,
          "Total Cost": 4.50,
          "Plan Rows": 10,
          "Actual Rows": 7,
          "Actual Loops": 1
        },
        {
          "Node Type": "Values",
          "Subplan Name": "Once 1",
          "Values": "2"
        }
      ]
    },
    "Executor": "plan",
    "Planning Time": 2.000,
    "Planning Phases": {
      "Bind": 1.000,
      "Lower": 1.000
    },
    "Execution Time": 3.000
  }
]"#;
    assert_eq!(plan().json(), json);
}

#[test]
fn yaml_marks_the_items_of_lists() {
    let yaml = plan().yaml();
    let lines: Vec<&str> = yaml.lines().collect();
    assert_eq!(lines.first(), Some(&"- Plan: "));
    assert_eq!(lines.get(1), Some(&"    Node Type: \"Sort\""));
    assert_eq!(lines.iter().find(|line| line.contains("Plans")), Some(&"    Plans: "));
    assert!(lines.contains(&"      - Node Type: \"Range Scan\""));
    assert!(lines.contains(&"        Plan Rows: 10"));
    assert_eq!(lines.last(), Some(&"  Execution Time: 3.000"));
}

#[test]
fn xml_names_the_items_of_lists() {
    let xml = plan().xml();
    let lines: Vec<&str> = xml.lines().collect();
    assert_eq!(lines.first(), Some(&"<explain xmlns=\"http://www.postgresql.org/2009/explain\">"));
    assert!(lines.contains(&"      <Node-Type>Sort</Node-Type>"));
    assert!(lines.contains(&"      <Plans>"));
    assert!(lines.contains(&"        <Plan>"));
    assert!(lines.contains(&"          <Checked-On-Rows>c &lt; '\"a\\b&amp;\u{1}\"'</Checked-On-Rows>"));
    assert_eq!(lines.last(), Some(&"</explain>"));
}

#[test]
fn no_node_is_a_result() {
    assert_eq!(ExplainedPlan::default().json().lines().nth(3), Some("      \"Node Type\": \"Result\""));
}
