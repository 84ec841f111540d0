// Quarters and halves of years as statistical offices write them in their languages.

const roman = ['I', 'II', 'III', 'IV'];
const greek = ['Α΄', 'Β΄', 'Γ΄', 'Δ΄'];
const chinese = ['一', '二', '三', '四'];
const ordinalsOf = (language: string) =>
  language === 'en'
    ? ['1st', '2nd', '3rd', '4th']
    : language === 'fr'
      ? ['1er', '2e', '3e', '4e']
      : ['1er', '2º', '3er', '4º'];

type Write = (year: number, quarter: number) => string;
const at = (list: readonly string[], quarter: number) => list[quarter - 1] ?? '';

/** The forms of each language, the most usual first. */
export const quarterForms: Readonly<Record<string, readonly Write[]>> = {
  en: [(y, q) => `${at(ordinalsOf('en'), q)} quarter ${y}`, (y, q) => `Quarter ${q} ${y}`],
  de: [(y, q) => `${q}. Quartal ${y}`, (y, q) => `${roman[q - 1]}/${y}`, (y, q) => `${y} Q${q}`],
  fr: [(y, q) => `T${q} ${y}`, (y, q) => `${at(ordinalsOf('fr'), q)} trimestre ${y}`, (y, q) => `${y}-T${q}`],
  es: [(y, q) => `${y}T${q}`, (y, q) => `T${q} ${y}`, (y, q) => `${at(ordinalsOf('es'), q)} trimestre ${y}`],
  it: [(y, q) => `T${q}-${y}`, (y, q) => `${q}° trimestre ${y}`],
  pt: [(y, q) => `${q}.º Trimestre de ${y}`, (y, q) => `${q}T${y}`],
  nl: [(y, q) => `${y} ${q}e kwartaal`, (y, q) => `${y}KW0${q}`],
  sv: [(y, q) => `${y}K${q}`, (y, q) => `kvartal ${q} ${y}`],
  da: [(y, q) => `${y}K${q}`, (y, q) => `${q}. kvartal ${y}`],
  nb: [(y, q) => `${y}K${q}`, (y, q) => `${q}. kvartal ${y}`],
  fi: [(y, q) => `${y}Q${q}`, (y, q) => `${y}/${roman[q - 1]}`],
  et: [(y, q) => `${roman[q - 1]} kvartal ${y}`],
  lv: [(y, q) => `${y}C${q}`, (y, q) => `${y}. gada ${q}. ceturksnis`],
  lt: [(y, q) => `${y}K${q}`, (y, q) => `${y} m. ${roman[q - 1]} ketvirtis`],
  pl: [(y, q) => `${roman[q - 1]} kwartał ${y}`, (y, q) => `${y}K${q}`],
  cs: [(y, q) => `${q}. čtvrtletí ${y}`],
  sk: [(y, q) => `${q}. štvrťrok ${y}`],
  sl: [(y, q) => `${y}Q${q}`, (y, q) => `${q}. četrtletje ${y}`],
  hr: [(y, q) => `${roman[q - 1]}. tromjesečje ${y}.`],
  hu: [(y, q) => `${y}. ${roman[q - 1]}. negyedév`],
  ro: [(y, q) => `Trimestrul ${roman[q - 1]} ${y}`],
  bg: [(y, q) => `${roman[q - 1]} тримесечие ${y}`],
  el: [(y, q) => `${greek[q - 1]} τρίμηνο ${y}`],
  ga: [(y, q) => `R${q} ${y}`],
  mt: [(y, q) => `Q${q} ${y}`],
  tr: [(y, q) => `${y}-Ç${q}`, (y, q) => `${q}. Çeyrek ${y}`],
  ru: [(y, q) => `${roman[q - 1]} квартал ${y}`, (y, q) => `${roman[q - 1]} квартал ${y} г.`],
  id: [(y, q) => `Triwulan ${roman[q - 1]} ${y}`],
  ja: [(y, q) => `${y}年第${q}四半期`, (y, q) => `${y}年${q * 3 - 2}-${q * 3}月`],
  zh: [(y, q) => `${y}年第${chinese[q - 1]}季度`, (y, q) => `${y}年${q}季度`],
  tw: [(y, q) => `${y}年第${q}季`],
  ko: [(y, q) => `${y}년 ${q}분기`, (y, q) => `${y} ${q}/4`],
};

export const halfForms: Readonly<Record<string, readonly Write[]>> = {
  en: [(y, h) => `${h}H${y}`, (y, h) => `${h === 1 ? 'First' : 'Second'} half ${y}`],
  de: [(y, h) => `${h}. Halbjahr ${y}`],
  fr: [(y, h) => `S${h} ${y}`, (y, h) => `${h === 1 ? '1er' : '2e'} semestre ${y}`],
  es: [(y, h) => `${y}S${h}`, (y, h) => `Semestre ${h} ${y}`],
  it: [(y, h) => `${h}° semestre ${y}`],
  nl: [(y, h) => `${y} ${h}e halfjaar`],
  pl: [(y, h) => `${roman[h - 1]} półrocze ${y}`],
  ru: [(y, h) => `${roman[h - 1]} полугодие ${y}`],
};
