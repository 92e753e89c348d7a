def imbalance_table(): return ""
