import type { Catalogue, Contract } from '../catalogue/catalogue.ts'
import { badCall, quoted } from './bad-call.ts'

/** Parts of letters, digits and a few signs, each after one slash. Anything else may be read as another host, path or query. */
const plainPath = /^(\/(?!\.{1,2}(\/|$))[\w.~@:{}-]+)+$/

/**
 * Returns the other path of a call as it is sent; undefined for the operation's own, because one page must have one key and its
 * keys are known. Throws InputError for what is no path at the service, since everything behind it goes to whatever host it
 * names, with the key or the payment; and for the path of another operation, which has checks and a journal of its own.
 */
export function callPath(
  { operation, method, path: own }: Contract,
  path: string,
  catalogue: Catalogue,
): string | undefined {
  if (!plainPath.test(path) || path.length > 500)
    throw badCall(
      operation,
      `${quoted(path)} is no path: it begins with one slash, and has letters, digits and . _ ~ @ : - between slashes`,
    )
  if (isSame(own.value, path)) return undefined
  const there = catalogue
    .all()
    .filter((each) => each.method.value === method.value)
    .find((each) => [each.path, ...Object.values(each.more ?? {})].some(({ value }) => isAt(value, path)))
  if (there?.operation === operation)
    throw badCall(operation, `${path} is its own path ${own.value}: name what is in it with --json`)
  if (there)
    throw badCall(
      operation,
      `${path} is the path of ${there.operation}: \`paydirt service call ${there.operation}\``,
    )
  return path
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

function isAt(template: string, path: string): boolean {
  const [own, parts] = [template.split('/'), path.split('/')]
  return (
    own.length === parts.length &&
    own.every((name, index) => /^\{\w+\}$/.test(name) || isSame(name, parts[index] ?? ''))
  )
}
