import { contactFields, type ContactType } from './contact-types.ts'
import { usdFromCredits } from './credits.ts'
import {
  contactFieldNames,
  employerProfileFieldNames,
  enrichmentFieldNames,
  matchFieldNames,
  profileFieldNames,
} from './fields.ts'
import type { Atomic } from './money.ts'
import type { ObjectKind, Operation, OperationKind } from './words.ts'

/** Requests that the service counts and slows down apart from the others. */
export const paces = ['lookup', 'redemption', 'enrichment', 'search', 'action'] as const
export type Pace = (typeof paces)[number]

/** A value that is one for the whole operation, or one a contact type. */
export type PerType<T> = T | Readonly<Record<ContactType, T>>

/** Everything that another part has to know of an operation. */
export interface OperationRow {
  kind: OperationKind
  /** The objects whose recipes may have it as a step. */
  stepOf: readonly ObjectKind[]
  /** The subject that its answer is about. To forget that subject is to erase the lookup. */
  about: ObjectKind | null
  /** True where the answer may name people: its subject, or others who are mentioned in it. */
  isPersonal: boolean
  /** By what its key names a subject. */
  keyedBy: readonly ('profile' | 'domain' | 'email' | 'phone' | 'name' | 'id' | 'page')[]
  /** The subjects whose profiles the answer names: further steps need them. */
  namesProfileOf: readonly ObjectKind[]
  /** `free`: it takes no charge. `unknown`: no price is published, only a challenge or the settings say it. */
  price: PerType<'free' | 'unknown' | Atomic>
  /** True where an API key is charged only for what is found. */
  isChargedWhenFound: boolean
  pace: Pace
  /** The time that its answers stay fresh; `usual`: as long as the settings say for all. */
  freshness: 'usual' | { foundDays: number; notFoundDays: number }
  /** The canonical fields that its answer can fill, by the object of the record. */
  tells: Readonly<Record<ObjectKind, PerType<readonly string[]>>>
  /** Describes the operation in the explanation of a plan: `fetch the logo`. */
  verb: PerType<string>
}

const credit = usdFromCredits(1_000_000n)
const companyFields = profileFieldNames('company')

/** The facts of operations that are no step of a recipe: no plan asks for what they tell. */
const unplanned = {
  stepOf: [],
  about: null,
  // Their rows are not documented, and may name people.
  isPersonal: true,
  keyedBy: [],
  namesProfileOf: [],
  price: 'unknown',
  isChargedWhenFound: false,
  tells: { company: [], person: [] },
} as const

const aDay = { foundDays: 1, notFoundDays: 1 } as const
const never = { foundDays: 0, notFoundDays: 0 } as const

function search(verb: string) {
  return { ...unplanned, kind: 'search', pace: 'search', freshness: aDay, verb } as const
}

function read(verb: string, pace: 'search' | 'action' = 'search') {
  return { ...unplanned, kind: 'read', pace, freshness: pace === 'search' ? aDay : never, verb } as const
}

/** The answer to an action is never taken for another one: each action is sent. */
function action(verb: string) {
  return { ...unplanned, kind: 'action', pace: 'action', freshness: never, verb } as const
}

