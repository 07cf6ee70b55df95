"""Make the embedded demonstration review set: radiographs projected from one CT, invented texts.

Run ``python -m tools.demo --out assets/demo``; see ``tools/demo/README.md``. Not needed by the app.
"""
