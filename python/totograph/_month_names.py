# SPDX-License-Identifier: Apache-2.0
"""Names of months, whole and short, in English, German, French, Spanish, Italian, Portuguese and Dutch: those that the
programs in C++ read (`month_spellings` in `month_names.hpp`)."""

from __future__ import annotations

# "jui", which could be June or July in French, is none.
_NAMES = """
    january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari
    february feb februar febr février fevrier févr fevr fév febrero febbraio fevereiro fev februari
    march mar märz maerz mär mrz mars marzo março marco maart mrt
    april apr avril avr abril abr aprile
    may mai mayo maggio mag maio mei
    june jun juni juin junio giugno giu junho
    july jul juli juillet juil juill julio luglio lug julho
    august aug août aout aoû agosto ago augustus
    september sep sept septembre septiembre setiembre settembre set sett setembro
    october oct oktober okt octobre octubre ottobre ott outubro out
    november nov novembre noviembre novembro
    december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro
"""
#: The month, from 1, of each name in small letters.
MONTHS = {name: month for month, names in enumerate(_NAMES.split("\n")[1:-1], 1) for name in names.split()}
