const checkSigns = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'

/**
 * Returns the 18-character form of an id; undefined for a text that is not an id, or is an id of another object: a
 * request with such an id may be refused as a whole.
 */
export function longId(id: string, keyPrefix = ''): string | undefined {
  if (!/^[A-Za-z0-9]{15}(?:[A-Za-z0-9]{3})?$/.test(id) || !id.startsWith(keyPrefix)) return undefined
  return id.slice(0, 15) + checkSuffix(id)
}

/** Returns three characters that encode the letter case of the fifteen before them, five each. */
function checkSuffix(id: string): string {
  return [0, 5, 10]
    .map((from) => {
      let bits = 0
      for (let at = 0; at < 5; at++) if (/[A-Z]/.test(id[from + at] as string)) bits |= 1 << at
      return checkSigns[bits]
    })
    .join('')
}
