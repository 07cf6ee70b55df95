"""Import metric values of reports: tables, and JSON of programs that compute them."""
