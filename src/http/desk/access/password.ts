import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** 32 MB and three passes: tens of milliseconds for us, expensive for an attacker who has only the hash. */
const cost = { N: 2 ** 15, r: 8, p: 3 }
const maxmem = 128 * 1024 * 1024
const pattern = /^scrypt:(\d{1,7}):(\d{1,2}):(\d{1,2}):([\w-]{16,}):([\w-]{40,})$/

/** Returns `scrypt:N:r:p:salt:hash`, without a dollar sign because env files and compose read that as a variable. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, 32, cost)
  return ['scrypt', cost.N, cost.r, cost.p, salt.toString('base64url'), hash.toString('base64url')].join(':')
}

/** Returns whether a text is a hash as `hashPassword` makes it, with cost parameters in an acceptable range. */
export function isPasswordHash(text: string): boolean {
  const match = pattern.exec(text)
  if (!match) return false
  const [N, r, p] = [match[1], match[2], match[3]].map(Number) as [number, number, number]
  return N >= 2 ** 14 && Number.isInteger(Math.log2(N)) && r > 0 && p > 0 && 128 * N * r < maxmem
}

export async function verifyPassword(password: string, stored: string): Promise<boolean> {
  const match = pattern.exec(stored)
  if (!match) return false
  const [, N, r, p, salt = '', hash = ''] = match
  const expected = Buffer.from(hash, 'base64url')
  const actual = await derive(password, Buffer.from(salt, 'base64url'), expected.length, {
    N: Number(N),
    r: Number(r),
    p: Number(p),
  })
  return timingSafeEqual(expected, actual)
}

function derive(password: string, salt: Buffer, length: number, terms: typeof cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, length, { ...terms, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    )
  })
}
