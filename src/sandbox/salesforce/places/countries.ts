/** One value of the state and country picklists: its ISO code and the integration value, which the text field holds. */
export interface PicklistPlace {
  readonly code: string
  readonly name: string
}

/** The countries of an org as it is delivered, in the order of their codes. */
export const orgCountries: readonly PicklistPlace[] = places(`
  AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AI Anguilla|AL Albania
  AM Armenia|AO Angola|AQ Antarctica|AR Argentina|AT Austria|AU Australia|AW Aruba|AX Aland Islands
  AZ Azerbaijan|BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso
  BG Bulgaria|BH Bahrain|BI Burundi|BJ Benin|BL Saint Barthélemy|BM Bermuda|BN Brunei Darussalam
  BO Bolivia, Plurinational State of|BQ Bonaire, Sint Eustatius and Saba|BR Brazil|BS Bahamas
  BT Bhutan|BV Bouvet Island|BW Botswana|BY Belarus|BZ Belize|CA Canada|CC Cocos (Keeling) Islands
  CD Congo, the Democratic Republic of the|CF Central African Republic|CG Congo|CH Switzerland
  CI Cote d'Ivoire|CK Cook Islands|CL Chile|CM Cameroon|CN China|CO Colombia|CR Costa Rica|CU Cuba
  CV Cape Verde|CW Curaçao|CX Christmas Island|CY Cyprus|CZ Czech Republic|DE Germany|DJ Djibouti
  DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia|EG Egypt
  EH Western Sahara|ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FK Falkland Islands (Malvinas)
  FO Faroe Islands|FR France|GA Gabon|GB United Kingdom|GD Grenada|GE Georgia|GF French Guiana
  GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland|GM Gambia|GN Guinea|GP Guadeloupe
  GQ Equatorial Guinea|GR Greece|GS South Georgia and the South Sandwich Islands|GT Guatemala
  GW Guinea-Bissau|GY Guyana|HM Heard Island and McDonald Islands|HN Honduras|HR Croatia|HT Haiti
  HU Hungary|ID Indonesia|IE Ireland|IL Israel|IM Isle of Man|IN India
  IO British Indian Ocean Territory|IQ Iraq|IR Iran, Islamic Republic of|IS Iceland|IT Italy|JE Jersey
  JM Jamaica|JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros
  KN Saint Kitts and Nevis|KP Korea, Democratic People's Republic of|KR Korea, Republic of|KW Kuwait
  KY Cayman Islands|KZ Kazakhstan|LA Lao People's Democratic Republic|LB Lebanon|LC Saint Lucia
  LI Liechtenstein|LK Sri Lanka|LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya
  MA Morocco|MC Monaco|MD Moldova, Republic of|ME Montenegro|MF Saint Martin (French part)
  MG Madagascar|MK Macedonia, the former Yugoslav Republic of|ML Mali|MM Myanmar|MN Mongolia|MO Macao
  MQ Martinique|MR Mauritania|MS Montserrat|MT Malta|MU Mauritius|MV Maldives|MW Malawi|MX Mexico
  MY Malaysia|MZ Mozambique|NA Namibia|NC New Caledonia|NE Niger|NF Norfolk Island|NG Nigeria
  NI Nicaragua|NL Netherlands|NO Norway|NP Nepal|NR Nauru|NU Niue|NZ New Zealand|OM Oman|PA Panama
  PE Peru|PF French Polynesia|PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland
  PM Saint Pierre and Miquelon|PN Pitcairn|PS Palestine|PT Portugal|PY Paraguay|QA Qatar|RE Reunion
  RO Romania|RS Serbia|RU Russian Federation|RW Rwanda|SA Saudi Arabia|SB Solomon Islands
  SC Seychelles|SD Sudan|SE Sweden|SG Singapore|SH Saint Helena, Ascension and Tristan da Cunha
  SI Slovenia|SJ Svalbard and Jan Mayen|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal
  SO Somalia|SR Suriname|SS South Sudan|ST Sao Tome and Principe|SV El Salvador
  SX Sint Maarten (Dutch part)|SY Syrian Arab Republic|SZ Swaziland|TC Turks and Caicos Islands
  TD Chad|TF French Southern Territories|TG Togo|TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste
  TM Turkmenistan|TN Tunisia|TO Tonga|TR Turkey|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan
  TZ Tanzania, United Republic of|UA Ukraine|UG Uganda|US United States|UY Uruguay|UZ Uzbekistan
  VA Holy See (Vatican City State)|VC Saint Vincent and the Grenadines
  VE Venezuela, Bolivarian Republic of|VG Virgin Islands, British|VN Vietnam|VU Vanuatu
  WF Wallis and Futuna|WS Samoa|YE Yemen|YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe`)

/** States, provinces and counties of the countries that have them, of those that the sandbox needs. */
const orgStates: Readonly<Record<string, readonly PicklistPlace[]>> = Object.fromEntries(
  Object.entries(stateTexts()).map(([country, text]) => [country, places(text)]),
)

