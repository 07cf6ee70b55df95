"""Fetch pictures and review sets from S3-compatible storage, DICOMweb archives and HTTPS.

Only addresses that the settings allow, or that are in the set's own storage, are asked. Credentials
come from the environment and are sent only to the storage that they belong to. A download is
limited in size while it is read, and stored on disk completely or not at all.
"""
