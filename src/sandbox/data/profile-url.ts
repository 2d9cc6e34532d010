export type ProfileKind = 'company' | 'person'

// The path segments that precede the name of a profile.
const segments = { company: ['company'], person: ['in', 'pub'] } as const

/**
 * Returns the profile that a URL names, in one spelling: `company/acme-robotics`, `in/ada-moreau`. Returns null if it
 * names none. The rules are written here and not taken from the domain, so that a wrong key there cannot agree with the
 * sandbox.
 */
export function profileKey(kind: ProfileKind, url: string): string | null {
  if (!/^https?:\/\//i.test(url.trim()) || !URL.canParse(url.trim())) return null
  const parts = new URL(url.trim()).pathname.split('/').filter(Boolean)
  const at = parts.findIndex((part) => (segments[kind] as readonly string[]).includes(part.toLowerCase()))
  const name = parts[at + 1]
  if (at === -1 || name === undefined) return null
  const written = unescape(name)
  const current = numbered.get(`${kind} ${written}`) ?? written.replace(/^formerly-(?=.)/, '')
  return `${parts[at]!.toLowerCase()}/${current}`
}

/** The names of the companies whose numbers were told, by number. */
const numbered = new Map<string, string>()

/**
 * Lets a company be asked for by its number from now on, as in `/company/4711`. As for `/in/formerly-ada`, which is the name
 * that `/in/ada` had before, the answer bears the current name.
 */
export function tellNumber(number: string, slug: string): void {
  numbered.set(`company ${number}`, slug)
}

function unescape(name: string) {
  try {
    return decodeURIComponent(name).normalize('NFC').toLowerCase().trim()
  } catch {
    return name.toLowerCase()
  }
}

/**
 * Returns whether the sandbox knows nothing about the profile: names ending in `-missing`, and about 6 in 100 others.
 */
export function isMissing(key: string, percentile: number): boolean {
  return key.endsWith('-missing') || percentile < 6
}

/**
 * Returns the words of a profile's name, as a title: `acme-robotics` is `Acme Robotics`. Returns null if it has no
 * letters.
 */
export function titleOf(key: string): string | null {
  const words = key
    .slice(key.indexOf('/') + 1)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => /\p{L}/u.test(word) && !/\d/.test(word))
  if (words.length === 0) return null
  return words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(' ')
}
