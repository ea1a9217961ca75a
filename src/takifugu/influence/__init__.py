"""Influence: from how far each entry moves what is published to how much a secret loses.

A profile says how far the log-likelihood of everything released can move when one entry alone changes; profiles of
releases add up, adaptively. A curve turns the sum, under a belief, into the loss of a secret
(docs/theory/influence.md).
"""
