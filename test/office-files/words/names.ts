// The subjects of an office's tables, in its language: regions, measures and the usual names of columns.

export interface Names {
  /** year, month, quarter, date or period, region, value */
  columns: readonly [
    year: string,
    month: string,
    quarter: string,
    date: string,
    region: string,
    value: string,
  ];
  regions: readonly string[];
  measures: readonly string[];
  total: string;
  average: string;
}

const englishMeasures = [
  'Exports',
  'Imports',
  'Unemployment rate',
  'Consumer prices',
  'Building permits',
  'Wages',
];
const measures: Readonly<Record<string, readonly string[]>> = {
  de: ['Ausfuhr', 'Einfuhr', 'Erwerbslosenquote', 'Löhne', 'Übernachtungen', 'Verbraucherpreise'],
  fr: ['Exportations', 'Importations', 'Taux de chômage', 'Salaires', 'Énergie', 'Logements commencés'],
  es: ['Exportaciones', 'Importaciones', 'Tasa de paro', 'Salarios', 'Producción', 'Energía'],
  it: ['Esportazioni', 'Importazioni', 'Disoccupati', 'Retribuzioni', 'Attività', 'Prezzi'],
  pt: ['Exportações', 'Importações', 'Salários', 'Produção', 'Preços', 'Habitação'],
  nl: ['Uitvoer', 'Invoer', 'Werkloosheid', 'Lonen', 'Faillissementen', 'Woningbouw'],
  sv: ['Export av varor', 'Import av varor', 'Arbetslöshet', 'Löner', 'Bygglov', 'Priser'],
  pl: ['Eksport', 'Import towarów', 'Stopa bezrobocia', 'Płace', 'Żywność', 'Ceny'],
  ru: ['Экспорт', 'Импорт', 'Безработица', 'Заработная плата', 'Цены', 'Строительство'],
  tr: ['İhracat', 'İthalat', 'İşsizlik', 'Ücretler', 'Tüketici fiyatları', 'Gıda'],
  el: ['Εξαγωγές', 'Εισαγωγές', 'Ανεργία', 'Μισθοί', 'Τιμές', 'Ενέργεια'],
  ja: ['輸出', '輸入', '失業率', '賃金', '消費者物価', '住宅着工'],
  zh: ['出口', '进口', '失业率', '工资', '居民消费价格', '房屋'],
  tw: ['出口', '進口', '失業率', '薪資', '物價', '住宅'],
  ko: ['수출', '수입', '실업률', '임금', '소비자물가', '주택'],
};

const regions: Readonly<Record<string, string>> = {
  en: 'North East|Wales|Scotland|Midlands|Cornwall',
  de: 'Bayern|Thüringen|Köln|Baden-Württemberg|Sachsen',
  fr: 'Île-de-France|Bretagne|Rhône|Corse|Hérault',
  es: 'Cataluña|Castilla y León|Aragón|País Vasco|Andalucía',
  it: 'Lombardia|Valle d’Aosta|Toscana|Sicilia|Puglia',
  pt: 'Lisboa|Évora|São Tomé|Madeira|Açores',
  nl: 'Groningen|Fryslân|Utrecht|Zeeland|Limburg',
  sv: 'Skåne|Örebro|Västra Götaland|Gävleborg|Kalmar',
  da: 'København|Sjælland|Nordjylland|Fyn|Bornholm',
  nb: 'Østfold|Tromsø|Rogaland|Trøndelag|Møre',
  fi: 'Uusimaa|Pirkanmaa|Pohjois-Karjala|Häme|Åland',
  et: 'Tallinn|Pärnu|Võru|Tartu|Jõgeva',
  lv: 'Rīga|Kurzeme|Zemgale|Vidzeme|Latgale ūdeņi',
  lt: 'Vilnius|Šiauliai|Panevėžys|Kaunas|Alytus',
  pl: 'Łódzkie|Śląskie|Małopolskie|Wielkopolskie|Świętokrzyskie',
  cs: 'Praha|Jihočeský|Plzeňský|Vysočina|Zlínský',
  sk: 'Košický|Žilinský|Trenčiansky|Bratislavský|Nitriansky',
  sl: 'Podravska|Goriška|Zasavska|Savinjska|Obalno-kraška',
  hr: 'Zagrebačka|Šibenik|Međimurje|Istra|Požega',
  hu: 'Győr|Békés|Fejér|Tolna|Csongrád',
  ro: 'Bucureşti|Iaşi|Braşov|Cluj|Timiş',
  bg: 'София|Пловдив|Варна|Бургас|Русе',
  el: 'Αττική|Κρήτη|Ήπειρος|Θεσσαλία|Πελοπόννησος',
  ga: 'Áth Cliath|Corcaigh|Gaillimh|Ciarraí|Dún na nGall',
  mt: 'Għawdex|Żejtun|Ħamrun|Mosta|Birgu',
  tr: 'İstanbul|Ankara|İzmir|Şanlıurfa|Muğla',
  ru: 'Москва|Татарстан|Якутия|Тула|Псков',
  id: 'Jawa Barat|Bali|Papua|Aceh|Riau',
  ja: '東京都|大阪府|北海道|愛知県|沖縄県',
  zh: '北京|上海|广东|四川|云南',
  tw: '臺北市|高雄市|臺中市|新竹縣|花蓮縣',
  ko: '서울|부산|대구|광주|제주',
};