/** One row an operation. An operation without a row, or a row without a column, does not compile. */
export const operationRows = {
  'company.profile': {
    kind: 'lookup',
    stepOf: ['company', 'person'],
    about: 'company',
    // It lists people who work there.
    isPersonal: true,
    keyedBy: ['profile'],
    namesProfileOf: [],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: companyFields, person: employerProfileFieldNames },
    verb: 'look up the company’s profile',
  },
  'person.profile': {
    kind: 'lookup',
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['profile'],
    namesProfileOf: ['person', 'company'],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: profileFieldNames('person') },
    verb: 'look up the person’s profile',
  },
  'company.logo': {
    kind: 'lookup',
    stepOf: ['company', 'person'],
    // Companies that share a website share its logo: to forget one must not reach the others.
    about: null,
    // Its address holds a domain, which may be a person's name.
    isPersonal: true,
    keyedBy: ['domain'],
    namesProfileOf: [],
    price: 'free',
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: ['logo'], person: ['company_logo'] },
    verb: 'fetch the logo',
  },
  'contact.lookup': {
    kind: 'lookup',
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['email', 'phone', 'name'],
    namesProfileOf: ['person'],
    price: credit,
    isChargedWhenFound: true,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: [...matchFieldNames, ...contactFieldNames] },
    verb: 'find the person',
  },
  'contact.redeem': {
    kind: 'lookup',
    stepOf: ['person'],
    about: 'person',
    isPersonal: true,
    keyedBy: ['profile', 'id'],
    namesProfileOf: [],
    price: { 'email-work': 15n * credit, 'email-personal': 15n * credit, phone: 30n * credit },
    isChargedWhenFound: true,
    pace: 'redemption',
    freshness: 'usual',
    tells: { company: [], person: contactFields },
    verb: {
      'email-work': 'reveal the work e-mail',
      'email-personal': 'reveal the personal e-mail',
      phone: 'reveal the phones',
    },
  },
  'company.lookup': {
    kind: 'lookup',
    stepOf: ['company'],
    about: 'company',
    isPersonal: true,
    keyedBy: ['domain', 'id', 'page'],
    namesProfileOf: ['company'],
    price: credit,
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: companyFields, person: [] },
    verb: 'look up the company by its domain or another identifier',
  },
  'company.enrich': {
    kind: 'lookup',
    stepOf: ['company'],
    about: 'company',
    isPersonal: true,
    keyedBy: ['profile', 'domain', 'id', 'page'],
    namesProfileOf: ['company'],
    price: 'unknown',
    isChargedWhenFound: false,
    // An enrichment takes half a minute or more, so its pace says nothing about the others.
    pace: 'enrichment',
    freshness: 'usual',
    tells: { company: [...companyFields, ...enrichmentFieldNames], person: [] },
    verb: 'enrich the company',
  },
  'account.profile': {
    kind: 'account',
    stepOf: [],
    about: null,
    // Fields that are not documented are kept, and may name a person.
    isPersonal: true,
    keyedBy: [],
    namesProfileOf: [],
    price: 'free',
    isChargedWhenFound: false,
    pace: 'lookup',
    freshness: 'usual',
    tells: { company: [], person: [] },
    verb: 'ask for the account',
  },
  'person.lookup': {
    ...unplanned,
    kind: 'lookup',
    about: 'person',
    keyedBy: ['profile', 'email', 'phone', 'id'],
    pace: 'lookup',
    freshness: 'usual',
    verb: 'look the person up',
  },
  'people.search': search('search people'),
  'people.similar': search('search similar people'),
  'company.search': search('search companies'),
  'company.similar': search('search similar companies'),
  'job.search': search('search jobs'),
  'news.search': search('search news'),
  'advertisement.search': search('search advertisements'),
  'cloud.search': search('search cloud footprints'),
  'expansion.search': search('search expansions'),
  'expansion.lookup': search('look expansions up'),
  'expansion.signals': search('search the signals of expansions'),
  'hiring.insights': read('read hiring insights'),
  'news.insights': read('read news insights'),
  'advertisement.insights': read('read advertisement insights'),
  'cloud.insights': read('read cloud insights'),
  'expansion.detail': read('read a company’s expansion'),
  'expansion.compare': read('compare expansions'),
  'expansion.summary': read('read the summary of an expansion'),
  'expansion.rankings': read('read expansion rankings'),
  'monitor.list': read('list the monitors', 'action'),
  'monitor.read': read('read a monitor', 'action'),
  'monitor.create': action('create a monitor'),
  'monitor.update': action('change a monitor'),
  'monitor.delete': action('delete a monitor'),
  'monitor.statistics': read('read a monitor’s statistics', 'action'),
  'monitor.charts': read('read a monitor’s charts', 'action'),
  'monitor.logs': read('read a monitor’s detection logs', 'action'),
  'monitor.validate': action('validate a webhook'),
  'monitor.test': action('test a monitor'),
  'monitor.interpret': read('draft a monitor from a sentence', 'action'),
  'template.types': read('list the types of channel templates', 'action'),
  'template.create': action('create a channel template'),
  'template.delete': action('delete versions of channel templates'),
  'account.usage': {
    ...unplanned,
    kind: 'account',
    price: 'free',
    pace: 'lookup',
    freshness: 'usual',
    verb: 'ask for the usage of the account',
  },
} as const satisfies Record<Operation, OperationRow>
