/** As many answers as are under way at a time, as a rule. */
const mostKept = 128
/** V8 finds longer texts by their length alone. */
const longestKept = 16_000
/**
 * A document that nobody drops is forgotten after so long: that of a free answer, of one that could not be stored, of one that
 * was decoded in part. Answers hold personal data, and a process may live for months.
 */
const forgetAfterMs = 30_000

/**
 * Documents that the texts of answers were parsed to. An answer is read as a record, then for its cost, and for its fields, words and
 * warnings once it is stored, with other answers in between: it is parsed once for all of these. Nobody may change a document.
 */
export class AnswerDocuments {
  readonly #kept = new Map<string, object>()
  #forgetting: NodeJS.Timeout | undefined

  keep(text: string, document: object): void {
    if (text.length > longestKept) return
    if (this.#kept.size >= mostKept) this.#kept.delete(this.#kept.keys().next().value as string)
    this.#kept.set(text, document)
    if (!this.#forgetting) this.#forgetting = setTimeout(() => this.#forgetAll(), forgetAfterMs).unref()
  }

  /** Returns the document of an answer that is not through yet; undefined where none is kept. */
  of(text: string): object | undefined {
    return text.length > longestKept ? undefined : this.#kept.get(text)
  }

  /** Called by the last reader of an answer. */
  drop(text: string): void {
    if (text.length <= longestKept) this.#kept.delete(text)
  }

  /** An answer that is under way is parsed once more. */
  #forgetAll(): void {
    this.#kept.clear()
    this.#forgetting = undefined
  }
}

/** The documents of the answers that this process reads. */
export const answerDocuments = new AnswerDocuments()
