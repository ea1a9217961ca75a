"""Laws of a scalar answer under each hypothesis of a family: what `capabilities.answer_law` asks of a belief."""
