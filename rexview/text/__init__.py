"""Read texts: how they end, the findings and boxes they contain, and the option they choose."""
