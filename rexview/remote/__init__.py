"""Pictures and review sets that lie elsewhere: S3-compatible storage, DICOMweb, HTTPS.

Nothing is asked but addresses that the settings allow, or that lie in the set's own storage.
Credentials come from the environment and go to the storage that they are for. What is fetched is
bounded while it is read, and kept on disk whole or not at all.
"""
