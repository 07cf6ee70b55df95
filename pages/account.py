"""Account: who you are here; signing in and out, one's name."""

from rexview.ui.account import show_account

show_account()
