"""Laws of a scalar answer under each hypothesis of a family: what `questions.answer_law` asks of a belief."""
