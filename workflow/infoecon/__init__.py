"""The information economics of language agents: when does an agent pay for information?"""
