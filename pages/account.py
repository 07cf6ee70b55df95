"""Account: the user's name, signing in and out."""

from rexview.ui.account import show_account

show_account()
