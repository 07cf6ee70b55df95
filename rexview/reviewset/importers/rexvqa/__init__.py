"""ReXVQA: multiple-choice questions about chest radiographs, and what models and readers chose."""
