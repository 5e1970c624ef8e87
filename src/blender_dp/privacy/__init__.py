"""Privacy promises: the unit, the loss, exact divergences and the findings of an audit."""
