"""How a data set treats its groups, as pure data: what the command line and reports show."""

from evenleaf.audit.examine import SMALL_GROUP, audit, audit_file
from evenleaf.audit.report import AuditReport, ColumnNote, GroupNote, IndexNote, View

__all__ = ["SMALL_GROUP", "AuditReport", "ColumnNote", "GroupNote", "IndexNote", "View", "audit", "audit_file"]