function places(text: string): PicklistPlace[] {
  return text.split(/[|\n]/).flatMap((line) => {
    const [, code, name] = /^\s*(\w+) (.+?)\s*$/.exec(line) ?? []
    return code !== undefined && name !== undefined ? [{ code, name }] : []
  })
}

function stateTexts(): Record<string, string> {
  return {
    AU: `
      ACT Australian Capital Territory|NSW New South Wales|NT Northern Territory|QLD Queensland
      SA South Australia|TAS Tasmania|VIC Victoria|WA Western Australia`,
    BR: `
      AC Acre|AL Alagoas|AM Amazonas|AP Amapá|BA Bahia|CE Ceará|DF Distrito Federal|ES Espírito Santo
      GO Goiás|MA Maranhão|MG Minas Gerais|MS Mato Grosso do Sul|MT Mato Grosso|PA Pará|PB Paraíba
      PE Pernambuco|PI Piauí|PR Paraná|RJ Rio de Janeiro|RN Rio Grande do Norte|RO Rondônia|RR Roraima
      RS Rio Grande do Sul|SC Santa Catarina|SE Sergipe|SP São Paulo|TO Tocantins`,
    CA: `
      AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador
      NS Nova Scotia|NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec
      SK Saskatchewan|YT Yukon Territories`,
    IE: `
      CE Clare|CN Cavan|CO Cork|CW Carlow|D Dublin|DL Donegal|G Galway|KE Kildare|KK Kilkenny|KY Kerry
      LD Longford|LH Louth|LK Limerick|LM Leitrim|LS Laois|MH Meath|MN Monaghan|MO Mayo|OY Offaly
      RN Roscommon|SO Sligo|TA Tipperary|WD Waterford|WH Westmeath|WW Wicklow|WX Wexford`,
    IT: `
      AG Agrigento|AL Alessandria|AN Ancona|AO Aosta|AP Ascoli Piceno|AQ L'Aquila|AR Arezzo|AT Asti
      AV Avellino|BA Bari|BG Bergamo|BI Biella|BL Belluno|BN Benevento|BO Bologna|BR Brindisi
      BS Brescia|BT Barletta-Andria-Trani|BZ Bolzano|CA Cagliari|CB Campobasso|CE Caserta|CH Chieti
      CI Carbonia-Iglesias|CL Caltanissetta|CN Cuneo|CO Como|CR Cremona|CS Cosenza|CT Catania
      CZ Catanzaro|EN Enna|FC Forlì-Cesena|FE Ferrara|FG Foggia|FI Florence|FM Fermo|FR Frosinone
      GE Genoa|GO Gorizia|GR Grosseto|IM Imperia|IS Isernia|KR Crotone|LC Lecco|LE Lecce|LI Livorno
      LO Lodi|LT Latina|LU Lucca|MB Monza and Brianza|MC Macerata|ME Messina|MI Milan|MN Mantua
      MO Modena|MS Massa and Carrara|MT Matera|NA Naples|NO Novara|NU Nuoro|OG Ogliastra|OR Oristano
      OT Olbia-Tempio|PA Palermo|PC Piacenza|PD Padua|PE Pescara|PG Perugia|PI Pisa|PN Pordenone
      PO Prato|PR Parma|PT Pistoia|PU Pesaro and Urbino|PV Pavia|PZ Potenza|RA Ravenna
      RC Reggio Calabria|RE Reggio Emilia|RG Ragusa|RI Rieti|RM Rome|RN Rimini|RO Rovigo|SA Salerno
      SI Siena|SO Sondrio|SP La Spezia|SR Syracuse|SS Sassari|SV Savona|TA Taranto|TE Teramo|TN Trento
      TO Turin|TP Trapani|TR Terni|TS Trieste|TV Treviso|UD Udine|VA Varese|VB Verbano-Cusio-Ossola
      VC Vercelli|VE Venice|VI Vicenza|VR Verona|VS Medio Campidano|VT Viterbo|VV Vibo Valentia`,
    MX: `
      AG Aguascalientes|BC Baja California|BS Baja California Sur|CH Chihuahua|CL Colima|CM Campeche
      CO Coahuila|CS Chiapas|DF Federal District|DG Durango|GR Guerrero|GT Guanajuato|HG Hidalgo
      JA Jalisco|ME Mexico State|MI Michoacán|MO Morelos|NA Nayarit|NL Nuevo León|OA Oaxaca|PB Puebla
      QE Querétaro|QR Quintana Roo|SI Sinaloa|SL San Luis Potosí|SO Sonora|TB Tabasco|TL Tlaxcala
      TM Tamaulipas|VE Veracruz|YU Yucatán|ZA Zacatecas`,
    US: `
      AA Armed Forces Americas|AE Armed Forces Europe|AK Alaska|AL Alabama|AP Armed Forces Pacific
      AR Arkansas|AS American Samoa|AZ Arizona|CA California|CO Colorado|CT Connecticut
      DC District of Columbia|DE Delaware|FL Florida|FM Federated Micronesia|GA Georgia|GU Guam
      HI Hawaii|IA Iowa|ID Idaho|IL Illinois|IN Indiana|KS Kansas|KY Kentucky|LA Louisiana
      MA Massachusetts|MD Maryland|ME Maine|MH Marshall Islands|MI Michigan|MN Minnesota|MO Missouri
      MP Northern Mariana Islands|MS Mississippi|MT Montana|NC North Carolina|ND North Dakota
      NE Nebraska|NH New Hampshire|NJ New Jersey|NM New Mexico|NV Nevada|NY New York|OH Ohio
      OK Oklahoma|OR Oregon|PA Pennsylvania|PR Puerto Rico|PW Palau|RI Rhode Island|SC South Carolina
      SD South Dakota|TN Tennessee|TX Texas|UM United States Minor Outlying Islands|UT Utah
      VA Virginia|VI US Virgin Islands|VT Vermont|WA Washington|WI Wisconsin|WV West Virginia
      WY Wyoming`,
  }
}

