import type { ListSettings } from '../../config/lists.ts'

/** One search of a list. */
export interface ListSearch {
  name: string
  filters: ListSettings['filters']
  /** Its place in the settings, for messages. */
  place: string
}

const shown = 60

/** Returns the searches whose rows together are a list: one a partition, or one in all. */
export function searchesOf(list: string, { filters, partitions }: ListSettings): ListSearch[] {
  if (!partitions) return [{ name: 'all', filters, place: `lists.${list}` }]
  return partitions.map((own, at) => ({
    name: `${at + 1} (${wordsOf(own)})`,
    filters: { ...filters, ...own },
    place: `lists.${list}.partitions[${at}]`,
  }))
}

function wordsOf(filters: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(filters).map(
    ([key, value]) => `${key}: ${Array.isArray(value) ? value.join(', ') : String(value)}`,
  )
  const text = words.join('; ')
  return text.length > shown ? `${text.slice(0, shown)}…` : text
}
