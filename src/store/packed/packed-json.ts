import { dictionaries, type Dictionary } from './dictionaries.ts'
import { createKeptZlib, type KeptZlib } from './kept-zlib.ts'
import { patchFields } from './patch-fields.ts'
import { fromPrintable, toPrintable } from './printable.ts'

/**
 * The member of a packed value that has its compressed text, after the letter of its dictionary. To the database a packed value
 * is an object like any other. Members beside it stay readable to SQL: those with a `$` describe the value, the others are part
 * of it and count where the compressed text has the same name.
 */
export const packedName = '$z'
/** Beside it in a packed patch: its fields in order, a character each. */
export const fieldsName = '$f'
/** Beside it in a packed answer that has every field of a company's profile. */
export const profileName = '$p'

const zlibs = Object.fromEntries(
  Object.entries(dictionaries).map(([letter, dictionary]) => [letter, createKeptZlib(dictionary)]),
) as Record<Dictionary, KeptZlib>

export type PackedJson = Readonly<Record<string, unknown>>

/** Returns a JSON text as a packed value, with these members beside it. */
export function packJson(dictionary: Dictionary, json: string, beside: PackedJson = {}): PackedJson {
  return { [packedName]: `${dictionary}${toPrintable(zlibs[dictionary].pack(json))}`, ...beside }
}

/**
 * Returns what a value of a json column stands for: itself, or what was packed. Throws where it was packed by a program that
 * this one does not know: a value that is not there must never be taken for an empty one.
 */
export function unpackJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, packedName)) return value
  const { [packedName]: packed, ...beside } = value as Record<string, unknown>
  const text = typeof packed === 'string' ? packed : ''
  const letter = text.slice(0, 1)
  if (!Object.hasOwn(dictionaries, letter))
    throw new Error('the ledger has a value that was packed in an unknown way')
  const unpacked = JSON.parse(zlibs[letter as Dictionary].unpack(fromPrintable(text.slice(1)))) as Record<
    string,
    unknown
  >
  if (letter === 'p') return patchOf(beside[fieldsName], unpacked)
  const readable = Object.entries(beside).filter(([name]) => !name.startsWith('$'))
  return readable.length === 0 ? unpacked : { ...unpacked, ...Object.fromEntries(readable) }
}

/** Values stand as they are, and other changes as themselves: a value is never an object. */
function patchOf(fields: unknown, changes: unknown): Record<string, unknown> {
  return Object.fromEntries(
    [...String(fields)].map((letter, index) => {
      const change = (changes as unknown[])[index]
      return [patchFields.get(letter) ?? letter, isObject(change) ? change : { set: change }]
    }),
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** Reads the text of a json or jsonb column, for the drivers. */
export function readJson(text: string): unknown {
  return unpackJson(JSON.parse(text))
}
