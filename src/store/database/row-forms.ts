import type { LookupKey } from '../../domain/keys.ts'
import { operationRow } from '../../domain/operations.ts'
import type { Patch } from '../../domain/record.ts'
import { profileKeys } from '../../domain/subjects/names.ts'
import { operations } from '../../domain/words.ts'
import { packsRows, type Connected } from '../packed/ledger-adapter.ts'
import { fieldsName, isObject, packJson, profileName, type PackedJson } from '../packed/packed-json.ts'
import { patchLetters } from '../packed/patch-fields.ts'
import { createJustNow } from '../../timing/just-now.ts'
import { isStorableText, storable } from './parameters.ts'

/** Compressing less than this saves nothing. */
const leastLength = 120

/** The forms in which the values of rows are stored in this ledger: packed where every program can read it. */
export interface RowForms {
  /** True where values are stored as they are, but for what no column takes. */
  isPlain: boolean
  answer(key: LookupKey, answer: Record<string, unknown> | null): FormedAnswer
  patch(patch: Patch | null): PackedJson | null
  /** Takes and returns JSON: the order of its names is part of the bytes that are sent again. */
  authorization(json: string): string
}

interface FormedAnswer {
  stored: PackedJson | null
  /** A reader of the row finds what was given: nothing was left out that no column takes. */
  isAsGiven: boolean
}

const plain: RowForms = {
  isPlain: true,
  answer(_, answer) {
    const stored = storable(answer)
    return { stored, isAsGiven: stored === answer }
  },
  patch: (patch) => patch,
  authorization: (json) => json,
}

const packed: RowForms = {
  isPlain: false,
  answer: packAnswer,
  patch: packPatch,
  authorization: packAuthorization,
}

export function rowForms(db: Connected): RowForms {
  return packsRows(db) ? packed : plain
}

/** Answers that SQL looks into stay as they are: searches, reads and actions are few, and `forget` finds names in them by LIKE. */
const packedOperations: ReadonlySet<string> = new Set(
  operations.filter((operation) => operationRow(operation).kind === 'lookup'),
)

function packAnswer(key: LookupKey, answer: Record<string, unknown> | null): FormedAnswer {
  const given = JSON.stringify(answer)
  const isAsGiven = isStorableText(given)
  const clean = isAsGiven ? answer : storable(answer)
  const json = isAsGiven ? given : JSON.stringify(clean)
  const isPacked =
    clean !== null &&
    !Array.isArray(clean) &&
    packedOperations.has(key.slice(0, key.indexOf('|'))) &&
    json.length >= leastLength
  if (!isPacked) return { stored: clean, isAsGiven }
  const stored = packJson('a', json, {
    // SQL looks for the service's words about the request.
    ...('metadata' in clean ? { metadata: clean['metadata'] } : {}),
    ...(profileKeys.every((name) => Object.hasOwn(clean, name)) ? { [profileName]: true } : {}),
  })
  return { stored, isAsGiven }
}

/** The fields go by a letter each, so that reports count them without unpacking, and their values as a list. */
function packPatch(patch: Patch | null): PackedJson | null {
  if (patch === null) return null
  const entries = Object.entries(patch)
  const letters = entries.map(([field]) => patchLetters.get(field))
  if (letters.includes(undefined) || JSON.stringify(patch).length < leastLength) return patch
  const changes = entries.map(([, change]) => ('set' in change ? change.set : change))
  // A change that says more than its value cannot be told from a value any more.
  if (
    entries.some(([, change]) => 'set' in change && (Object.keys(change).length > 1 || isObject(change.set)))
  )
    return patch
  const fields = letters.join('')
  const json = JSON.stringify(changes)
  const name = `${fields}${json}`
  const known = packedPatches.takeAll([name])?.get(name)
  if (known) return known
  const stored = packJson('p', json, { [fieldsName]: fields })
  packedPatches.remember(name, stored)
  return stored
}

/** A patch is stored when it is planned, and soon again as it was written, which is mostly the same. */
const packedPatches = createJustNow<string, PackedJson>({ mostMs: 10_000, most: 1_000 })

/**
 * The times stay readable: SQL asks when the last open payment ends, and a restore corrects them from the chain. The text is
 * packed as it is, so that what is unpacked has the same names in the same order.
 */
function packAuthorization(json: string): string {
  const { validAfter, validBefore } = JSON.parse(json) as { validAfter: number; validBefore: number }
  const small = JSON.stringify(packJson('z', json, { validAfter, validBefore }))
  return small.length < json.length ? small : json
}
