"""Floods one room while others play, and tells what the others felt of it. ``codemojex flood`` is its command.

What happens is the same through the whole product (``product``) and through the lanes alone (``lanes_alone``): quiet
rooms guess at a fixed rate all along; first nobody else does, then one room floods, then the same load is spread
evenly over all rooms (``phases``). What was said is held against what became of it (``samples``, ``report``).
"""
