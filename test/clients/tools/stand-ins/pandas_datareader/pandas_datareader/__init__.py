"""The part of pandas-datareader that reads FRED: see fred.py."""
