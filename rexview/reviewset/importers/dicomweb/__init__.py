"""A DICOMweb archive's list of studies as a review set; the pictures stay there."""
