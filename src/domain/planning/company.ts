import { canonicalIdentifier, companyKey, sentIdentifier, type CompanyIdentifier } from './company-keys.ts'
import { companyDomain } from './contact-keys.ts'
import { enrichmentFieldNames, isAnswered, isProfileField, readAnswer, type AnswerSource } from '../fields.ts'
import { askableProfileUrl, canonicalDomain, canonicalProfileUrl, lookupKey } from '../keys.ts'
import { companyDomainOf } from '../normalise/email.ts'
import {
  endOf,
  foundIn,
  stop,
  type Facts,
  type PlannedRecord,
  type Stop,
  type Candidates,
  type Candidate,
} from './step.ts'
import type { Recipe } from './recipes.ts'
import {
  furtherIdentifiers,
  type Fact,
  type FieldValue,
  type Identity,
  type LookupRequest,
} from '../record.ts'

/**
 * Plans a company. A profile URL leads to the profile, a domain or else a further identifier to the lookup, and after the lookup to the profile only for
 * the fields that the lookup did not answer. Enrichment answers all of these, so it comes first where one of its own fields
 * is wanted. The logo is last.
 */
export function companyCandidates({ identity }: PlannedRecord, recipe: Recipe, facts: Facts): Candidates {
  const known = identify(identity, recipe)
  if ('kind' in known) return logoAlone(identity, recipe, facts) ?? { candidates: [], values: {}, end: known }

  const { 'company.enrich': enriched, 'company.profile': profile, 'company.lookup': lookedUp } = facts
  const read = (source: AnswerSource, fact: Fact | undefined) => {
    const found = foundIn(fact)
    return found ? [readAnswer(source, found)] : []
  }
  const answers = [...read('company', lookedUp), ...read('enrichment', enriched), ...read('company', profile)]
  const values: Record<string, FieldValue> = Object.assign({}, ...answers.map((answer) => answer.values))
  const candidates = [
    ...enrichmentCandidates(known, recipe, facts),
    ...profileCandidates(known, recipe, facts),
  ]
  if (candidates.length === 0) candidates.push(...logoCandidates(recipe, facts, values))
  const last = profile ?? lookedUp ?? enriched
  const logo = foundIn(facts['company.logo'])?.['url']
  if (typeof logo === 'string') values['logo'] = logo
  return {
    candidates,
    values,
    end: last ? endOf(last) : stop('unchanged', 'the recipe has no step that tells more about it'),
    leftOut: Object.assign({}, ...answers.map((answer) => answer.leftOut)),
    ...problemOf(facts),
  }
}

/** The one identifier by which a company is looked up, in its canonical form. */
interface Known {
  name: CompanyIdentifier
  value: string
}

function identify(identity: Identity, { steps, networkHosts }: Recipe): Known | Stop {
  const profile = identity.profileUrl
    ? askableProfileUrl('company', identity.profileUrl, networkHosts)
    : undefined
  if (profile?.ok && (steps.includes('company.profile') || steps.includes('company.enrich')))
    return { name: 'profnet_url', value: profile.value }
  const byDomain = steps.includes('company.lookup') || steps.includes('company.enrich')
  const domain = domainOf(identity)
  if (byDomain && domain?.ok) return { name: 'domain', value: domain.value }
  const further = byDomain ? furtherOf(identity, networkHosts) : undefined
  if (further && 'name' in further) return further
  if (profile && !profile.ok) return stop('rejected', `broken profile URL: ${profile.reason}`)
  if (!byDomain) return stop('skipped', 'no profile URL to look up by')
  if (further && !domain) return stop('skipped', `no profile URL and no domain, and ${further.broken}`)
  return stop(
    'skipped',
    domain && !domain.ok
      ? `no profile URL, and the domain cannot be used: ${domain.reason}`
      : 'no profile URL and no domain to look up by',
  )
}

/** Returns the first further identifier that can be asked by, or why the first one cannot. */
function furtherOf(identity: Identity, hosts?: readonly string[]): Known | { broken: string } | undefined {
  let broken: string | undefined
  for (const { field, name, label } of furtherIdentifiers) {
    const raw = identity[field]
    if (raw === undefined) continue
    const canonical = canonicalIdentifier(name, raw, hosts)
    if (canonical.ok) return { name, value: canonical.value }
    broken ??= `the ${label} cannot be used: ${canonical.reason}`
  }
  return broken === undefined ? undefined : { broken }
}

