// Invented series with names typical of the field, for the query set of search. They have no points.
import type { FixtureSeries } from './series-fixture.ts';

/** id | name | frequency | geography | other metadata. The last two may be missing. */
const table = `
XA.CPI | Consumer price index, all items | monthly | Alphaland | Headline measure of what households pay.
XA.CPI.CORE | Consumer prices excluding food and energy | monthly | Alphaland
XA.CPI.FOOD | Food price index | monthly | Alphaland
XA.CPI.ENERGY | Energy price index | monthly | Alphaland
XA.CPI.RENT | Rents of dwellings, index | monthly | Alphaland
XA.PPI | Producer prices in industry | monthly | Alphaland | What makers of goods are paid.
XA.PPI.STEEL | Producer prices of steel | monthly | Alphaland
XA.WPI | Wholesale price index | monthly | Alphaland
XA.IMPRICE | Import price index | monthly | Alphaland
XA.EXPRICE | Export price index | monthly | Alphaland
XA.HPI | Residential property prices, new and existing dwellings | quarterly | Alphaland
XA.UNEMP.YOUTH | Youth unemployment rate, 15 to 24 years | monthly | Alphaland
XA.UNEMP.LONG | Long-term unemployed, share of all unemployed | quarterly | Alphaland
XA.UNEMP.WOMEN | Unemployment rate of women | monthly | Alphaland
XA.CLAIMS | Initial claims for unemployment insurance | weekly | Alphaland
XA.VACANCIES | Job vacancies, total economy | quarterly | Alphaland
XA.EMP | Employment by industry | quarterly | Alphaland
XA.LFPR | Labour force participation rate | monthly | Alphaland
XA.HOURS | Average weekly hours worked in manufacturing | monthly | Alphaland
XA.WAGES | Average hourly earnings, private sector | monthly | Alphaland
XA.WAGES.MIN | Statutory minimum wage | annual | Alphaland
XA.ULC | Unit labour costs | quarterly | Alphaland
XA.PROD | Labour productivity per hour worked | quarterly | Alphaland
XA.GDP.CAP | GDP per capita, purchasing power parity | annual | Alphaland
XA.GDP.NOM | Gross domestic product at current prices | quarterly | Alphaland
XA.GDP.GROWTH | Real GDP, growth on the quarter before | quarterly | Alphaland
XA.GNI | Gross national income | annual | Alphaland
XA.GVA | Gross value added by branch | quarterly | Alphaland
XA.GFCF | Gross fixed capital formation | quarterly | Alphaland
XA.HHCONS | Final consumption expenditure of households | quarterly | Alphaland
XA.SAVING | Household saving rate | quarterly | Alphaland
XA.INCOME | Disposable income of households | quarterly | Alphaland
XA.PCE | Personal consumption expenditures | monthly | Alphaland
XA.INDPRO | Index of industrial production | monthly | Alphaland | Mining, manufacturing and utilities.
XA.BOP.MFG | Manufacturing services on physical inputs owned by others, credit | quarterly | Alphaland | Balance of payments; covers industrial production abroad.
XA.BOP.MAINT | Maintenance and repair services, debit | quarterly | Alphaland | Balance of payments; covers industrial production abroad.
XA.CAPUTIL | Capacity utilisation in manufacturing | quarterly | Alphaland
XA.ORDERS | New orders in manufacturing | monthly | Alphaland
XA.INVENT | Business inventories | monthly | Alphaland
XA.RETAIL | Retail trade turnover, deflated | monthly | Alphaland
XA.CONSTR | Construction output | monthly | Alphaland
XA.PERMITS | Building permits granted | monthly | Alphaland
XA.STARTS | Housing starts, total | monthly | Alphaland
XA.CARS | New passenger car registrations | monthly | Alphaland
XA.INSOLV | Business insolvencies | quarterly | Alphaland
XA.CONF.CONS | Consumer confidence indicator | monthly | Alphaland
XA.CONF.BUS | Business climate indicator | monthly | Alphaland
XA.PMI | Purchasing managers' index, manufacturing | monthly | Alphaland
XA.POLICY | Main refinancing rate of the central bank | irregular | Alphaland
XA.FEDFUNDS | Federal funds effective rate | monthly | United States
XA.IBOR3M | Interbank offered rate, 3 months | daily | Alphaland
XA.PRIME | Prime lending rate of banks | monthly | Alphaland
XA.MORTGAGE | Mortgage rate, 30 years fixed | weekly | Alphaland
XA.DEPOSIT | Rate on household deposits | monthly | Alphaland
XA.TY10 | Treasury yield at constant maturity, 10-year | daily | United States
XA.TY2 | Treasury yield at constant maturity, 2-year | daily | United States
XA.TY5 | Treasury yield at constant maturity, 5-year | daily | United States
XA.TBILL3M | Treasury bill, 3-month, secondary market rate | daily | United States
XA.GB10.DE | Government bond yield, 10 years, Germany | monthly | Germany
XA.CORP.AAA | Corporate bond yield, AAA | monthly | United States
XA.SPREAD | Term spread, 10 years less 3 months | daily | United States
XA.M1 | Monetary aggregate M1 | monthly | Alphaland
XA.M2 | Monetary aggregate M2 | monthly | Alphaland
XA.BASE | Monetary base | monthly | Alphaland
XA.RESERVES | International reserves of the central bank | monthly | Alphaland
XA.LOANS | Loans of banks to the private sector | monthly | Alphaland
XA.CONSCREDIT | Consumer credit outstanding | monthly | Alphaland
XA.HHDEBT | Household debt, share of income | quarterly | Alphaland
XA.EURUSD | US dollars per euro | daily | Euro area
XA.GBPUSD | US dollars per pound sterling | daily | United Kingdom
XA.JPYUSD | Japanese yen per US dollar | daily | Japan
XA.PKRUSD | Pakistani rupees per US dollar | daily | Pakistan
XA.INRUSD | Indian rupees per US dollar | daily | India
XA.CHFEUR | Swiss francs per euro | daily | Switzerland
XA.REER | Real effective exchange rate | monthly | Alphaland
XA.EXPORTS.SVC | Exports of services | quarterly | Alphaland
XA.IMPORTS | Imports of goods | monthly | Alphaland
XA.IMPORTS.SVC | Imports of services | quarterly | Alphaland
XA.TRADEBAL | Balance of trade in goods | monthly | Alphaland
XA.CURACC | Current account balance | quarterly | Alphaland
XA.FDI | Foreign direct investment, net inflows | quarterly | Alphaland
XA.REMIT | Workers' remittances received | monthly | Alphaland
XA.TOT | Terms of trade | quarterly | Alphaland
XA.BRENT | Crude oil, Brent, spot | daily | World
XA.WTI | Crude oil, West Texas Intermediate, spot | daily | World
XA.GAS | Natural gas, spot | daily | World
XA.COAL | Coal, thermal, export terminal | monthly | World
XA.GOLD | Gold, afternoon fixing | daily | World
XA.SILVER | Silver, noon fixing | daily | World
XA.COPPER | Copper, cash settlement | daily | World
XA.WHEAT | Wheat, hard red winter | monthly | World
XA.MAIZE | Maize, yellow | monthly | World
XA.COFFEE | Coffee, arabica | monthly | World
XA.SUGAR | Sugar, raw | monthly | World
XA.DIESEL | Diesel, retail price with taxes | weekly | Alphaland
XA.ELEC | Electricity prices for households | semiannual | Alphaland
XA.RENEW | Share of energy from renewable sources | annual | Alphaland
XA.CO2 | Greenhouse gas emissions | annual | Alphaland
XA.SP500 | S&P 500 share price index | daily | United States
XA.VIX | Volatility index of share options | daily | United States
XA.DEBT | General government gross debt | annual | Alphaland
XA.DEFICIT | General government deficit or surplus | annual | Alphaland
XA.TAX | Tax revenue of general government | annual | Alphaland
XA.SPEND | Total general government expenditure | annual | Alphaland
XA.EXTDEBT | External debt, total | annual | Alphaland
XA.POP | Population on 1 January | annual | Alphaland
XA.POP.OLD | Population aged 65 and over | annual | Alphaland
XA.BIRTHS | Live births | annual | Alphaland
XA.DEATHS | Deaths | annual | Alphaland
XA.LIFE | Life expectancy at birth | annual | Alphaland
XA.MIGR | Net migration | annual | Alphaland
XA.POVERTY | People at risk of poverty | annual | Alphaland
XA.GINI | Gini coefficient of income | annual | Alphaland
XA.TOURISM | Nights spent in tourist accommodation | monthly | Alphaland
XA.AIR | Air passengers carried | monthly | Alphaland
XA.MILK | Cow's milk collected | monthly | Alphaland
XA.RD | Research and development expenditure | annual | Alphaland
XA.EDU | Early leavers from education | annual | Alphaland
XA.HEALTH | Health expenditure per inhabitant | annual | Alphaland
XA.HOSP | Hospital beds | annual | Alphaland
XA.CRIME | Recorded offences | annual | Alphaland
XA.BROADBAND | Households with broadband access | annual | Alphaland
XB.CPI | Consumer price index, all items | monthly | Betaland
XB.UNEMP | Unemployment rate | monthly | Betaland
XB.GDP | Gross domestic product at constant prices | quarterly | Betaland
XB.POP | Population on 1 January | annual | Betaland
XB.INDPRO | Index of industrial production | monthly | Betaland
XB.EXPORTS | Exports of goods | monthly | Betaland
XB.HOLIDAYS | Public holidays by year | annual | Betaland
XC.DUST1 | Payroll taxes, unpaid | annual | Gammaland
XC.DUST2 | Treasury staff, 10 years of service | annual | Gammaland
XC.DUST3 | Price of admission to funds museums | annual | Gammaland
XC.DUST4 | Exchange students, rate of return | annual | Gammaland
XC.DUST5 | Warehouse space | annual | Gammaland
XC.DUST6 | Horse races | annual | Gammaland
XC.DUST7 | Rate of births of the flour beetle | annual | Gammaland
XC.DUST8 | Oilseed crushing | annual | Gammaland
XC.DUST9 | Golden eagles counted | annual | Gammaland
`;

export const typicalSeries: readonly FixtureSeries[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [id = '', name = '', frequency = '', geography = '', description = ''] = line
      .split('|')
      .map((cell) => cell.trim());
    return { id, name, frequency, geography, description, unit: 'Unit', source: 'Office of Examples' };
  });
