def model_table(): return ""
