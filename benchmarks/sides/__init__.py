"""The sides of the comparisons: each module is a program that does one thing and says how fast it was."""
