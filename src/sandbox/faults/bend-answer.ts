import { isFor } from './bend-request.ts'
import type { FaultSwitch } from './fault-switch.ts'
import type { Faults } from './faults.ts'

type Fields = Record<string, unknown>

/** Returns a good answer as a service writes it that is not the one of the description. */
export function bendAnswer(faults: FaultSwitch, endpoint: string, key: string, good: unknown): unknown {
  const strikes = <N extends 'missingTotal' | 'unknownWord' | 'unreadable'>(name: N) =>
    isFor(faults.current[name].only, endpoint) ? faults.strikes(name, key) : null
  const { renamedFields, envelope } = faults.current
  const renamed = renamedFields.filter(({ only }) => isFor(only, endpoint))
  const [noTotal, word, unreadable] = [strikes('missingTotal'), strikes('unknownWord'), strikes('unreadable')]
  const wrapped = envelope !== null && isFor(envelope.only, endpoint) ? envelope.shape : null
  if (renamed.length === 0 && !noTotal && !word && !unreadable && wrapped === null) return good

  const answer = structuredClone(good) as Fields
  if (noTotal) {
    for (const name of ['total_entries', 'total_pages']) edit(answer, `data.pagination.${name}`, remove)
  }
  if (word) editFirst(answer, word.place, (holder, name) => void (holder[name] = word.word))
  for (const { place, to } of renamed) {
    edit(answer, place, (holder, name) => {
      holder[to] = holder[name]
      delete holder[name]
    })
  }
  return unreadable ? spoiled(answer, unreadable.as) : enveloped(answer, wrapped)
}

function enveloped(answer: Fields, shape: 'result' | 'flat' | 'bare' | null): unknown {
  const { data, ...others } = answer
  const rows = typeof data === 'object' && data !== null ? Object.values(data).find(Array.isArray) : undefined
  if (shape === 'result') return { result: data, ...others }
  if (shape === null || rows === undefined) return answer
  return shape === 'bare' ? rows : { data: rows, pagination: (data as Fields)['pagination'], ...others }
}

function spoiled(answer: Fields, as: Faults['unreadable']['as']): unknown {
  if (as === 'html') return '<!doctype html><html><head><title>Welcome</title></head><body></body></html>'
  if (as === 'text') return { ...answer, data: 'x' }
  if (as === 'list') return []
  const text = JSON.stringify(answer)
  return text.slice(0, Math.floor(text.length / 2))
}

type Edit = (holder: Fields, name: string) => void

const remove: Edit = (holder, name) => void delete holder[name]

/** Edits the field at a place, in every row where the place leads through a list. */
function edit(value: unknown, place: string, change: Edit) {
  for (const [holder, name] of holdersAt(value, place)) change(holder, name)
}

function editFirst(value: unknown, place: string, change: Edit) {
  for (const [holder, name] of holdersAt(value, place).slice(0, 1)) change(holder, name)
}

/** Returns every object that has the field at a place, with the field's name. */
function holdersAt(value: unknown, place: string): [holder: Fields, name: string][] {
  const [first = '', ...rest] = place.split('.')
  const name = first.replace('[]', '')
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return []
  if (rest.length === 0) return [[value as Fields, name]]
  const next = (value as Fields)[name]
  const values = first.endsWith('[]') && Array.isArray(next) ? next : [next]
  return values.flatMap((each) => holdersAt(each, rest.join('.')))
}
