import type { Readable, Writable } from 'node:stream'
import { crmNames, crmOf, type CrmName } from '../../connectors/definitions.ts'
import { caps, plain, variableNote, type Choices, type Draft, type Payment } from '../../app/setup/drafts.ts'
import { sandboxPorts } from '../demo/ports.ts'
import { problemOf } from '../../app/config/environment.ts'

/** The terminal that questions go to. Results stay on standard output. */
export interface Terminal {
  input: Readable
  output: Writable
}

export interface Answers {
  draft: Draft
  choices: Choices
  /** Files that may be replaced, and files that stay as they are. */
  replace: string[]
  leave: string[]
}

const localChain = 'http://127.0.0.1:8545'
/** The stand-in of a CRM is there, unless `paydirt sandbox` was given another port. */
const localCrm = `http://127.0.0.1:${sandboxPorts.crm}`
const words: Record<Payment, string> = {
  wallet: 'a wallet, lookup by lookup (USDC on Base)',
  'api-key': 'an API key, in credits',
}
const questions: Record<string, string> = {
  PAYDIRT_SERVICE_URL: 'Base address of the data service (for play money, that of `paydirt sandbox`)',
  PAYDIRT_LOGO_URL: 'Address of the logo endpoint (blank: no logos are fetched)',
  HUBSPOT_BASE_URL: 'Address of the HubSpot API, or of its stand-in',
  HUBSPOT_CLIENT_SECRET: "The HubSpot app's secret, which verifies calls of its buttons (blank: no buttons)",
  PAYDIRT_RPC_URL: 'JSON-RPC of the chain',
  PAYDIRT_WALLET_KEY: "The wallet's private key",
  PAYDIRT_API_KEY: 'API key',
  PAYDIRT_MAX_PRICE_USD: 'The most that one lookup may cost, in USD',
  PAYDIRT_BUDGET_RUN_USD: 'The most that one run may spend, in USD',
  PAYDIRT_BUDGET_DAY_USD: 'The most that a day may cost, in USD',
}

/**
 * Asks for everything that a setup needs, with what is known already as the answers to begin with. Returns undefined when the
 * person gives up.
 */
export async function ask(
  terminal: Terminal,
  known: Draft,
  { first, taken, hasWallet }: { first: Choices; taken: readonly string[]; hasWallet: boolean },
): Promise<Answers | undefined> {
  const prompts = await import('@clack/prompts')
  const draft: Record<string, string> = { ...known }
  class GivenUp extends Error {}
  const answer = async <T>(asked: Promise<unknown>): Promise<T> => {
    const value = await asked
    if (prompts.isCancel(value)) throw new GivenUp()
    return value as T
  }

  async function variable(
    name: string,
    fallback?: string,
    { mayBeBlank = false }: { mayBeBlank?: boolean } = {},
  ): Promise<void> {
    const { isSecret, means } = variableNote(name)
    const message = questions[name] ?? `${name}: ${plain(means)}`
    const start = draft[name] ?? fallback
    const validate = (value: string | undefined) =>
      value === undefined || value.trim() === ''
        ? mayBeBlank || (isSecret && start !== undefined)
          ? undefined
          : 'is needed'
        : problemOf(name, value.trim())
    const given = isSecret
      ? prompts.password({
          ...terminal,
          message: start === undefined ? message : `${message} (Enter keeps the one that is set)`,
          validate,
        })
      : prompts.text({
          ...terminal,
          message,
          validate,
          ...(start === undefined ? {} : { initialValue: start }),
        })
    const value = ((await answer<string | undefined>(given)) ?? '').trim()
    const kept = value === '' && isSecret ? (start ?? '') : value
    if (kept === '' && mayBeBlank) delete draft[name]
    else draft[name] = kept
  }

  try {
    prompts.intro('Set up Paydirt. Nothing is written before the last answer.', terminal)
    await variable('PAYDIRT_SERVICE_URL')
    await variable('PAYDIRT_LOGO_URL', undefined, { mayBeBlank: true })
    const payment = await answer<Payment>(
      prompts.select({
        ...terminal,
        message: 'What pays for lookups?',
        initialValue: first.payment,
        options: (Object.keys(words) as Payment[]).map((value) => ({ value, label: words[value] })),
      }),
    )
    if (payment === 'api-key') await variable('PAYDIRT_API_KEY')
    else await wallet()
    for (const name of caps) await variable(name, String(variableNote(name).default))
    const crms = await answer<CrmName[]>(
      prompts.multiselect({
        ...terminal,
        message: 'Which CRMs? (space selects, Enter goes on; none for files only)',
        initialValues: [...first.crms],
        required: false,
        options: crmNames.map((value) => ({ value, label: crmOf(value).label })),
      }),
    )
    for (const crm of crms) {
      const { needs, offers = [], addressOf } = crmOf(crm)
      if (addressOf !== undefined && (isLocal() || draft[addressOf] !== undefined))
        await variable(addressOf, localCrm)
      for (const name of needs) await variable(name)
      for (const name of offers) await variable(name, undefined, { mayBeBlank: true })
    }
    const replaced = new Map<string, boolean>()
    for (const name of taken) {
      const message = `${name} is there already. Replace it? (a copy is kept)`
      replaced.set(
        name,
        await answer<boolean>(prompts.confirm({ ...terminal, message, initialValue: false })),
      )
    }
    const having = (isReplaced: boolean) => taken.filter((name) => replaced.get(name) === isReplaced)
    return { draft, choices: { payment, crms }, replace: having(true), leave: having(false) }
  } catch (error) {
    if (!(error instanceof GivenUp)) throw error
    prompts.cancel('Given up: nothing was written.', terminal)
    return undefined
  }

  /** The sandbox and other services on this machine have a chain of their own, and a stand-in of a CRM beside it. */
  function isLocal(): boolean {
    return draft['PAYDIRT_SERVICE_URL']?.startsWith('http:') === true
  }

  async function wallet(): Promise<void> {
    if (isLocal() || draft['PAYDIRT_RPC_URL'] !== undefined) await variable('PAYDIRT_RPC_URL', localChain)
    if (hasWallet && draft['PAYDIRT_WALLET_KEY'] === undefined) return
    const isOwn = await answer<boolean>(
      prompts.select({
        ...terminal,
        message: 'Which wallet? One of its own, with a few USDC and nothing else.',
        initialValue: draft['PAYDIRT_WALLET_KEY'] !== undefined,
        options: [
          { value: false, label: 'make a new one in the data directory' },
          { value: true, label: 'one whose private key I have' },
        ],
      }),
    )
    if (isOwn) await variable('PAYDIRT_WALLET_KEY')
    else delete draft['PAYDIRT_WALLET_KEY']
  }
}
