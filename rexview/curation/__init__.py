"""Questions in the making: proposed by models, scored, chosen by people, written as a set."""
