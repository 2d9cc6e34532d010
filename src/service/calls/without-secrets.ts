/** Stands where a value was left out. */
const notKept = '(not kept)'

/**
 * Names of values by which somebody proves who he is: a header that a webhook checks, a token of a channel. Any of the parameters
 * of a channel template may be one.
 */
const secretName =
  /(^|_)(headers?|secrets?|tokens?|passwords?|authorization|credentials?|api_?keys?|parameters)$/i

/** Returns a JSON value without its secrets: their names stay. */
export function withoutSecrets<T>(value: T): T {
  return walk(value, (name, each) => (secretName.test(name) ? namesOnly(each) : undefined)) as T
}

/**
 * Returns the request of an action as the ledger keeps it. Beside the secrets it leaves out of an address all but its host: the
 * path of a webhook often is its password.
 */
export function withoutRequestSecrets<T>(request: T): T {
  return walk(request, (name, each) => {
    if (secretName.test(name)) return namesOnly(each)
    return typeof each === 'string' && /^https?:\/\//i.test(each) ? hostOnly(each) : undefined
  }) as T
}

/** Returns the text without any of the values that `withoutRequestSecrets` leaves out of the request. */
export function textWithoutSecrets(text: string, request: Readonly<Record<string, unknown>>): string {
  const [whole, kept] = [new Set(textsIn(request)), new Set(textsIn(withoutRequestSecrets(request)))]
  const secrets = [...whole].filter((each) => !kept.has(each) && each.length >= shortestSecret)
  // The longest first: one may be a part of another. In JSON a character may be escaped.
  return secrets
    .sort((a, b) => b.length - a.length)
    .flatMap((each) => [each, JSON.stringify(each).slice(1, -1), each.replaceAll('/', '\\/')])
    .reduce((clean, each) => clean.replaceAll(each, notKept), text)
}

/** Shorter texts occur in any answer. */
const shortestSecret = 4

function walk(value: unknown, replace: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => walk(each, replace))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      each === null ? null : (replace(name, each) ?? walk(each, replace)),
    ]),
  )
}

function namesOnly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(namesOnly)
  if (typeof value !== 'object' || value === null) return notKept
  return Object.fromEntries(Object.keys(value).map((name) => [name, notKept]))
}

function hostOnly(url: string): string {
  if (!URL.canParse(url)) return notKept
  const { origin, pathname, search, username, hash } = new URL(url)
  return pathname.length > 1 || search || username || hash ? `${origin}/${notKept}` : url
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}
