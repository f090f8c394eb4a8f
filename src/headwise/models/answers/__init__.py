"""From what a network and a linear expert say to answers. Nothing here imports torch."""
