/** The addresses in a `DATABASE_URL`, in their order. */
export interface DatabaseAddresses {
  /** One URL for each host, as the driver reads it. */
  urls: readonly [string, ...string[]]
  /** A host that refuses writes is passed over. */
  needsPrimary: boolean
}

const form = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?$/
const attributes = ['any', 'read-write', 'primary']

/**
 * Reads `postgres://USER@HOST:PORT,HOST:PORT/NAME?target_session_attrs=read-write`, the form of libpq, which the driver does
 * not know. Returns undefined for a text of another form. Several hosts are standbys of each other, so the primary is looked
 * for among them unless the URL says `any`.
 */
export function databaseAddresses(url: string): DatabaseAddresses | undefined {
  const [, scheme = '', user = '', hosts = '', path = '', query = ''] = form.exec(url) ?? []
  if (scheme === '') return undefined
  const parameters = new URLSearchParams(query)
  const wanted = parameters.get('target_session_attrs')
  if (wanted !== null && !attributes.includes(wanted)) return undefined
  parameters.delete('target_session_attrs')
  const rest = parameters.size > 0 ? `?${parameters}` : ''
  const [first = '', ...others] = hosts.split(',').map((host) => `${scheme}${user}${host}${path}${rest}`)
  const urls = [first, ...others] as const
  const isComplete = others.length === 0 || !hosts.split(',').includes('')
  if (!isComplete || !urls.every((each) => URL.canParse(each))) return undefined
  return { urls, needsPrimary: wanted === null ? others.length > 0 : wanted !== 'any' }
}

/** Returns hosts and ports only, because the URL may hold a password. */
export function hostsOf(url: string): string {
  return form.exec(url)?.[3] || 'the given address'
}
