// The queries of everyday-searches.ts, and the series that they mean.

/** query | a regular expression that the id or the name of an intended series matches. */
export const queries = String.raw`
inflation rate | CPI
inflation | CPI|Inflation
nonfarm payrolls | PAYROLLS|PAYEMS
payrolls | PAYROLLS|PAYEMS
price of flour | flour
wheat flour | flour
flour | flour
10 year treasury | us-10y|GS10
us 10 year yield | us-10y|GS10
10 year bond | 10y|GS10
uk 10 year yield | uk-10y
gilt yield | uk-10y
fed funds | FEDFUNDS
federal funds rate | FEDFUNDS
dollar rupee | PKR|Rupee|Pakistan
pkr usd | PKR|Rupee|Pakistan
usd pkr exchange rate | PKR|Pakistan
rupee exchange rate | PKR|Pakistan|India
industrial production | INDPRO|IPI|LSM
industrial production us | INDPRO
industrial production pakistan | LSM
large scale manufacturing | LSM
lsm | LSM
gold price | gold
gold | gold
price of gold monthly | gold-prices__monthly
oil price | oil|OIL|Oil
brent | brent
crude oil | oil|Oil|OIL
natural gas | natural-gas|Natural_Gas|gas
henry hub | natural-gas
gas price | gas
cpi | CPI
us cpi | cpi-us|CPIAUCSL
cpi pakistan | PT_CPI
consumer price index | CPI|cpi
urban cpi | Urban
rural food inflation | Rural Food
core inflation | CPILFESL|CPIULFSL|NFNE|Core
food cpi | Food CPI
cpi food | Food CPI
wholesale price index | WPI
wpi | WPI
sensitive price indicator | SPI
ppi | PPI|WPS
producer prices | WPS|PPI|WPI
gdp | gdp|GDP
us gdp | gdp-us
real gdp | gdp|GDP
gdp growth | gdp|GDP
quarterly gdp | gdp-us__quarter|DEMO.GDP
unemployment | UNEMP|UNRATE
unemployment rate | UNEMP|UNRATE
jobless claims | CLAIMSx
initial claims | CLAIMSx
job openings | HWI
help wanted | HWI
labor force | CLF16OV
hourly earnings | CES0600000008|CES2000000008|CES3000000008
wages | CES|Wage
average weekly hours | AWHMAN|CES0600000007
personal income | RPI
real personal income | RPI
personal consumption | DPCERA|PCE
retail sales | RETAIL
capacity utilization | CUMFNS
housing starts | HOUST
building permits | PERMIT
new orders | AMDMNO|AMDMUO|ACOGNO
inventories | BUSINV|ISRATIO
industrial production index | INDPRO|LSM
m1 | M1SL|M1
m2 | M2SL|M2
m3 | M3
money supply | M2|M1|M3
broad money | M2|M3
monetary aggregates pakistan | M3
monetary base | BOGMBASE|AMBSL
bank reserves | TOTRESNS|NONBORRES
reserves | TOTRESNS|NONBORRES
business loans | BUSLOANS
consumer credit | NONREVSL|DTCOLNVHFNM|CONSPI
interest rate | SIRPR|DEMO\.POLICY|bond-yields|euribor|FEDFUNDS
policy rate | Policy|POLICY
policy rate pakistan | SIRPR
sbp policy rate | SIRPR
discount rate | SIRPR|POLICY
treasury bills | TBIL|TB3MS|MTB
t-bill yield | TBIL|TB
3 month treasury bill | TB3MS|3-Months
6 month treasury bills pakistan | 6-Months
12 month t-bills | 12-Months
t bills cut-off yield | Cut-off
euribor | euribor
euribor 3 month | euribor-3m
3m euribor | euribor-3m
1 week euribor | euribor-1w
libor | euribor
exchange rate | exchange|EX|ER_|FX
exchange rates euro | exchange|Euro
eur usd | exchange|Euro
yen | EXJPUSx|JPY|Japan
dollar yen | EXJPUSx|Japan
pound dollar | EXUSUKx|FX|GBP
swiss franc | EXSZUSx|Swiss
canadian dollar | EXCAUSx|Canada
dollar index | TWEX
exports | Export|EXP
exports of goods | Export
imports | Import
exports pakistan | Export
imports of services | Imports of Services
trade balance | [Bb]alance
services trade | Services
s&p 500 | S&P|SP500
stock market | SHARE-INDEX|S&P|SP500
vix | VXO|VIX
dividend yield | S&P div
copper price | opper
copper | opper
aluminium | lumin
iron ore | Iron
coffee price | offee
coffee | offee
cocoa | ocoa
cotton | otton
tea price | Tea
wheat | Wheat|wheat
wheat price | Wheat|wheat
rice price | Rice
basmati rice | asmati
rice basmati | asmati
price of milk | Milk
milk | Milk
eggs | Eggs
sugar | Sugar
lentils | entil|ulse
beans | Beans|beans
petrol | etrol|uel
diesel | iesel
poultry price | oultry|hicken
cooking oil | Oil \(cooking\)|cooking
ghee | ghee|Ghee
salt | Salt
wages labourer | Wage
price of rice in Karachi | Rice
wheat flour lahore | flour
commodity prices | ommodity
commodity price index | ommodity
food price index | Food
coal price | Coal
corn price | aize|orn
soybeans | oybean
rubber | Rubber
zinc | Zinc
nickel | Nickel
lead price | Lead
tin | Tin
consumer sentiment | UMCSENT
aaa corporate bond yield | AAA
baa yield | BAA
5 year treasury | GS5
1 year treasury | GS1
producer price metals | PPICMM|WPS
services cpi | CUSR0000SAS
medical cpi | CPIMEDSL
transportation cpi | CPITRNSL
apparel cpi | CPIAPPSL
manufacturing employment | MANEMP
construction employment | USCONS
government employment | USGOVT
average duration of unemployment | UEMPMEAN
commercial paper | CP3M
unfilled orders | AMDMUO
real estate loans | REALLN
sensitive price index | SPI
cpi less shelter | SA0L2
price earnings ratio | PE ratio
baa corporate bonds | BAA
inventory to sales ratio | ISRATIO
hourly earnings manufacturing | CES
`;
