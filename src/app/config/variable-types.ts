import { z } from 'zod'
import { ofType } from '../../domain/setting.ts'

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is not an address (0x and 40 hex digits)')
export const addresses = ofType(
  'addresses (`0x` and 40 hex digits), comma-separated',
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    // An empty list would trust the first recipient that is seen.
    .pipe(z.array(address).min(1, 'names no address; remove it to trust the first recipient that is seen')),
)
export const privateKey = ofType(
  '`0x` and 64 hex digits',
  z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'is not a private key (0x and 64 hex digits)'),
)
export const word = ofType(
  'one lower-case word',
  z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be one lower-case word'),
)
export const text = z.string().min(1)
export const secret = ofType('16 characters or more', z.string().min(16, 'must have 16 characters or more'))
export const headerName = ofType(
  'name of a header',
  z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header'),
)
export const port = ofType(
  'port',
  z
    .string()
    .regex(/^\d{1,5}$/, 'is not a port')
    .transform(Number)
    .pipe(z.number().max(65_535, 'is not a port')),
)
/** The address of a small server: a path is a Unix socket, and a port alone is on the loopback. */
export type ListenAddress = { path: string } | { host: string; port: number }

export const listenAddress = ofType(
  '`PORT`, `HOST:PORT` or path',
  z.string().transform((text, context): ListenAddress => {
    if (text.startsWith('/')) return { path: text }
    const [, host = '127.0.0.1', digits] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? []
    if (digits !== undefined && Number(digits) <= 65_535)
      return { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(digits) }
    context.addIssue('is neither a port, nor HOST:PORT, nor an absolute path')
    return z.NEVER
  }),
)
export const httpUrl = ofType('URL', z.url({ protocol: /^https?$/, error: 'is not an http(s) URL' }))
