/** Returns a count with its noun: `1 record`, `2 records`, `1 company`. */
export function counted(count: number, one: string, many = pluralOf(one)): string {
  return `${count} ${count === 1 ? one : many}`
}

function pluralOf(noun: string): string {
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`
}
