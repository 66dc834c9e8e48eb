"""What decides: the policies, and the admissions that follow from costs and counts alone."""
