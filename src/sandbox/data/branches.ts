import { firmTrades, firmWords } from './names.ts'

// The companies of the world beside the firms of the directory. Each is named after a firm and a word, and has a domain
// of its own: `amber-analytics-north.example`.

const FIRMS = firmWords.length * firmTrades.length

const branchWords = [
  'alder',
  'anchor',
  'arch',
  'beacon',
  'bridge',
  'brook',
  'canyon',
  'cedar',
  'cliff',
  'coast',
  'crane',
  'crest',
  'dune',
  'east',
  'elm',
  'falcon',
  'fern',
  'forge',
  'gate',
  'glade',
  'grove',
  'haven',
  'heron',
  'hill',
  'isle',
  'lake',
  'lark',
  'maple',
  'marsh',
  'meadow',
  'mesa',
  'north',
  'oak',
  'orchard',
  'peak',
  'pine',
  'prairie',
  'reef',
  'river',
  'south',
  'spring',
  'spruce',
  'stone',
  'summit',
  'tide',
  'vale',
  'west',
  'willow',
  'wren',
] as const

/** The number of companies in the world: the firms of the directory first, then their namesakes. */
export const WORLD_SIZE = FIRMS * (1 + branchWords.length)

/** Returns the profile slug of a company of the world. It is its domain too, without `.example`. */
export function worldSlug(index: number): string {
  if (!Number.isInteger(index) || index < 0 || index >= WORLD_SIZE) throw new RangeError('no such company')
  const firm = index % FIRMS
  const words = `${firmWords[firm % firmWords.length]}-${firmTrades[Math.floor(firm / firmWords.length)]}`
  return index < FIRMS ? words : `${words}-${branchWords[Math.floor(index / FIRMS) - 1]}`
}

/** Returns the index of the company with this slug; null for every company outside the world. */
export function indexOfWorldSlug(slug: string): number | null {
  const [word = '', trade = '', branch, ...others] = slug.split('-')
  const at = [firmWords.indexOf(word as never), firmTrades.indexOf(trade as never)] as const
  const turn = branch === undefined ? 0 : branchWords.indexOf(branch as never) + 1
  if (at.includes(-1) || others.length > 0 || (branch !== undefined && turn === 0)) return null
  return turn * FIRMS + at[1] * firmWords.length + at[0]
}

/** Returns whether a slug is of a company that only the world has, not the directory. */
export function isBranch(slug: string): boolean {
  return (indexOfWorldSlug(slug) ?? 0) >= FIRMS
}
