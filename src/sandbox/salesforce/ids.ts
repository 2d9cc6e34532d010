const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const CHECK = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ012345'

/** Returns the 18-character id of the n-th record of an object. */
export function makeId(keyPrefix: string, index: number): string {
  let digits = ''
  for (let rest = index; digits.length < 9; rest = Math.floor(rest / 62)) digits = BASE62[rest % 62] + digits
  return toLongId(`${keyPrefix}Wx0${digits}`)
}

/** Adds the three check characters that make an id safe where letter case is lost. Returns long ids unchanged. */
export function toLongId(id: string): string {
  if (id.length !== 15) return id
  let suffix = ''
  for (let part = 0; part < 3; part++) {
    let bits = 0
    for (let at = 0; at < 5; at++) if (/[A-Z]/.test(id[part * 5 + at] ?? '')) bits |= 1 << at
    suffix += CHECK[bits]
  }
  return id + suffix
}

export function isId(text: string): boolean {
  return (
    /^[A-Za-z0-9]{15}$/.test(text) || (/^[A-Za-z0-9]{18}$/.test(text) && toLongId(text.slice(0, 15)) === text)
  )
}

/** The user that the API's requests run as. */
export const API_USER_ID = toLongId('005Wx0000000A1B')

/** The queue to which the org's rule assigns new leads. */
export const LEAD_QUEUE_ID = toLongId('00GWx0000000Q1U')
