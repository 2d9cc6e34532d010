import type { Operation } from '../../domain/words.ts'
import type { Catalogue } from './catalogue.ts'

/** A key of requests and the name under which it leaves, as a person has accepted it. */
export interface Rename {
  operation: Operation
  field: string
  wireName: string
}

/** Returns the catalogue with the names of keys that a person has accepted. A name of the settings wins. */
export function withRenames(catalogue: Catalogue, renames: readonly Rename[]): Catalogue {
  if (renames.length === 0) return catalogue
  const contracts = catalogue.all().map((contract) => {
    const own = renames.filter(({ operation }) => operation === contract.operation)
    if (own.length === 0) return contract
    const accepted = Object.fromEntries(own.map(({ field, wireName }) => [field, wireName]))
    return { ...contract, wireNames: { ...accepted, ...contract.wireNames } }
  })
  const byOperation = new Map(contracts.map((contract) => [contract.operation, contract]))
  return { of: (operation) => byOperation.get(operation) ?? catalogue.of(operation), all: () => contracts }
}