function domainOf({ domain, email }: Identity) {
  if (domain !== undefined) return companyDomain(domain)
  const ofMail = email === undefined ? undefined : companyDomainOf(email)
  return ofMail === undefined ? undefined : companyDomain(ofMail)
}

function enrichmentCandidates(known: Known, recipe: Recipe, facts: Facts): Candidate[] {
  const extra = recipe.fields.filter((field) => enrichmentFieldNames.includes(field))
  if (extra.length === 0 || !recipe.steps.includes('company.enrich') || facts['company.enrich']) return []
  return [
    candidate(
      'company.enrich',
      known,
      `${extra.join(', ')} ${extra.length > 1 ? 'are' : 'is'} wanted, and only the enrichment has them`,
    ),
  ]
}

function profileCandidates(known: Known, recipe: Recipe, facts: Facts): Candidate[] {
  if (facts['company.profile']) return []
  const wanted = recipe.fields.filter((field) => isProfileField('company', field) || field === 'logo')
  const open = unanswered(wanted, facts)
  if (open.length === 0) return []
  if (known.name === 'profnet_url') {
    if (!recipe.steps.includes('company.profile')) return []
    return [
      candidate(
        'company.profile',
        known,
        'the record has a profile URL, and the profile has the fields wanted',
      ),
    ]
  }
  if (recipe.steps.includes('company.lookup') && !facts['company.lookup'])
    return [candidate('company.lookup', known, `the record has no profile URL, but ${spoken(known.name)}`)]
  const url = (foundIn(facts['company.lookup']) ?? foundIn(facts['company.enrich']))?.['profnet_url']
  const found = typeof url === 'string' ? canonicalProfileUrl('company', url, recipe.networkHosts) : undefined
  if (!found?.ok || !recipe.steps.includes('company.profile')) return []
  return [
    candidate(
      'company.profile',
      { name: 'profnet_url', value: found.value },
      `the answers so far do not have ${open.join(', ')}`,
    ),
  ]
}

/** Returns the wanted fields without an answer. A null is an answer: another endpoint would be paid for the same null. */
function unanswered(wanted: readonly string[], facts: Facts): readonly string[] {
  const answers = [foundIn(facts['company.enrich']), foundIn(facts['company.lookup'])].filter(
    (answer) => answer !== undefined,
  )
  if (answers.length === 0) return wanted
  return wanted.filter(
    (field) => !answers.some((answer) => isAnswered('company', field === 'logo' ? 'domain' : field, answer)),
  )
}

/** Takes the domain from the profile, so that a logo is never another company's. */
function logoCandidates(recipe: Recipe, facts: Facts, values: Record<string, FieldValue>): Candidate[] {
  if (!recipe.fields.includes('logo') || !recipe.steps.includes('company.logo') || facts['company.logo'])
    return []
  const domain = canonicalDomain(String(values['domain'] ?? ''))
  if (!domain.ok) return []
  const lookup = {
    key: lookupKey('company.logo', domain.value),
    operation: 'company.logo' as const,
    request: { domain: domain.value },
  }
  return [{ lookup, why: 'the domain is known, and the logo costs nothing' }]
}

/** Plans a recipe of the logo alone, which uses the record's own domain. */
function logoAlone({ domain }: Identity, recipe: Recipe, facts: Facts): Candidates | undefined {
  if (recipe.steps.some((step) => step !== 'company.logo')) return undefined
  const logo = foundIn(facts['company.logo'])?.['url']
  return {
    candidates: logoCandidates(recipe, facts, domain === undefined ? {} : { domain }),
    values: typeof logo === 'string' ? { logo } : {},
    end: facts['company.logo']
      ? stop('unchanged', 'no logo found')
      : stop('skipped', 'no domain to find a logo by'),
  }
}

function candidate(
  operation: 'company.profile' | 'company.lookup' | 'company.enrich',
  known: Known,
  why: string,
): Candidate {
  const { name, value } = known
  const request: LookupRequest = { [name]: sentIdentifier(name, value) }
  return { lookup: { key: companyKey(operation, name, value), operation, request }, why }
}

function spoken(name: CompanyIdentifier): string {
  return name === 'domain' ? 'a domain' : `a ${furtherIdentifiers.find((each) => each.name === name)?.label}`
}

function problemOf(facts: Facts): { problem?: string } {
  const bad = [facts['company.enrich'], facts['company.profile'], facts['company.lookup']].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  return bad ? { problem: endOf(bad).reason } : {}
}
