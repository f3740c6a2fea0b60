//! Reference model, mirror, faults and the conformance suite of the store contract.
