"""The inner loops of the lane for few disparity rows.

Prices have a last axis J of multipliers that are looked at together: `prices[i, k, j]` is what label k + 1 costs
person i more than label 0 at the j-th multipliers. All tables are small; all loops are plain.
"""
