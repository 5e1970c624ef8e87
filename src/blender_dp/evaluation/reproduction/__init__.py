"""The papers' tables and figures: what each one shows, what the papers print, and whether the results agree.

figure      what a figure is: panels of lines, printed values, claims
curves      Figures 10 and 12 to 19, and those of the 2017 paper that differ
tables      Figures 8, 9 and 11
results     the measured values, by setting
run         run everything that some figures need
"""
