import { BlockList, isIP } from 'node:net'
import type { DeskRole } from '../../../store/access/sessions.ts'

/** The users of the desk, as set by config and environment. */
export interface DeskAccess {
  /**
   * `open`: no user is set up and the server listens on the loopback, so anyone at this machine is admin. `closed`: no user
   * is set up and other machines can reach the server, so access is denied to all. `sign_in`: users must sign in.
   */
  mode: 'open' | 'closed' | 'sign_in'
  users: DeskUser[]
  proxy: TrustedProxy | undefined
  /** Host names (without port) that the desk accepts. Empty: any, because every visitor must sign in. */
  hosts: string[]
}

export interface DeskUser {
  name: string
  passwordHash: string
  role: DeskRole
}

interface TrustedProxy {
  isTrusted: (address: string | undefined) => boolean
  /** The header that names the signed-in user. Absent: the proxy only forwards. */
  userHeader: string | undefined
  roles: Record<string, DeskRole>
  /** The role of users whom `roles` does not name; when absent they are denied. */
  defaultRole: DeskRole | undefined
}

export const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** Matches addresses and networks such as `10.0.0.0/8`. Throws RangeError naming an invalid entry. */
export function addressMatcher(ranges: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address)
    const width = family === 4 ? 32 : 128
    const prefix = bits === undefined ? width : Number(bits)
    if (family === 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > width) {
      throw new RangeError(`not an address or network: ${range}`)
    }
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (raw) => {
    if (raw === undefined) return false
    const address = raw.replace(/^::ffff:(?=\d+\.)/i, '')
    const family = isIP(address)
    return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
  }
}

/** Headers that proxies add; each proxy adds some of them. */
const forwardingHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]

/**
 * The way a request reached the desk. `local`: from this machine, with no user set up. `sign_in`: from anywhere; the visitor
 * must sign in. The others are denied: `unprotected` means that the desk is closed, `host` that the host name is not ours
 * (DNS rebinding), `open_behind_proxy` that a proxy forwarded the request to a desk without sign-in.
 */
export type Arrival = 'local' | 'sign_in' | 'unprotected' | 'host' | 'open_behind_proxy'

export function arrivalOf({ mode, hosts }: DeskAccess, headers: Headers, host: string): Arrival {
  if (mode === 'closed') return 'unprotected'
  if (hosts.length > 0 && !hosts.includes(host.toLowerCase().replace(/:\d+$/, ''))) return 'host'
  if (mode === 'sign_in') return 'sign_in'
  return forwardingHeaders.some((name) => headers.has(name)) ? 'open_behind_proxy' : 'local'
}

const rank: Record<DeskRole, number> = { viewer: 0, operator: 1, admin: 2 }

export function mayAct(role: DeskRole, needed: DeskRole): boolean {
  return rank[role] >= rank[needed]
}
