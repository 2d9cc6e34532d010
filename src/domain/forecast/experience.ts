import type { LookupKey } from '../keys.ts'
import { operationRow, slotRow } from '../operations.ts'
import type { FactSlot } from '../planning/step.ts'
import { slotIn } from '../planning/step.ts'
import { leastAnswer } from './forecast.ts'
import type { Fact } from '../record.ts'

/** An answer that was paid for, as far as it tells what answers of its kind lead to. */
export interface SeenAnswer {
  key: LookupKey
  outcome: Fact['outcome']
  data: Record<string, unknown> | null
}

/** The ledger's experience of the steps of a recipe. */
export interface Seen {
  /** Paid answers, the latest first. */
  answers: readonly SeenAnswer[]
  /** The lookups of each task that had more than one, in their order. */
  chains: readonly (readonly LookupKey[])[]
}

export interface Experience {
  /** Returns an answer such as may follow. Calls for one step go through its answers in turn, so that a few calls are even. */
  next(slot: FactSlot, key: LookupKey): Fact
  /** Returns how many of so many lookups, whose keys only answers name, are not in the ledger yet. */
  fresh(slot: FactSlot, count: number): number
  /** Returns the ledger's experience of a step. */
  seen(slot: FactSlot): { answers: number; found: number }
}

/** The share of lookups that find their subject before the ledger has seen any, in fifths. */
const priorFifths: Partial<Record<FactSlot, number>> = {
  'contact.lookup': 3,
  'contact.redeem:email-work': 3,
  'contact.redeem:email-personal': 2,
  'contact.redeem:phone': 2,
}
const usualFifths = 4
/** A path of a search has answers of its own when it has this many. */
const enough = 20

/**
 * The answers to expect: those that the ledger has seen, and beside them five made-up ones a step, which decide as long as
 * there are few. Whole answers are drawn and not rates, so that what they tell decides together which step comes next.
 */
export function createExperience({ answers, chains }: Seen): Experience {
  const bySlot = Map.groupBy(answers, ({ key }) => slotIn(key))
  const byPath = Map.groupBy(answers, ({ key }) => pathOf(key))
  const pools = new Map<string, { facts: Fact[]; at: number }>()
  const repeats = countRepeats(chains)

  function poolFor(slot: FactSlot, key: LookupKey) {
    const ofPath = byPath.get(pathOf(key)) ?? []
    const isPath = ofPath.length >= enough
    const name = isPath ? pathOf(key) : slot
    let pool = pools.get(name)
    if (!pool) {
      const seen = (isPath ? ofPath : (bySlot.get(slot) ?? [])).map(({ outcome, data }) => ({
        outcome,
        data,
      }))
      pools.set(name, (pool = { facts: [...seen, ...priorAnswers(slot)], at: 0 }))
    }
    return pool
  }

  return {
    next(slot, key) {
      const pool = poolFor(slot, key)
      const fact = pool.facts[pool.at % pool.facts.length] as Fact
      pool.at += 1
      return about(fact, slot)
    },

    fresh(slot, count) {
      const { uses = 0, keysBySize = [] } = repeats.get(slot) ?? {}
      if (uses === 0 || count === 0) return count
      // Good and Toulmin: of as many further uses again, so many keys are seen for the first time.
      const share = Math.min(1, count / uses)
      let unseen = 0
      for (let size = 1; size < keysBySize.length; size++)
        unseen += (size % 2 === 1 ? 1 : -1) * share ** size * (keysBySize[size] ?? 0)
      const most = Math.min(count, Math.max(0, unseen))
      return count <= uses ? most : Math.min(count, most * (count / uses))
    },

    seen(slot) {
      const all = bySlot.get(slot) ?? []
      return { answers: all.length, found: all.filter(({ outcome }) => outcome === 'found').length }
    },
  }
}

/** Returns by what a contact lookup searches; for other steps the step itself. */
function pathOf(key: LookupKey): string {
  const slot = slotIn(key) ?? ''
  if (slot !== 'contact.lookup') return slot
  return `${slot} ${/^[^|]*\|([a-z_]+)/.exec(key)?.[1] ?? ''}`
}

/** A profile is about the one that was asked for, and a search about somebody whom only the answer names. */
function about(fact: Fact, slot: FactSlot): Fact {
  const { data } = fact
  if (!data) return fact
  const made = leastAnswer(slotRow(slot).operation).data ?? {}
  if (slot === 'person.profile' || slot === 'company.profile') {
    const { profnet_url: _, people_search_id: __, ...own } = data
    const employer = data['company']
    return hasProfile(employer)
      ? { ...fact, data: { ...own, company: made['company'] } }
      : { ...fact, data: own }
  }
  if (operationRow(slotRow(slot).operation).namesProfileOf.length === 0) return fact
  const { profnet_url: url, people_search_id: id, ...rest } = data
  return url || id
    ? { ...fact, data: { ...rest, profnet_url: made['profnet_url'] } }
    : { ...fact, data: rest }
}

function hasProfile(employer: unknown): boolean {
  return (
    typeof employer === 'object' &&
    employer !== null &&
    Boolean((employer as { profnet_url?: unknown }).profnet_url)
  )
}

function priorAnswers(slot: FactSlot): Fact[] {
  const found = priorFifths[slot] ?? usualFifths
  return Array.from({ length: 5 }, (_, place): Fact => {
    if (place >= found) return { outcome: 'not_found', data: null }
    const answer = leastAnswer(slotRow(slot).operation)
    return answer.outcome === 'found' ? answer : { outcome: 'found', data: {} }
  })
}

interface Repeats {
  uses: number
  /** The number of keys that were used by one subject, by two, and so on. */
  keysBySize: number[]
}

/** Counts a lookup once for each first lookup that led to it: a record that was read twice leads to it twice and tells nothing. */
function countRepeats(chains: readonly (readonly LookupKey[])[]): Map<FactSlot, Repeats> {
  const parents = new Map<LookupKey, Set<LookupKey>>()
  for (const [first, ...later] of chains) {
    if (first === undefined) continue
    for (const key of later) {
      const known = parents.get(key)
      if (known) known.add(first)
      else parents.set(key, new Set([first]))
    }
  }
  const repeats = new Map<FactSlot, Repeats>()
  for (const [key, { size }] of parents) {
    const slot = slotIn(key)
    if (slot === undefined) continue
    const of = repeats.get(slot) ?? { uses: 0, keysBySize: [] }
    of.uses += size
    of.keysBySize[size] = (of.keysBySize[size] ?? 0) + 1
    repeats.set(slot, of)
  }
  return repeats
}
