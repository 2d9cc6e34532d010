// Writes samples/companies.csv and samples/people.csv: CRM exports of 300 rows each with the usual defects. Seeded, so
// that running it again changes nothing.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', 'samples')

let state = 20_261_120
/** A small linear congruential generator (Numerical Recipes): good enough for samples, and the same everywhere. */
function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const pick = (list) => list[Math.floor(random() * list.length)]

const firstWords =
  'Harbour Northern Blue Silver Granite Maple Lumen Kestrel Orchard Atlas Juniper Beacon Cobalt Willow Summit Delta Falcon Ember Quartz Meridian'.split(
    ' ',
  )
const secondWords =
  'Lights Robotics Foods Analytics Freight Textiles Optics Energy Studios Pharma Mills Software Ceramics Logistics Timber Biotech Games Motors Seeds Instruments'.split(
    ' ',
  )
const foreign = [
  '東京精密',
  'Газмаш',
  'شركة النور',
  'Größe & Söhne',
  'Łódź Meble',
  'Ελληνικά Νήματα',
  'São Tomé Café',
  '한빛소프트',
  'Żuraw',
  'Crème Brûlée SARL',
]
const givenNames =
  'Amara Bjorn Chiara Dmitri Elena Farid Grace Hiro Ines Jonas Kavya Liam Mei Noor Oskar Priya Quentin Rosa Samir Tove'.split(
    ' ',
  )
const familyNames =
  'Adeyemi Berg Conti Duarte Eriksen Fischer Garcia Hansen Ito Jansen Kowalski Lopez Moreau Novak Okafor Petrov Rossi Silva Tanaka Weber'.split(
    ' ',
  )
const foreignPeople = ['山田 太郎', 'Анна Смирнова', 'José Núñez', 'Zoë Müller', 'محمد علي', '김 민지']
const owners = ['j.doe', 'A. Smith', 'rev-ops', '']
const notes = [
  '',
  '',
  '',
  'met at the fair,\nfollow up in May',
  'said: "call me", then silence',
  'VIP; renew\r\n(asked twice)',
  '  ',
  'n/a',
]

const slug = (name) =>
  name
    .toLowerCase()
    .normalize('NFC')
    .replace(/[&.,']/g, '')
    .trim()
    .replace(/\s+/g, '-')

/** Returns the same profile in the spellings that different people use. */
function spellings(segment, name) {
  const path = encodeURI(`/${segment}/${name}`)
  return [
    `https://www.profnet.com${path}`,
    `https://www.profnet.com${path}/`,
    `http://profnet.com${path}`,
    `https://de.profnet.com${path}/?trk=public_profile`,
    `HTTPS://WWW.PROFNET.COM${path}`,
    `profnet.com/${segment}/${name}`,
    `https://www.profnet.com${path}/about/#main`,
    ` https://uk.profnet.com${path} `,
  ]
}

function broken(segment) {
  return pick([
    'n/a',
    'https://',
    `https://www.profnet.com/${segment}/`,
    'www.example.com',
    'https://www.profnet.com/jobs/view/12',
    'see website',
    `https://www.profnet.com/${segment}/%E0%A4%A`,
    'ftp://profnet.com/x',
  ])
}

const quote = (cell) =>
  /[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell

function write(file, header, rows) {
  const lines = [header, ...rows].map((cells) =>
    typeof cells === 'string' ? cells : cells.map(quote).join(','),
  )
  writeFileSync(join(folder, file), `\ufeff${lines.join('\r\n')}\r\n`)
}

function make({ segment, otherSegment, nameOf, rowOf }) {
  const rows = []
  const seen = []
  for (let n = 1; n <= 300; n += 1) {
    const dice = random()
    const again = seen.length > 20 && dice < 0.15
    const name = again ? pick(seen) : nameOf(n)
    if (!again) seen.push(name)
    let url = again ? pick(spellings(segment, slug(name))) : spellings(segment, slug(name))[n % 3]
    if (dice > 0.95) url = ''
    else if (dice > 0.91) url = broken(segment)
    else if (dice > 0.905) url = `https://www.profnet.com/${otherSegment}/${slug(name)}`
    const row = rowOf(n, name, url)
    // Two rows do not fit the header: one is too short, one too long.
    rows.push(n === 77 ? row.slice(0, 2) : n === 201 ? [...row, 'surplus'] : row)
  }
  return rows
}

write(
  'companies.csv',
  ['Record ID', 'Company name', 'Website URL', 'Profnet URL', 'Country/Region', 'Owner', 'Notes'],
  make({
    segment: 'company',
    otherSegment: 'in',
    nameOf: (n) =>
      n % 17 === 0
        ? `${pick(foreign)} ${n}`
        : `${pick(firstWords)} ${pick(secondWords)}${n % 3 === 0 ? ` ${n}` : ''}`,
    rowOf: (n, name, url) => [
      String(90_000 + n),
      name,
      random() < 0.4 ? `https://www.${slug(name).replace(/[^a-z0-9-]/g, '') || 'x'}.example` : '',
      url,
      pick(['DE', 'United States', 'france', '', 'JP']),
      pick(owners),
      pick(notes),
    ],
  }),
)
write(
  'people.csv',
  ['Contact ID', 'First Name', 'Last Name', 'Email', 'Company', 'profnet-url', 'Notes'],
  make({
    segment: 'in',
    otherSegment: 'company',
    nameOf: (n) =>
      n % 19 === 0
        ? `${pick(foreignPeople)} ${n}`
        : `${pick(givenNames)} ${pick(familyNames)}${n % 4 === 0 ? ` ${n}` : ''}`,
    rowOf: (n, name, url) => {
      const [given = '', ...family] = name.replace(/ \d+$/, '').split(' ')
      return [
        String(40_000 + n),
        given,
        family.join(' '),
        random() < 0.6 ? `contact${n}@${pick(firstWords).toLowerCase()}.example` : '',
        `${pick(firstWords)} ${pick(secondWords)}`,
        url,
        pick(notes),
      ]
    },
  }),
)
