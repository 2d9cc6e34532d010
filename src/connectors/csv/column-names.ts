import { furtherIdentifiers, type Identity } from '../../domain/record.ts'
import { normalForm } from '../../domain/normalise/normal-form.ts'
import { networkWord, type ObjectKind } from '../../domain/words.ts'
import type { ColumnMap } from './column-map.ts'

export type IdentityField = keyof Identity

/** Further names of input columns from the configuration. They take precedence over the built-in ones. */
export type Synonyms = Partial<Record<IdentityField, readonly string[]>>

export interface ColumnOptions {
  object: ObjectKind
  /** The network's name as users write it in column names; `profnet` is always known. */
  networkName?: string
  /** The hosts of the network, for the samples of what is looked up. Default: those that are known by themselves. */
  networkHosts?: readonly string[]
  synonyms?: Synonyms
  /** The columns that the user named, which take precedence over every name. */
  map?: ColumnMap
}

const otherNames: Partial<Record<IdentityField, readonly string[]>> = {
  domain: [
    'domain',
    'company_domain',
    'domain_name',
    'company_domain_name',
    'website',
    'company_website',
    'website_url',
    'company_url',
    'web',
    'homepage',
  ],
  email: ['email', 'email_address', 'work_email', 'business_email', 'primary_email'],
  phone: ['phone', 'phone_number', 'mobile', 'mobile_phone', 'telephone'],
  firstName: ['first_name', 'given_name', 'forename'],
  lastName: ['last_name', 'surname', 'family_name'],
}
const companyNames = ['company', 'company_name', 'account_name', 'account', 'organization', 'organisation']
const kindWords: Record<ObjectKind, readonly string[]> = {
  company: ['company', 'account', 'organization', 'organisation'],
  person: ['person', 'people', 'contact', 'lead', 'member'],
}
export const identityFields = [
  'profileUrl',
  'domain',
  'email',
  'phone',
  'firstName',
  'lastName',
  'company',
  ...furtherIdentifiers.map(({ field }) => field),
] as const satisfies readonly IdentityField[]

/** Column names are compared without regard to case, punctuation and white space. */
export function foldName(name: string): string {
  return normalForm('NFKC', name)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/** Returns the names under which a field's column is searched for, the strongest first. */
export function namesOf(field: IdentityField, options: ColumnOptions): string[] {
  const { object, synonyms } = options
  const own = synonyms?.[field] ?? []
  if (field === 'profileUrl') return [...own, ...profileNames(object, options.networkName ?? networkWord)]
  if (field === 'company') return [...own, ...companyNames, ...(object === 'company' ? ['name'] : [])]
  // A person is not found by the pages of a company.
  const further = object === 'company' && furtherIdentifiers.find((each) => each.field === field)
  return [...own, ...(otherNames[field] ?? []), ...(further ? [further.name] : [])]
}

function profileNames(object: ObjectKind, networkName: string): string[] {
  const kinds = kindWords[object]
  const networks = [...new Set([networkWord, networkName.toLowerCase()])]
  return [
    ...networks.map((network) => `${network}_url`),
    'profile_url',
    ...kinds.flatMap((kind) => [
      ...networks.flatMap((network) => [`${kind}_${network}_url`, `${network}_${kind}_url`]),
      `${kind}_profile_url`,
      `${kind}_profile`,
    ]),
    ...networks.flatMap((network) => [
      `${network}_profile_url`,
      `${network}_profile`,
      `${network}_link`,
      ...kinds.flatMap((kind) => [
        `${kind}_${network}`,
        `${network}_${kind}`,
        `${network}_${kind}_page`,
        `${network}_${kind}_profile`,
      ]),
      network,
    ]),
    'profile_link',
    'profile',
  ]
}