const columns: Readonly<Record<string, string>> = {
  en: 'Year|Month|Quarter|Date|Region|Value',
  de: 'Jahr|Monat|Quartal|Datum|Land|Wert',
  fr: 'Année|Mois|Trimestre|Date|Région|Valeur',
  es: 'Año|Mes|Trimestre|Fecha|Provincia|Valor',
  it: 'Anno|Mese|Trimestre|Data|Regione|Valore',
  pt: 'Ano|Mês|Trimestre|Data|Região|Valor',
  nl: 'Jaar|Maand|Kwartaal|Datum|Provincie|Waarde',
  sv: 'År|Månad|Kvartal|Datum|Län|Värde',
  da: 'År|Måned|Kvartal|Dato|Område|Værdi',
  nb: 'År|Måned|Kvartal|Dato|Fylke|Verdi',
  fi: 'Vuosi|Kuukausi|Neljännes|Päivä|Alue|Arvo',
  et: 'Aasta|Kuu|Kvartal|Kuupäev|Maakond|Väärtus',
  lv: 'Gads|Mēnesis|Ceturksnis|Datums|Reģions|Vērtība',
  lt: 'Metai|Mėnuo|Ketvirtis|Data|Apskritis|Reikšmė',
  pl: 'Rok|Miesiąc|Kwartał|Data|Województwo|Wartość',
  cs: 'Rok|Měsíc|Čtvrtletí|Datum|Kraj|Hodnota',
  sk: 'Rok|Mesiac|Štvrťrok|Dátum|Kraj|Hodnota',
  sl: 'Leto|Mesec|Četrtletje|Datum|Regija|Vrednost',
  hr: 'Godina|Mjesec|Tromjesečje|Datum|Županija|Vrijednost',
  hu: 'Év|Hónap|Negyedév|Dátum|Megye|Érték',
  ro: 'An|Luna|Trimestrul|Data|Judeţ|Valoare',
  bg: 'Година|Месец|Тримесечие|Дата|Област|Стойност',
  el: 'Έτος|Μήνας|Τρίμηνο|Ημερομηνία|Περιφέρεια|Τιμή',
  ga: 'Bliain|Mí|Ráithe|Dáta|Réigiún|Luach',
  mt: 'Sena|Xahar|Kwart|Data|Reġjun|Valur',
  tr: 'Yıl|Ay|Çeyrek|Tarih|İl|Değer',
  ru: 'Год|Месяц|Квартал|Дата|Регион|Значение',
  id: 'Tahun|Bulan|Triwulan|Tanggal|Provinsi|Nilai',
  ja: '年|月|四半期|年月|都道府県|値',
  zh: '年份|月份|季度|日期|地区|数值',
  tw: '年|月|季|日期|地區|數值',
  ko: '연도|월|분기|날짜|지역|값',
};

const sums: Readonly<Record<string, readonly [string, string]>> = {
  de: ['Insgesamt', 'Durchschnitt'],
  fr: ['Total', 'Moyenne'],
  es: ['Total', 'Promedio'],
  it: ['Totale', 'Media'],
  pt: ['Total', 'Média'],
  nl: ['Totaal', 'Gemiddelde'],
  sv: ['Totalt', 'Genomsnitt'],
  pl: ['Ogółem', 'Średnia'],
  ru: ['Итого', 'Среднее'],
  tr: ['Toplam', 'Ortalama'],
  ja: ['合計', '平均'],
  zh: ['合计', '平均'],
};

export function namesOf(language: string): Names {
  const [year = '', month = '', quarter = '', date = '', region = '', value = ''] = (
    columns[language] ?? ''
  ).split('|');
  const [total, average] = sums[language] ?? ['Total', 'Average'];
  return {
    columns: [year, month, quarter, date, region, value],
    regions: (regions[language] ?? '').split('|'),
    measures: measures[language] ?? englishMeasures,
    total,
    average,
  };
}
