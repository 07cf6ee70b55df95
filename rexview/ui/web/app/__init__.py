"""The app as a whole: shell, navigation, routes, theme, styles."""
