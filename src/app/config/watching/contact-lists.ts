import { crmOf } from '../../../connectors/definitions.ts'
import type { ObjectKind } from '../../../domain/words.ts'

/** Returns the CRM's name of an object. */
export function entityFor(connector: string, object: ObjectKind): string {
  const found = Object.entries(crmOf(connector).entities).find(([, kind]) => kind === object)
  return found?.[0] ?? object
}

/** A lead has the name of its company and no account. */
export function tiesToCompany(connector: string, entity: string): boolean {
  return entity === entityFor(connector, 'person')
}

export function contactRecipe(contact: readonly ('email' | 'phone')[]): string {
  return new Set(contact).size > 1 ? 'contact' : `contact:${contact[0]}`
}
