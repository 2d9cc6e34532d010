import { contactTypes } from '../../domain/contact-types.ts'
import type { Origin } from './origin.ts'

/**
 * The words that a filter takes. `closed`: the description lists them all. Of the others it shows some or none, and the guard
 * accepts those that an answer has held or that the settings name.
 */
export interface Vocabulary {
  kind: 'closed' | 'open'
  origin: Origin
  words: readonly string[]
  /** Words of answers that are no filters. */
  responseOnly?: readonly string[]
}

const open: Vocabulary = { kind: 'open', origin: 'assumed', words: [] }
/** Directions of a stage, which answers have and filters do not take (section 3). */
const directions = ['retreating', 'new']

export const vocabularies = {
  people_contact_types: { kind: 'closed', origin: 'shown 4.4', words: contactTypes },
  momentum: {
    kind: 'closed',
    origin: 'shown 4.4',
    words: ['advancing', 'steady', 'pulling_back'],
    responseOnly: directions,
  },
  monitor_status: {
    kind: 'closed',
    origin: 'shown 3',
    words: ['draft', 'active', 'paused', 'inactive'],
  },
  source_types: { kind: 'open', origin: 'shown 4.4', words: ['tiktok', 'apple'] },
  monitor_signal_types: { kind: 'open', origin: 'shown 4.4', words: ['expansions'] },
  stages: { ...open, responseOnly: directions },
  signal_types: open,
  signal_strengths: open,
  freshness: open,
  // `recent` is chronological; without it, corroborated moves come first.
  expansion_orders: { kind: 'open', origin: 'shown 4.4', words: ['recent'] },
  polarity: { ...open, responseOnly: directions },
  // The description names the modes Signal First and Company First (section 3), and not how they are written.
  detection_modes: { ...open, words: ['signal_first', 'company_first'] },
  departments: open,
  department_functions: open,
  management_levels: open,
  job_functions: open,
  seniority_ranks: open,
  reach_tiers: open,
  social_media: open,
  advertisement_status: open,
  channel_types: open,
} as const satisfies Record<string, Vocabulary>

export type VocabularyName = keyof typeof vocabularies
const vocabularyNames = Object.keys(vocabularies) as [VocabularyName, ...VocabularyName[]]

/** The lists to which the settings can add words: those that the description does not show in full. */
export const openVocabularyNames = vocabularyNames.filter((name) => vocabularies[name].kind === 'open') as [
  VocabularyName,
  ...VocabularyName[],
]

export function vocabularyOf(name: VocabularyName): Vocabulary {
  return vocabularies[name]
}
