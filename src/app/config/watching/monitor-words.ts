import { ConfigError } from '../../../domain/errors.ts'
import { nearNames } from '../../../domain/normalise/near-names.ts'
import { guardClosedWords, wordsIn } from '../../../service/calls/guard-words.ts'
import type { Catalogue } from '../../../service/catalogue/catalogue.ts'
import { vocabularyOf, type VocabularyName } from '../../../service/catalogue/vocabularies.ts'
import type { MonitorsConfig } from './monitors.ts'

/**
 * Throws ConfigError, with the place, for a word of a monitor that is probably misspelt: the service drops such a filter, or watches for
 * nothing. Its description does not show all words. So one that is like no known word is taken, and one that is like one is not, unless
 * `service.vocabularies` names it. There are two modes of detection, and no other is taken.
 */
export function assertMonitorWords(
  monitors: MonitorsConfig = {},
  catalogue: Catalogue,
  own: Readonly<Partial<Record<VocabularyName, readonly string[]>>>,
): void {
  const contract = catalogue.of('monitor.create')
  for (const [name, { detection_mode, signal_types, filters = {} }] of Object.entries(monitors)) {
    const body = { detection_mode, signal_types, filters }
    try {
      guardClosedWords(contract, body)
    } catch (error) {
      const problem = error instanceof Error ? error.message.replace(/^[\w.]+: /, '') : String(error)
      throw new ConfigError('unknown_word', `monitors.${name}.${problem}`, { cause: error })
    }
    for (const { place, word, vocabulary } of wordsIn(contract.request, body)) {
      const { kind, words } = vocabularyOf(vocabulary)
      const known = [...words, ...(own[vocabulary] ?? [])]
      if (kind === 'closed' || known.includes(word)) continue
      const near = nearNames(word, known)
      if (near.length === 0 && vocabulary !== 'detection_modes') continue
      const meant = near.length > 0 ? `did you mean ${near.join(' or ')}?` : `there are ${known.join(', ')}.`
      throw new ConfigError(
        'unknown_word',
        `monitors.${name}.${place}: ${JSON.stringify(word)} is no word that is known; ${meant} service.vocabularies.${vocabulary} allows it`,
      )
    }
  }
}
