"""Estimators with the interface of scikit-learn, one for each task on texts."""
