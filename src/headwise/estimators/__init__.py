"""scikit-learn estimators, one for each task on texts."""
