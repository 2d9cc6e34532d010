import type { Catalogue, Contract } from './catalogue.ts'

/**
 * Returns the operations whose requests go to an endpoint as charges and warnings name it: method and address, where the price
 * depends on more followed by that in brackets. An id in the address stands for the parameter of the path.
 */
export function operationsAt(catalogue: Catalogue, endpoint: string): Contract[] {
  const [method, address = ''] = endpoint.split(' ', 2)
  const path = address.replace(/^\w+:\/\/[^/]*/, '').replace(/\?.*$/, '')
  return catalogue
    .all()
    .filter(
      (contract) =>
        contract.method.value === method &&
        [contract.path, ...Object.values(contract.more ?? {})].some(({ value }) => isPath(value, path)),
    )
}

/** The base address may have a path of its own, so only the end is compared. */
function isPath(template: string, path: string): boolean {
  // The logo's address is another one.
  if (!template.startsWith('/')) return false
  const own = template.split('/')
  const parts = path.split('/').slice(-own.length)
  return (
    parts.length >= own.length - 1 &&
    own.every((name, index) => {
      const part = parts[index + parts.length - own.length] ?? ''
      return name === '' || part === name || (part !== '' && /^\{\w+\}$/.test(name))
    })
  )
}