type Values = Readonly<Record<string, string | number | boolean | null | undefined>>

/** The reasons why an org refuses a state or country (FIELD_INTEGRITY_EXCEPTION). */
export interface PlaceFault {
  readonly field: string
  readonly message: string
}

/**
 * Returns values with state and country as code and as integration value, which an org with the picklists keeps in step,
 * or why it refuses them. `before` is the record as it is.
 */
export function settlePlaces(
  prefix: string,
  before: Values,
  values: Readonly<Record<string, string | number | boolean | null>>,
): PlaceFault | Record<string, string | number | boolean | null> {
  const names = {
    country: `${prefix}Country`,
    countryCode: `${prefix}CountryCode`,
    state: `${prefix}State`,
    stateCode: `${prefix}StateCode`,
  }
  const country = choose(values, names.countryCode, names.country, orgCountries, 'country')
  if (country && 'message' in country) return country
  const after = country === undefined ? before[names.countryCode] : country.place?.code
  const states = (typeof after === 'string' ? orgStates[after] : undefined) ?? []
  const state = choose(values, names.stateCode, names.state, states, 'state')
  if (state && 'message' in state)
    return after === undefined || after === null
      ? {
          field: state.field,
          message:
            'A country/territory must be specified before specifying a state value for field: State/Province',
        }
      : state
  const staying = state ? undefined : before[names.stateCode]
  if (typeof staying === 'string' && !states.some(({ code }) => code === staying))
    return {
      field: names.state,
      message: `The existing country doesn't recognize the state value ${staying}. Either change the state or the country.`,
    }
  return {
    ...values,
    ...(country
      ? { [names.country]: country.place?.name ?? null, [names.countryCode]: country.place?.code ?? null }
      : {}),
    ...(state
      ? { [names.state]: state.place?.name ?? null, [names.stateCode]: state.place?.code ?? null }
      : {}),
  }
}

/** Returns undefined where neither code nor text is given, and no place where they are cleared. */
function choose(
  values: Values,
  codeField: string,
  textField: string,
  places: readonly PicklistPlace[],
  what: 'country' | 'state',
): { place: PicklistPlace | undefined } | PlaceFault | undefined {
  const given = [
    [codeField, 'code'],
    [textField, 'name'],
  ] as const
  let found: { place: PicklistPlace | undefined } | undefined
  for (const [field, by] of given) {
    const value = values[field]
    if (value === undefined) continue
    if (value === null) {
      found ??= { place: undefined }
      continue
    }
    const place = places.find((each) => each[by].toLowerCase() === String(value).toLowerCase())
    if (!place || (found?.place && found.place !== place))
      return {
        field,
        message: `There's a problem with this ${what}, even though it may appear correct. Please select a ${what === 'country' ? 'country/territory' : 'state'} from the list of valid ${what === 'country' ? 'countries' : 'states'}.`,
      }
    found = { place }
  }
  return found
}

/** All states in one list, as a describe call returns them: codes repeat, and `validFor` says for which countries. */
export function describedStates(): { value: string; label: string; validFor: string }[] {
  return Object.entries(orgStates).flatMap(([country, states]) => {
    const index = orgCountries.findIndex(({ code }) => code === country)
    const bits = Buffer.alloc(Math.ceil(orgCountries.length / 8))
    bits[index >> 3] = 0x80 >> (index % 8)
    return states.map(({ code, name }) => ({ value: code, label: name, validFor: bits.toString('base64') }))
  })
}

/** Returns the parts that a text field of an org without the picklists would have kept, as the picklists keep them. */
export function knownPlaces(prefix: string, fields: Values): Values {
  const known = { ...fields }
  const settled = settlePlaces(
    prefix,
    {},
    { [`${prefix}Country`]: String(fields[`${prefix}Country`] ?? '') || null },
  )
  for (const name of ['Country', 'CountryCode', 'State', 'StateCode']) delete known[`${prefix}${name}`]
  return 'message' in settled ? known : { ...known, ...settled }
}
