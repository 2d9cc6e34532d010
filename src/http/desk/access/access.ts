import { BlockList, isIP } from 'node:net'
import type { DeskRole } from '../../../store/access/sessions.ts'

/** Who may use the desk, as config and environment say. */
export interface DeskAccess {
  /**
   * `open`: nobody is set up and the server listens on the loopback: whoever sits at this machine is admin. `closed`: nobody
   * is set up, and others than those can reach it: nobody gets in.
   */
  mode: 'open' | 'closed' | 'sign_in'
  users: DeskUser[]
  proxy: TrustedProxy | undefined
  /** Names (without port) under which the desk answers. Empty: under any, since every visitor must sign in. */
  hosts: string[]
}

export interface DeskUser {
  name: string
  passwordHash: string
  role: DeskRole
}

interface TrustedProxy {
  isTrusted: (address: string | undefined) => boolean
  /** The header in which it names the user that it has signed in. Absent: it only forwards. */
  userHeader: string | undefined
  roles: Record<string, DeskRole>
  /** Of users whom `roles` does not name; absent: they are turned away. */
  defaultRole: DeskRole | undefined
}

export const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** Addresses and networks such as `10.0.0.0/8`. Throws RangeError naming what is neither. */
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

/** What proxies add, each some of it. */
const forwardingHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]

/**
 * How a request has reached us. `local`: from this machine, where nobody is set up. `sign_in`: from anywhere, and whoever it
 * is must show who it is. The others get nothing: `unprotected` is a closed desk, `host` a name that is not ours (a page
 * elsewhere may have bound its own to this address), `open_behind_proxy` what a proxy has handed on where nobody signs in.
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
