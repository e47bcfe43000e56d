# SPDX-License-Identifier: Apache-2.0
"""Names of months, whole and short, in fifteen languages: those that the programs in C++ read (`month_spellings` in
`month_names.hpp`)."""

from __future__ import annotations

# "jui", which could be June or July in French, is none.
_NAMES = (
    "january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari tammikuuta tammikuu "
    "tammi stycznia styczeń sty ledna leden января январь янв ocak oca",
    "february feb februar febr février fevrier févr fevr fév febrero febbraio fevereiro fev februari "
    "helmikuuta helmikuu helmi lutego luty lut února únor февраля февраль фев февр şubat subat şub",
    "march mar märz maerz mär mrz mars marzo março marco maart mrt marts maaliskuuta maaliskuu maalis marca "
    "marzec března březen марта март мар mart",
    "april apr avril avr abril abr aprile huhtikuuta huhtikuu huhti kwietnia kwiecień kwi dubna duben апреля "
    "апрель апр nisan nis",
    "may mai mayo maggio mag maio mei maj toukokuuta toukokuu touko maja května květen мая май mayıs mayis",
    "june jun juni juin junio giugno giu junho kesäkuuta kesäkuu kesä czerwca czerwiec cze června červen июня "
    "июнь июн haziran haz",
    "july jul juli juillet juil juill julio luglio lug julho heinäkuuta heinäkuu heinä lipca lipiec lip "
    "července červenec июля июль июл temmuz tem",
    "august aug août aout aoû agosto ago augustus augusti elokuuta elokuu elo sierpnia sierpień sie srpna "
    "srpen августа август авг ağustos agustos ağu",
    "september sep sept septembre septiembre setiembre settembre set sett setembro syyskuuta syyskuu syys "
    "września wrzesień wrz září сентября сентябрь сен сент eylül eylul eyl",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta lokakuu loka października "
    "październik paź října říjen октября октябрь окт ekim eki",
    "november nov novembre noviembre novembro marraskuuta marraskuu marras listopada listopad lis listopadu "
    "ноября ноябрь ноя нояб kasım kasim kas",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro desember des joulukuuta "
    "joulukuu joulu grudnia grudzień gru prosince prosinec декабря декабрь дек aralık aralik ara",
)
#: The month, from 1, of each name in small letters.
MONTHS = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
