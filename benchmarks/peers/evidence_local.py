"""Which promises pure-LDP and multi-freq-ldpy keep."""

from __future__ import annotations

import evidence_multi_freq_ldpy
import evidence_pure_ldp
from evidence import Setting, show

if __name__ == "__main__":
    settings = Setting.read()
    show([*evidence_pure_ldp.findings(settings), *evidence_multi_freq_ldpy.findings(settings)])
