const mostNames = 100
const token = /^[a-z0-9!#$%&'*+.^_`|~-]{1,80}$/

/** Headers of any request, and of proxies. They tell nothing about how the service signs. */
const common = new Set([
  'accept',
  'accept-charset',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'cdn-loop',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'pragma',
  'priority',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'via',
])
const commonPrefix = /^(x-forwarded-|x-real-ip$|cf-|sec-)/

/** Returns the names of headers that nothing here reads, in small letters. Never a value. Pure. */
export function foreignHeaders(names: Iterable<string>, own: readonly string[]): string[] {
  const known = new Set(own.map((name) => name.toLowerCase()))
  const given = new Set([...names].map((name) => name.toLowerCase()))
  return [...given]
    .filter((name) => token.test(name) && !common.has(name) && !commonPrefix.test(name) && !known.has(name))
    .toSorted()
    .slice(0, mostNames)
}
