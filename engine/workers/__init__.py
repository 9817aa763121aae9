"""What drains the lanes: scoring, settlement, delivery."""
