// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace totograph::io {

/// How a language spells the twelve months: all of them whole, or the short ones of some habit.
struct MonthSpelling {
    std::string_view language;
    bool is_whole = false;
    std::string_view names{};  ///< In UTF-8 and small letters, without points, a blank between each and the next.

    /// The name of a month, from 0.
    [[nodiscard]] std::string_view name(std::size_t month) const;
};

/// A set of rows of `month_spellings`, a bit for each: those that the names of a column all belong to.
using MonthSpellingSet = std::uint64_t;

// clang-format off
/// All names that are read. Of several rows that fit a column the first one is written, so that rare ones stand at the
/// end. No name stands for two months: "jui", which could be June or July in French, is in no row.
inline constexpr std::array<MonthSpelling, 58> month_spellings = {{
    {"English", false, "jan feb mar apr may jun jul aug sep oct nov dec"},
    {"English", true, "january february march april may june july august september october november december"},
    {"English", false, "jan feb march april may june july aug sept oct nov dec"},
    {"English", false, "jan feb mar apr may jun jul aug sept oct nov dec"},
    {"German", true, "januar februar märz april mai juni juli august september oktober november dezember"},
    {"German", true, "januar februar maerz april mai juni juli august september oktober november dezember"},
    {"German", true, "jänner februar märz april mai juni juli august september oktober november dezember"},
    {"German", false, "jan feb mär apr mai jun jul aug sep okt nov dez"},
    {"German", false, "jan feb märz apr mai juni juli aug sept okt nov dez"},
    {"German", false, "jan feb mrz apr mai jun jul aug sep okt nov dez"},
    {"German", false, "jän feb mär apr mai jun jul aug sep okt nov dez"},
    {"German", false, "jän feb märz apr mai juni juli aug sep okt nov dez"},
    {"German", false, "jan febr märz apr mai juni juli aug sept okt nov dez"},
    {"French", true, "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"},
    {"French", true, "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre"},
    {"French", false, "janv févr mars avr mai juin juil août sept oct nov déc"},
    {"French", false, "janv févr mars avril mai juin juil août sept oct nov déc"},
    {"French", false, "janv févr mars avr mai juin juill août sept oct nov déc"},
    {"Spanish", true, "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"},
    {"Spanish", true, "enero febrero marzo abril mayo junio julio agosto setiembre octubre noviembre diciembre"},
    {"Spanish", false, "ene feb mar abr may jun jul ago sep oct nov dic"},
    {"Spanish", false, "ene feb mar abr may jun jul ago sept oct nov dic"},
    {"Spanish", false, "ene feb mar abr may jun jul ago set oct nov dic"},
    {"Italian", true,
     "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"},
    {"Italian", false, "gen feb mar apr mag giu lug ago set ott nov dic"},
    {"Italian", false, "gen feb mar apr mag giu lug ago sett ott nov dic"},
    {"Portuguese", true, "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"},
    {"Portuguese", true, "janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro"},
    {"Portuguese", false, "jan fev mar abr mai jun jul ago set out nov dez"},
    {"Dutch", true, "januari februari maart april mei juni juli augustus september oktober november december"},
    {"Dutch", false, "jan feb mrt apr mei jun jul aug sep okt nov dec"},
    {"Dutch", false, "jan feb mrt apr mei jun jul aug sept okt nov dec"},
    {"Dutch", false, "jan febr mrt apr mei juni juli aug sept okt nov dec"},
    {"Swedish", true, "januari februari mars april maj juni juli augusti september oktober november december"},
    {"Swedish", false, "jan feb mars apr maj juni juli aug sep okt nov dec"},
    {"Swedish", false, "jan feb mars april maj juni juli aug sept okt nov dec"},
    {"Norwegian", true, "januar februar mars april mai juni juli august september oktober november desember"},
    {"Norwegian", false, "jan feb mars apr mai juni juli aug sep okt nov des"},
    {"Norwegian", false, "jan feb mar apr mai jun jul aug sep okt nov des"},
    {"Danish", true, "januar februar marts april maj juni juli august september oktober november december"},
    {"Danish", false, "jan feb mar apr maj jun jul aug sep okt nov dec"},
    {"Finnish", true,
     "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta"},
    {"Finnish", true,
     "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu"},
    {"Finnish", false, "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu"},
    {"Polish", true,
     "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"},
    {"Polish", true,
     "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień"},
    {"Polish", false, "sty lut mar kwi maj cze lip sie wrz paź lis gru"},
    {"Czech", true, "ledna února března dubna května června července srpna září října listopadu prosince"},
    {"Czech", true, "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec"},
    {"Russian", true, "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"},
    {"Russian", true, "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"},
    {"Russian", false, "янв фев мар апр май июн июл авг сен окт ноя дек"},
    {"Russian", false, "янв февр мар апр мая июн июл авг сент окт нояб дек"},
    {"Turkish", true, "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık"},
    {"Turkish", true, "ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik"},
    {"Turkish", false, "oca şub mar nis may haz tem ağu eyl eki kas ara"},
    {"French", false, "janv fevr mars avr mai juin juil aout sept oct nov dec"},
    {"French", false, "jan fév mar avr mai jun jul aoû sep oct nov déc"},
}};
// clang-format on

/// What the name of a month says.
struct MonthName {
    std::int64_t month = 0;  ///< From 1; 0 for another word.
    MonthSpellingSet spellings = 0;
};

/// Reads the name of a month in UTF-8, in large or small letters, without a point.
MonthName find_month_name(std::string_view word);

/// The spellings that a column has, from those of its later names and of its earlier ones: what both have in common, or
/// else those of the later ones in a language of the earlier ones, or else those of the earlier ones. "Mai" may be
/// German, French or Portuguese; behind "Feb" it is German.
MonthSpellingSet join_spellings(MonthSpellingSet later, MonthSpellingSet earlier);

namespace detail {

/// The month that a name says, with or without a point behind it, from 1; 0 for another word.
std::int64_t month_of_name(std::string_view word);

/// Whether a language has no longer name for a month than that of a spelling: "mai" is as long as it gets in French.
bool is_whole_name(const MonthSpelling& spelling, std::size_t month);

/// Whether a name is a short one in all of its spellings, so that a point behind it belongs to it.
bool is_short_name(const MonthName& name);

/// All spellings of a language.
constexpr MonthSpellingSet spellings_of(std::string_view language) {
    MonthSpellingSet set = 0;
    for (std::size_t i = 0; i < month_spellings.size(); ++i) {
        set |= month_spellings[i].language == language ? MonthSpellingSet{1} << i : MonthSpellingSet{0};
    }
    return set;
}

/// A set, and all other spellings of its languages.
MonthSpellingSet with_its_languages(MonthSpellingSet set);

/// The row of `month_spellings` that is written for a set; short English for an empty one.
const MonthSpelling& first_spelling(MonthSpellingSet set);

}  // namespace detail
}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/month_names.hpp>
#endif
