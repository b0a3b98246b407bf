"""What a decision-maker reads: a summary as pure data, one self-contained page made of it, and static drawings."""

from evenleaf.report.page import page_html, write_page
from evenleaf.report.summary import Entry, Summary, summarise

__all__ = ["Entry", "Summary", "page_html", "summarise", "write_page"]
