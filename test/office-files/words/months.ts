// The names of months as statistical offices write them, typed by hand: taken from Intl, they could not test a reader that uses Intl.

const long: Readonly<Record<string, string>> = {
  en: 'January February March April May June July August September October November December',
  de: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
  fr: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
  es: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  it: 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre',
  pt: 'janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro',
  nl: 'januari februari maart april mei juni juli augustus september oktober november december',
  sv: 'januari februari mars april maj juni juli augusti september oktober november december',
  da: 'januar februar marts april maj juni juli august september oktober november december',
  nb: 'januar februar mars april mai juni juli august september oktober november desember',
  fi: 'tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu',
  et: 'jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember',
  lv: 'janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris',
  lt: 'sausis vasaris kovas balandis gegužė birželis liepa rugpjūtis rugsėjis spalis lapkritis gruodis',
  pl: 'styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień',
  cs: 'leden únor březen duben květen červen červenec srpen září říjen listopad prosinec',
  sk: 'január február marec apríl máj jún júl august september október november december',
  sl: 'januar februar marec april maj junij julij avgust september oktober november december',
  hr: 'siječanj veljača ožujak travanj svibanj lipanj srpanj kolovoz rujan listopad studeni prosinac',
  hu: 'január február március április május június július augusztus szeptember október november december',
  ro: 'ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie',
  bg: 'януари февруари март април май юни юли август септември октомври ноември декември',
  el: 'Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος Ιούλιος Αύγουστος Σεπτέμβριος Οκτώβριος Νοέμβριος Δεκέμβριος',
  ga: 'Eanáir Feabhra Márta Aibreán Bealtaine Meitheamh Iúil Lúnasa Meán_Fómhair Deireadh_Fómhair Samhain Nollaig',
  mt: 'Jannar Frar Marzu April Mejju Ġunju Lulju Awwissu Settembru Ottubru Novembru Diċembru',
  tr: 'Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık',
  ru: 'январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь',
  id: 'Januari Februari Maret April Mei Juni Juli Agustus September Oktober November Desember',
  ja: '1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月',
  zh: '一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月',
  tw: '1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月',
  ko: '1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월',
};

/** In a date, where that is another form. */
const genitive: Readonly<Record<string, string>> = {
  pl: 'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia',
  cs: 'ledna února března dubna května června července srpna září října listopadu prosince',
  sk: 'januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra',
  hr: 'siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca',
  el: 'Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου',
  ru: 'января февраля марта апреля мая июня июля августа сентября октября ноября декабря',
  fi: 'tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta',
};

const short: Readonly<Record<string, string>> = {
  en: 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec',
  de: 'Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez',
  fr: 'janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.',
  es: 'ene feb mar abr may jun jul ago sep oct nov dic',
  it: 'gen feb mar apr mag giu lug ago set ott nov dic',
  pt: 'jan fev mar abr mai jun jul ago set out nov dez',
  nl: 'jan feb mrt apr mei jun jul aug sep okt nov dec',
  sv: 'jan feb mar apr maj jun jul aug sep okt nov dec',
  da: 'jan feb mar apr maj jun jul aug sep okt nov dec',
  nb: 'jan feb mar apr mai jun jul aug sep okt nov des',
  fi: 'tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu',
  et: 'jaan veebr märts apr mai juuni juuli aug sept okt nov dets',
  lv: 'janv. febr. marts apr. maijs jūn. jūl. aug. sept. okt. nov. dec.',
  lt: 'saus. vas. kov. bal. geg. birž. liep. rugp. rugs. spal. lapkr. gruod.',
  pl: 'sty lut mar kwi maj cze lip sie wrz paź lis gru',
  cs: 'led úno bře dub kvě čvn čvc srp zář říj lis pro',
  sk: 'jan feb mar apr máj jún júl aug sep okt nov dec',
  sl: 'jan feb mar apr maj jun jul avg sep okt nov dec',
  hr: 'sij velj ožu tra svi lip srp kol ruj lis stu pro',
  hu: 'jan. febr. márc. ápr. máj. jún. júl. aug. szept. okt. nov. dec.',
  ro: 'ian. feb. mar. apr. mai iun. iul. aug. sept. oct. nov. dec.',
  bg: 'яну фев мар апр май юни юли авг сеп окт ное дек',
  el: 'Ιαν Φεβ Μαρ Απρ Μάι Ιουν Ιουλ Αυγ Σεπ Οκτ Νοε Δεκ',
  ga: 'Ean Feabh Márta Aib Beal Meith Iúil Lún MFómh DFómh Samh Noll',
  mt: 'Jan Fra Mar Apr Mej Ġun Lul Aww Set Ott Nov Diċ',
  tr: 'Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara',
  ru: 'янв фев мар апр май июн июл авг сен окт ноя дек',
  id: 'Jan Feb Mar Apr Mei Jun Jul Agu Sep Okt Nov Des',
};

/** Other spellings that English tables have. */
export const englishSpellings: readonly string[][] = [
  'Jan Feb Mar Apr May June July Aug Sept Oct Nov Dec',
  'Jan. Feb. Mar. Apr. May Jun. Jul. Aug. Sep. Oct. Nov. Dec.',
  'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC',
  'JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER',
].map((names) => names.split(' '));

const listOf = (names: string) => names.split(' ').map((name) => name.replaceAll('_', ' '));

export const languages: readonly string[] = Object.keys(long);

export interface MonthNames {
  long: readonly string[];
  /** As in `3 stycznia 2023`. */
  inDates: readonly string[];
  short: readonly string[];
}

export function monthNames(language: string): MonthNames {
  const names = listOf(long[language] ?? '');
  const declined = genitive[language];
  const abbreviated = short[language];
  return {
    long: names,
    inDates: declined === undefined ? names : listOf(declined),
    short: abbreviated === undefined ? names : listOf(abbreviated),
  };
}
