"""What a selection is worth: is a feature selected again (`stability`), is it more than chance (`discoveries`)?"""
