// The vocabulary of the generated CRM records. Untidy spellings are intended.

export interface Country {
  readonly code: string
  readonly names: readonly string[]
  readonly dial: string
  readonly tld: string
  readonly forms: readonly string[]
  readonly cities: readonly string[]
}

export const countries: readonly Country[] = [
  {
    code: 'US',
    names: ['United States', 'USA', 'US', 'U.S.'],
    dial: '1',
    tld: 'us',
    forms: ['Inc.', 'LLC', 'Corp'],
    cities: ['Austin', 'Denver', 'new york'],
  },
  {
    code: 'DE',
    names: ['Germany', 'Deutschland', 'DE'],
    dial: '49',
    tld: 'de',
    forms: ['GmbH', 'AG', 'GmbH & Co. KG'],
    cities: ['Berlin', 'München', 'KÖLN'],
  },
  {
    code: 'FR',
    names: ['France', 'FR'],
    dial: '33',
    tld: 'fr',
    forms: ['SAS', 'SARL'],
    cities: ['Paris', 'Lyon'],
  },
  {
    code: 'GB',
    names: ['United Kingdom', 'UK', 'England'],
    dial: '44',
    tld: 'uk',
    forms: ['Ltd', 'PLC'],
    cities: ['London', 'Leeds '],
  },
  {
    code: 'SE',
    names: ['Sweden', 'Sverige'],
    dial: '46',
    tld: 'se',
    forms: ['AB'],
    cities: ['Stockholm', 'Malmö'],
  },
  {
    code: 'BR',
    names: ['Brazil', 'Brasil'],
    dial: '55',
    tld: 'br',
    forms: ['Ltda', 'S.A.'],
    cities: ['São Paulo', 'Recife'],
  },
]
export const companyStems = [
  'Nor',
  'Bright',
  'Kal',
  'Vel',
  'Ost',
  'Terra',
  'Hal',
  'Mira',
  'Zeph',
  'Quill',
  'Über',
  'Lum',
]
export const companyEndings = [
  'vik',
  'forge',
  'dera',
  'tano',
  'sen',
  'mark',
  'core',
  'wen',
  'bridge',
  'ström',
]
export const sectors = [
  'Labs',
  'Logistics',
  'Systems',
  'Foods',
  'Robotics',
  'Health',
  'Energy',
  'Media',
  'Textiles',
  'Software',
]
export const industries = [
  'COMPUTER_SOFTWARE',
  'LOGISTICS_AND_SUPPLY_CHAIN',
  'FOOD_PRODUCTION',
  'HOSPITAL_HEALTH_CARE',
  'TEXTILES',
  'ONLINE_MEDIA',
]
export const firstNames = [
  'Ana',
  'Jürgen',
  'María',
  'Liam',
  'Zoë',
  'Søren',
  'Priya',
  'Chen',
  'Olu',
  'Émile',
  'Katarzyna',
  'Noah',
  'Fatima',
  'Bjørn',
  'Ivy',
]
export const lastNames = [
  'Meyer',
  "O'Neil",
  'García',
  'Nguyen',
  'van Dijk',
  'Müller',
  'Smith-Jones',
  'Okafor',
  'Lindström',
  'Rossi',
  'Kowalska',
  'Brown',
  'Haddad',
  'Groß',
]
export const jobTitles = [
  'CEO',
  'cto',
  'Head of Sales',
  'VP Marketing',
  'Software Engineer',
  'Einkauf',
  'Ops Manager',
  '-',
]
