import { formatUsd } from '../../domain/money.ts'
import type { ContractPort } from '../../http/desk/model/contract.ts'
import { provenanceText } from '../../service/catalogue/provenance.ts'
import { knownWords } from '../../store/contract/learned-words.ts'
import { describeOperations, type LedgerAndCatalogue } from '../service/describe-operations.ts'
import { countsText } from '../service/summarise-claims.ts'

/** Returns what the desk shows of the service's interface: the same facts as `paydirt service list` and `show`. */
export function createDeskContract(context: LedgerAndCatalogue): ContractPort {
  return {
    async list() {
      return (await describeOperations(context)).map(({ claims, prices, ...operation }) => ({
        ...operation,
        prices: prices.map(({ currency, amountAtomic, detail, seenAt }) => ({
          text: `${formatUsd(amountAtomic)} ${currency === 'credit' ? 'credits' : 'USD'}`,
          detail,
          seenAt,
        })),
        counts: countsText(claims),
        facts: claims.map(({ part, name, value, provenance }) => ({
          part,
          name,
          value,
          source: provenanceText(provenance),
          isDrift: provenance.state === 'contradicted',
        })),
      }))
    },

    async words() {
      const lists = new Map<string, string[]>()
      for (const { vocabulary, word } of await knownWords(context.database.db))
        lists.set(vocabulary, [...(lists.get(vocabulary) ?? []), word])
      return [...lists].map(([list, words]) => ({ list, words }))
    },
  }
}
