/** A `REDIS_URL`, taken apart. */
export type RedisAddress = {
  isEncrypted: boolean
  username: string | undefined
  password: string | undefined
} & (
  | { kind: 'server'; url: string }
  | { kind: 'sentinel'; hosts: Host[]; name: string; db: number }
  | { kind: 'cluster'; hosts: Host[] }
)

interface Host {
  host: string
  port: number
}

const form = /^(rediss?)\+(sentinel|cluster):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^/?#]*)(?:\/(\d{1,4}))?)?$/
const defaultPorts = { sentinel: 26_379, cluster: 6_379 }

/**
 * Reads `redis://HOST:PORT`, `redis+sentinel://HOST:PORT,HOST:PORT/NAME` or `redis+cluster://HOST:PORT,HOST:PORT`, each also
 * with `rediss` for TLS. Returns undefined for a text of another form.
 */
export function redisAddress(text: string): RedisAddress | undefined {
  const found = form.exec(text)
  if (!found) return serverAddress(text)
  const [, scheme, kind = '', user, list = '', name = '', db = '0'] = found
  const hosts = list.split(',').map((each) => hostOf(each, defaultPorts[kind as 'sentinel' | 'cluster']))
  if (hosts.includes(undefined)) return undefined
  const [username, ...password] = (user ?? '').split(':')
  const base = {
    isEncrypted: scheme === 'rediss',
    username: decoded(username),
    password: decoded(password.join(':')),
    hosts: hosts as Host[],
  }
  if (kind === 'cluster') return name === '' ? { ...base, kind } : undefined
  return name === '' ? undefined : { ...base, kind: 'sentinel', name, db: Number(db) }
}

/** Returns true for an address at which keys are spread over servers by their hash tag. */
export function isCluster(text: string | undefined): boolean {
  return text !== undefined && redisAddress(text)?.kind === 'cluster'
}

/** Returns hosts and ports only: the text may hold a password. */
export function redisHosts(text: string): string {
  return /^[a-z+]+:\/\/(?:[^@/?#]*@)?([^/?#]+)/.exec(text)?.[1] ?? 'the given address'
}

function serverAddress(text: string): RedisAddress | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') return undefined
  const isEncrypted = url.protocol === 'rediss:'
  // The client would take the scheme's bare TLS for ours, which may have certificates.
  return {
    kind: 'server',
    isEncrypted,
    username: decoded(url.username),
    password: decoded(url.password),
    url: text.replace(/^rediss:/, 'redis:'),
  }
}

function hostOf(text: string, defaultPort: number): Host | undefined {
  const [, host = '', port] = /^([\w.-]+|\[[0-9a-fA-F:]+\])(?::(\d{1,5}))?$/.exec(text) ?? []
  if (host === '') return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: port === undefined ? defaultPort : Number(port) }
}

function decoded(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : decodeURIComponent(text)
}
