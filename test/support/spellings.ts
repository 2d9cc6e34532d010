/** A file of rows, and what it must come to: worked out from how it was made, not by reading it again. */
export interface MadeFile {
  csv: string
  header: string[]
  rows: string[][]
  /** By row: the URL in its plainest spelling under which the row has to be bought; null when the row is never bought. */
  profiles: (string | null)[]
  /** Distinct profiles. */
  distinct: string[]
}

/** Ways in which people write one and the same profile URL. */
const writings: ((kind: string, slug: string) => string)[] = [
  (kind, slug) => `https://www.profnet.example/${kind}/${slug}`,
  (kind, slug) => `http://profnet.example/${kind}/${slug}/`,
  (kind, slug) => `https://DE.Profnet.Example/${kind}/${slug.toUpperCase()}?trk=crm#about`,
  (kind, slug) => `profnet.example/${kind}/${slug}/about/`,
  (kind, slug) => ` https://uk.profnet.example//${kind}/${slug} `,
  (kind, slug) => `https://m.profnet.example/${kind}/${slug.replaceAll('-', '%2D')}`,
]

export function writtenAs(way: number, kind: string, slug: string): string {
  return (writings[way % writings.length] as (typeof writings)[number])(kind, slug)
}

const plain = (kind: string, slug: string) => `https://www.profnet.example/${kind}/${slug}`

/** `slugs` in the order of the rows: one that comes again is a duplicate, and written in another way. */
export function makeFile(slugs: readonly (string | null)[], kind: 'company' | 'in' = 'company'): MadeFile {
  const times = new Map<string, number>()
  const header = ['Id', 'Name, as typed', 'profnet url', 'note']
  const rows = slugs.map((slug, index) => {
    const time = slug === null ? 0 : (times.get(slug) ?? 0)
    if (slug !== null) times.set(slug, time + 1)
    const url = slug === null ? 'https://www.profnet.example/jobs/1' : writtenAs(time, kind, slug)
    return [`00${index + 1}`, `Näme "${index}", 会社`, url, index % 7 === 0 ? 'two\nlines' : '']
  })
  const profiles = slugs.map((slug) => (slug === null ? null : plain(kind, slug)))
  return {
    csv: `${[header, ...rows].map((row) => row.map(quoted).join(',')).join('\n')}\n`,
    header,
    rows,
    profiles,
    distinct: [...new Set(profiles.filter((profile) => profile !== null))],
  }
}

function quoted(cell: string): string {
  return /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
