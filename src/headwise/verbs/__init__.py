"""What headwise does with files, each verb written once for all tasks: train, evaluate, predict, doctor.

The names are those of `headwise`: `from headwise import train_files`.
"""
