// Queries that people type, and the series that should come first, for the demo data and the invented series of search-series.ts.

/** query | the ids; the first hit should be one of them. */
const table = `
inflation | DEMO.CPI XA.CPI
inflation rate | DEMO.CPI XA.CPI
cpi | DEMO.CPI XA.CPI XB.CPI
consumer prices | DEMO.CPI XA.CPI XA.CPI.CORE
consumer price index | DEMO.CPI
cost of living | DEMO.CPI XA.CPI
what is the inflation rate | DEMO.CPI XA.CPI
inflation betaland | XB.CPI
inflation rate in Betaland | XB.CPI
core inflation | XA.CPI.CORE
core cpi | XA.CPI.CORE
food prices | XA.CPI.FOOD
food inflation | XA.CPI.FOOD
energy prices | XA.CPI.ENERGY
rent | XA.CPI.RENT
producer prices | XA.PPI
ppi | XA.PPI
wholesale prices | XA.WPI XA.PPI
steel prices | XA.PPI.STEEL
import prices | XA.IMPRICE
house prices | XA.HPI
home prices | XA.HPI
property prices | XA.HPI
real estate prices | XA.HPI
unemployment | DEMO.UNEMPLOYMENT XB.UNEMP
unemployment rate | DEMO.UNEMPLOYMENT XB.UNEMP
jobless rate | DEMO.UNEMPLOYMENT XB.UNEMP
youth unemployment | XA.UNEMP.YOUTH
unemployment women | XA.UNEMP.WOMEN
long term unemployment | XA.UNEMP.LONG
unemployment betaland | XB.UNEMP
jobless claims | XA.CLAIMS
initial claims | XA.CLAIMS
job vacancies | XA.VACANCIES
job openings | XA.VACANCIES
nonfarm payrolls | DEMO.PAYROLLS
non-farm payroll | DEMO.PAYROLLS
payrolls | DEMO.PAYROLLS
jobs | DEMO.PAYROLLS XA.EMP XA.VACANCIES
employment by industry | XA.EMP
participation rate | XA.LFPR
hours worked | XA.HOURS
wages | XA.WAGES XA.WAGES.MIN
hourly earnings | XA.WAGES
minimum wage | XA.WAGES.MIN
unit labor costs | XA.ULC
productivity | XA.PROD
gdp | DEMO.GDP
gross domestic product | DEMO.GDP XA.GDP.NOM XB.GDP
economic growth | XA.GDP.GROWTH DEMO.GDP
gdp growth | XA.GDP.GROWTH
gdp per capita | XA.GDP.CAP
nominal gdp | XA.GDP.NOM DEMO.GDP
gdp betaland | XB.GDP
gross national product | XA.GNI
value added | XA.GVA
investment | XA.GFCF XA.FDI
capital formation | XA.GFCF
household consumption | XA.HHCONS
consumer spending | XA.HHCONS
savings rate | XA.SAVING
disposable income | XA.INCOME
industrial production | XA.INDPRO XB.INDPRO
industrial output | XA.INDPRO XB.INDPRO
production industrial | XA.INDPRO XB.INDPRO
industrial production betaland | XB.INDPRO
capacity utilization | XA.CAPUTIL
factory orders | XA.ORDERS
inventories | XA.INVENT
retail sales | XA.RETAIL
construction | XA.CONSTR
building permits | XA.PERMITS
housing starts | XA.STARTS
car sales | XA.CARS
bankruptcies | XA.INSOLV
consumer confidence | XA.CONF.CONS
consumer sentiment | XA.CONF.CONS
business confidence | XA.CONF.BUS
pmi | XA.PMI
interest rate | DEMO.POLICY-RATE XA.POLICY
policy rate | DEMO.POLICY-RATE
repo rate | DEMO.POLICY-RATE XA.POLICY
fed funds | XA.FEDFUNDS
fed funds rate | XA.FEDFUNDS
federal funds rate | XA.FEDFUNDS
interbank rate | XA.IBOR3M
prime rate | XA.PRIME
mortgage rates | XA.MORTGAGE
10 year treasury | XA.TY10
10-year treasury yield | XA.TY10
treasury 10 year | XA.TY10
2 year treasury | XA.TY2
3 month treasury bill | XA.TBILL3M
t-bills | XA.TBILL3M
german 10 year bond yield | XA.GB10.DE
corporate bonds | XA.CORP.AAA
yield curve | XA.SPREAD
money supply | XA.M2 XA.M1
m2 | XA.M2
monetary base | XA.BASE
foreign exchange reserves | XA.RESERVES
bank loans | XA.LOANS
household debt | XA.HHDEBT
exchange rate | DEMO.FX
euro dollar | XA.EURUSD
dollar rupee | XA.PKRUSD XA.INRUSD
pkr usd | XA.PKRUSD
indian rupee | XA.INRUSD
pound dollar exchange rate | XA.GBPUSD
yen | XA.JPYUSD
exports | DEMO.EXPORTS XB.EXPORTS
exports of services | XA.EXPORTS.SVC
imports | XA.IMPORTS
trade balance | XA.TRADEBAL
trade deficit | XA.TRADEBAL
current account | XA.CURACC
fdi | XA.FDI
remittances | XA.REMIT
oil price | XA.BRENT XA.WTI
brent | XA.BRENT
price of oil | XA.BRENT XA.WTI
natural gas price | XA.GAS
gold price | XA.GOLD
gold | XA.GOLD
corn | XA.MAIZE
price of flour | demo-wheat-flour
wheat flour | demo-wheat-flour
petrol price | demo-petrol
gasoline | demo-petrol
milk | demo-milk
sp500 | XA.SP500
s&p 500 | XA.SP500
public debt | XA.DEBT
government debt to gdp | XA.DEBT
budget deficit | XA.DEFICIT
population | XA.POP XB.POP
life expectancy | XA.LIFE
birth rate | XA.BIRTHS
inequality | XA.GINI
co2 emissions | XA.CO2
unemploymnet rate | DEMO.UNEMPLOYMENT XB.UNEMP
inflaton | DEMO.CPI XA.CPI
grosss domestic prodct | DEMO.GDP XA.GDP.NOM XB.GDP
Arbeitslosenquote | DEMO.UNEMPLOYMENT XB.UNEMP
Verbraucherpreisindex | DEMO.CPI XA.CPI
taux de chômage | DEMO.UNEMPLOYMENT XB.UNEMP
prix du blé | XA.WHEAT demo-wheat-flour
produit intérieur brut | DEMO.GDP XA.GDP.NOM XB.GDP
producción industrial | XA.INDPRO XB.INDPRO
tasso di disoccupazione | DEMO.UNEMPLOYMENT XB.UNEMP
stopa bezrobocia | DEMO.UNEMPLOYMENT XB.UNEMP
huizenprijzen | XA.HPI
taxa de câmbio | DEMO.FX
bytesbalans | XA.CURACC
Staatsverschuldung | XA.DEBT
`;

export const queries: readonly { q: string; expected: readonly string[] }[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [q = '', expected = ''] = line.split('|').map((cell) => cell.trim());
    return { q, expected: expected.split(' ') };
  });
